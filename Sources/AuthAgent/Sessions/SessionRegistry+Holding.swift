import AuthConcurrency
import AuthMachines
import AuthModel
package import AuthWire

/// The sessions that this host holds, so that no other one renews them while they are moved, or while a host is removed.
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

    /// Those whose tokens were sent in a renewal that did not end: nobody knows what the provider did.
    fileprivate var interrupted: [SessionName] {
        (held ?? [:]).filter { $0.value.isInterrupted }.keys.sorted()
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
    /// Sessions that are held or renewed at the same time. The first holds must not end, after three minutes, while this host
    /// waits for others.
    private static let atOnce = 16

    /// Runs `work` while no session is renewed, so that it moves the newest tokens. No renewal begins on this host, and the
    /// holds prevent them on other hosts. If a renewal of another host was interrupted, the session is renewed first: the
    /// provider may accept its tokens only for a short time.
    func withoutRenewals<Value>(
        _ work: (HeldSessions) async throws(AgentError) -> Value
    ) async throws(AgentError) -> Value {
        var interrupted: [SessionName] = []
        let value = try await holding(.all) { held throws(AgentError) -> Value? in
            interrupted = held.interrupted
            return interrupted.isEmpty ? try await work(held) : nil
        }
        if let value { return value }
        for name in interrupted { try? await session(named: name)?.renew() }
        return try await holding(.all, work)
    }

    /// Waits for the renewals in progress, removes a host, and then renews every session. The renewals of that host are waited
    /// for, too: it could not write its tokens afterwards. A host that does not release a session in time does not prevent the
    /// removal.
    /// - Returns: the sessions that could not be renewed.
    package func renewAll(
        after removal: () async throws(AgentError) -> Void
    ) async throws(AgentError) -> [SessionName] {
        // The holds last until everything is sealed with a key that the host does not have.
        try await holding(.released) { _ throws(AgentError) in try await removal() }
        return try await renewAll()
    }

    /// Replaces the tokens that the store has now.
    /// - Returns: the sessions that could not be renewed, or not even read.
    func renewAll() async throws(AgentError) -> [SessionName] {
        var (stored, unknown) = ([SessionName: RecordVersion](), [SessionName]())
        for session in try await converting(StoreError.self, try await storage.store.loadAll()) {
            switch session {
            case .record(let record):
                stored[record.session] = record.version
                if self.session(named: record.session) == nil { unknown.append(record.session) }
            case .damaged(let name, _): if let name = try? SessionName(name) { unknown.append(name) }
            }
        }
        return (await renewAll(stored) + unknown).sorted()
    }

    private func renewAll(_ stored: [SessionName: RecordVersion]) async -> [SessionName] {
        await withTaskGroup(of: SessionName?.self) { group in
            var (failed, left) = ([SessionName](), all[...])
            func next() {
                guard let session = left.popFirst() else { return }
                group.addTask { [version = stored[session.name]] in
                    await Self.renew(session, replacing: version) ? nil : session.name
                }
            }
            for _ in 1...Self.atOnce { next() }
            while let name = await group.next() {
                if let name { failed.append(name) }
                next()
            }
            return failed
        }
    }

    /// - Parameter version: of the stored tokens. A renewal only reads them if this host did not know them yet.
    private static func renew(_ session: Session, replacing version: RecordVersion?) async -> Bool {
        for _ in 1...holdTries {
            guard (try? await session.renew()) != nil else { return false }
            guard let version else { return true }
            let present = await session.record.version
            if present.signIn != version.signIn || present.generation > version.generation { return true }
        }
        return false
    }

    /// Which sessions are held while some work runs.
    private enum HoldScope {
        /// All; the work does not run otherwise.
        case all
        /// Those that other hosts release in time.
        case released
    }

    private func holding<Value>(
        _ scope: HoldScope, _ work: (HeldSessions) async throws(AgentError) -> Value
    ) async throws(AgentError) -> Value {
        try await endRenewals()
        defer { renewalGate.reopen() }
        await drain()
        let sessions = HeldSessions(held: storage.store.leases == nil ? nil : try await hold(scope), holds: holds)
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

    /// Holds every session that the store has, or none; with `.released`, those that it gets in time. It is not cancelled: a hold
    /// that arrives when nobody waits for it would last until its limit.
    private func hold(_ scope: HoldScope) async throws(AgentError) -> [SessionName: RenewalHolds.Hold] {
        let (held, failure) = await withoutCancellation { [self] in
            await withTaskGroup(of: (SessionName, Result<RenewalHolds.Hold?, AgentError>).self) { group in
                var (held, failure) = ([SessionName: RenewalHolds.Hold](), AgentError?.none)
                var left = all[...]
                let clock = context.clock
                let end = clock.now().boot + LeaseMachine.longestWait
                func next() {
                    guard failure == nil, scope == .all || clock.now().boot < end, let session = left.popFirst() else {
                        return
                    }
                    group.addTask { (session.name, await self.hold(session)) }
                }
                for _ in 1...Self.atOnce { next() }
                while let (name, result) = await group.next() {
                    switch result {
                    case .success(let hold): held[name] = hold
                    case .failure(let error): if scope == .all { failure = failure ?? error }
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
