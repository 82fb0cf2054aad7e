import AuthConcurrency
import AuthMachines
import AuthModel
import AuthWire

/// The sessions that this host holds, so that no other one renews them while they are moved.
struct HeldSessions: Sendable {
    /// `nil`: hosts do not share the store.
    fileprivate let held: [SessionName: RenewalHolds.Hold]?
    fileprivate let holds: RenewalHolds

    /// Whether no other host can have renewed any of these.
    func cover(_ sessions: [SessionName]) async -> Bool {
        guard let held else { return true }
        for session in sessions {
            guard let hold = held[session], await holds.mayBegin(hold, of: session) else { return false }
        }
        return true
    }

    fileprivate func end() async {
        await withoutCancellation { [held, holds] in
            for (session, hold) in held ?? [:] { await holds.end(hold, of: session, leaving: hold.unsent) }
        }
    }
}

extension SessionRegistry {
    /// For the renewals that have begun: each may wait for a hold, then for the result of another host, and then for the
    /// provider.
    private static let longestRenewals =
        LeaseMachine.longestWait + LeaseMachine.longestResult + LeaseMachine.requestLimit
    /// Other hosts may renew a session while this one waits for it.
    private static let holdTries = 5
    /// The first ones must not end, after three minutes, while this host waits for others.
    private static let holdsAtOnce = 16

    /// Runs `work` while no session is renewed, so that it moves the newest tokens. No renewal begins on this host, and the
    /// holds prevent them on other hosts.
    func withoutRenewals<Value>(
        _ work: (HeldSessions) async throws(AgentError) -> Value
    ) async throws(AgentError) -> Value {
        try await endRenewals()
        defer { renewalGate.reopen() }
        await drain()
        let sessions = HeldSessions(held: storage.store.leases == nil ? nil : try await holdAll(), holds: holds)
        do throws(AgentError) {
            let value = try await work(sessions)
            await sessions.end()
            return value
        } catch {
            await sessions.end()
            throw error
        }
    }

    private func endRenewals() async throws(AgentError) {
        let (gate, clock) = (renewalGate, context.clock)
        let end = clock.now().boot + Self.longestRenewals
        let closed = await withTaskGroup(of: Result<Void, AgentError>?.self) { group in
            group.addTask {
                do throws(AgentError) {
                    try await gate.close()
                    return .success(())
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                try? await clock.sleep(until: end)
                return nil
            }
            var closed: Result<Void, AgentError>?
            while let ended = await group.next() {
                closed = ended ?? closed
                group.cancelAll()
            }
            return closed
        }
        guard clock.now().boot < end || (try? closed?.get()) != nil else {
            throw AgentError(.busy, "A renewal has not ended: try again.", cause: "moving")
        }
        try closed?.get()
    }

    /// Holds every session that the store has, or none. It is not cancelled: a hold that arrives when nobody waits for it would
    /// last until its limit.
    private func holdAll() async throws(AgentError) -> [SessionName: RenewalHolds.Hold] {
        let (held, failure) = await withoutCancellation { [self] in
            await withTaskGroup(of: (SessionName, Result<RenewalHolds.Hold?, AgentError>).self) { group in
                var (held, failure) = ([SessionName: RenewalHolds.Hold](), AgentError?.none)
                var left = all[...]
                func next() {
                    guard failure == nil, let session = left.popFirst() else { return }
                    group.addTask { (session.name, await self.hold(session)) }
                }
                for _ in 1...Self.holdsAtOnce { next() }
                while let (name, result) = await group.next() {
                    switch result {
                    case .success(let hold): held[name] = hold
                    case .failure(let error): failure = failure ?? error
                    }
                    next()
                }
                return (held, failure)
            }
        }
        guard let failure = failure ?? (Task.isCancelled ? .callerGone : nil) else { return held }
        await HeldSessions(held: held, holds: holds).end()
        throw failure
    }

    /// - Returns: `nil`: the store does not have the session.
    private func hold(_ session: Session) async -> Result<RenewalHolds.Hold?, AgentError> {
        var record = await session.record
        for _ in 1...Self.holdTries {
            switch await holds.permission(for: record, isStored: true, mayRenewApart: { false }) {
            case .granted(let hold): return .success(hold)
            case .overtaken(let stored?): record = stored
            case .overtaken(nil): return .success(nil)
            case .refused(.cluster(.heldElsewhere)), .refused(.cluster(.leaseLost)): return .failure(.usedElsewhere)
            case .refused(let error): return .failure(AgentError(error))
            case .stopping: return .failure(.stopping)
            }
        }
        return .failure(.usedElsewhere)
    }
}

extension AgentError {
    /// For a move of sessions.
    static let usedElsewhere = AgentError(
        .busy, "Another host may have renewed or replaced a session meanwhile: try again.", cause: "moving")
}
