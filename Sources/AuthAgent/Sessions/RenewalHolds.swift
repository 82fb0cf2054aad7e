import AuthConcurrency
import AuthMachines
import AuthModel
import AuthWire
import Synchronization

/// Lets one host at a time renew a session, if hosts share the store: runs ``LeaseMachine``.
final class RenewalHolds: Sendable {
    /// A session that this host holds for one renewal.
    struct Hold: Sendable {
        let caller: CallerID
        /// Whether the tokens were sent before, and nobody knows what the provider did.
        let isInterrupted: Bool

        /// What the next holder gets to know if nothing was sent.
        var unsent: HoldOutcome.FormerHold { isInterrupted ? .unanswered : .answered }
    }

    /// Whether a renewal may begin.
    enum Permission {
        /// `nil`: no other host has the session, or two hosts may renew it at once.
        case granted(Hold?)
        /// Another host has renewed it, or has signed out.
        case overtaken(SessionRecord?)
        case refused(StoreError)
        case stopping
    }

    private let store: any SessionStore
    private let clock: any SystemClock
    private let runner: Runner<LeaseMachine>

    init(store: any SessionStore, tasks: AgentTasks) {
        self.store = store
        clock = tasks.clock
        runner = Runner(LeaseMachine(), performer: LeasePerformer(store: store, clock: tasks.clock), tasks: tasks)
    }

    /// Returns when its actor has handled what it was sent before.
    func answers() async { await runner.read { _ in } }

    /// Waits until this host holds the session.
    /// - Parameters:
    ///   - isStored: whether the store has had it.
    ///   - mayRenewApart: whether two hosts may renew it independently, so that etcd is not needed. Called only if etcd
    ///     cannot be reached.
    func permission(for record: SessionRecord, isStored: Bool, mayRenewApart: () -> Bool) async -> Permission {
        guard store.leases != nil else { return .granted(nil) }
        let asking = Mutex<CallerID?>(nil)
        let reply: LeaseReply
        do throws(WaitEnd) {
            reply = try await runner.ask { caller in
                asking.withLock { $0 = caller }
                return .wanted(caller, record.session, for: record.version)
            }
        } catch {
            return .stopping
        }
        switch reply {
        case .held(let stored, let isInterrupted):
            guard let caller = asking.withLock({ $0 }) else { return .stopping }
            let hold = Hold(caller: caller, isInterrupted: isInterrupted)
            // A sign-in that the store has never had is not missing there.
            if stored == nil, !isStored { return .granted(hold) }
            if let stored, stored.allowsRenewal(of: record) { return .granted(hold) }
            // If the stored tokens were sent, the result is not known yet.
            await end(hold, of: record.session, leaving: hold.unsent)
            return .overtaken(stored)
        case .failure(.cluster(let fault)) where fault.isConnection && mayRenewApart(): return .granted(nil)
        case .failure(let error): return .refused(error)
        }
    }

    /// Whether this host still has the session to itself, so that another request of the renewal may begin.
    func mayBegin(_ hold: Hold, of session: SessionName) async -> Bool {
        await runner.read { [clock] in $0.mayBegin(session, for: hold.caller, at: clock.now().boot) }
    }

    /// The renewal has ended without newer tokens that are to be written. The hold ends even if the agent is stopping:
    /// another host would wait for a result otherwise.
    /// - Parameter end: what the next holder gets to know.
    func end(_ hold: Hold, of session: SessionName, leaving end: HoldOutcome.FormerHold) async {
        guard await !runner.send(.ended(hold.caller, session, leaving: end)) else { return }
        await withoutCancellation { [store] in try? await store.leases?.release(session, leaving: end) }
    }

    /// The renewal has ended with newer tokens that are to be written.
    func renewed(_ hold: Hold, of session: SessionName) async { await runner.send(.renewed(hold.caller, session)) }

    /// The renewal whose hold lasts until its tokens are written.
    func writer(of session: SessionName) async -> CallerID? { await runner.read { $0.writer(of: session) } }

    /// The session has no unwritten tokens: the hold of that renewal ends.
    func nothingToWrite(_ caller: CallerID, of session: SessionName) async {
        await runner.send(.nothingToWrite(caller, session))
    }

    /// A write has ended the hold, or has shown that another host has the session.
    func written(_ session: SessionName) async { await runner.send(.written(session)) }

    /// No host holds the session any more.
    func released(_ session: SessionName) async { await runner.send(.released(session)) }

    func close() async { await runner.close() }
}

private struct LeasePerformer: ActionPerformer {
    let store: any SessionStore
    let clock: any SystemClock

    func perform(_ action: LeaseAction, on runner: isolated Runner<LeaseMachine>) {
        switch action {
        case .grant:
            runner.start { [self] in
                let sentAt = clock.now().boot
                let granted = await result { (leases) throws(StoreError) in try await leases.grantLease() }
                return .granted(granted, sentAt: sentAt)
            }
        case .keepAlive(let lease):
            runner.start { [self] in
                let sentAt = clock.now().boot
                let kept = await result { (leases) throws(StoreError) in try await leases.keepAlive(lease) }
                return .keptAlive(lease, kept, sentAt: sentAt)
            }
        case .hold(let session, let version, let lease):
            runner.start { [self, runner] in
                let outcome = await result { (leases) throws(StoreError) in
                    try await leases.hold(session, for: version, under: lease)
                }
                let isHandled = await runner.send(.holdEnded(session, lease, outcome))
                if !isHandled, case .success(.held(_, let former)) = outcome { await release(session, leaving: former) }
                return nil
            }
        case .claim(let session, let version, let lease):
            runner.start { [self, runner] in
                let record = await result { (leases) throws(StoreError) in
                    try await leases.claim(session, for: version)
                }
                let isHandled = await runner.send(.claimed(session, lease, record))
                if !isHandled, case .success = record { await release(session, leaving: .unanswered) }
                return nil
            }
        case .release(let session, let end):
            // If it fails, the end of the lease ends the hold.
            runner.startToEnd { [store] in
                try? await store.leases?.release(session, leaving: end)
                return .releaseEnded(session)
            }
        }
    }

    /// What came when the agent was already stopping: nobody waits for the hold.
    private func release(_ session: SessionName, leaving end: HoldOutcome.FormerHold) async {
        await withoutCancellation { [store] in try? await store.leases?.release(session, leaving: end) }
    }

    private func result<Value: Sendable>(
        _ call: (any LeaseStore) async throws(StoreError) -> Value
    ) async -> Result<Value, StoreError> {
        guard let leases = store.leases else {
            return .failure(.failed(reason: "the sessions were moved to another store"))
        }
        do throws(StoreError) { return .success(try await call(leases)) } catch { return .failure(error) }
    }
}
