import AuthMachines
import AuthModel
import AuthWire

/// Lets one host at a time renew a session, if hosts share the store: runs ``LeaseMachine``.
final class RenewalHolds: Sendable {
    /// Whether a renewal may begin.
    enum Permission {
        /// This host holds the session, or no other host has it.
        /// - Parameter isInterrupted: whether another host has sent the tokens, and nobody knows what the provider did.
        case granted(isHeld: Bool, isInterrupted: Bool)
        /// Another host has renewed it, or has signed out.
        case overtaken(SessionRecord?)
        case refused(StoreError)
    }

    private let store: any SessionStore
    private let runner: Runner<LeaseMachine>

    init(store: any SessionStore, tasks: AgentTasks) {
        self.store = store
        runner = Runner(LeaseMachine(), performer: LeasePerformer(store: store, clock: tasks.clock), tasks: tasks)
    }

    /// Waits until this host holds the session.
    /// - Parameter mayRenewApart: whether two hosts may renew it without knowledge of each other: then etcd is not needed.
    func permission(for record: SessionRecord, mayRenewApart: Bool) async -> Permission {
        guard store.leases != nil else { return .granted(isHeld: false, isInterrupted: false) }
        let reply: LeaseReply
        do throws(WaitEnd) {
            reply = try await runner.ask { .wanted($0, record.session, generation: record.generation) }
        } catch {
            return .refused(.failed(reason: "the call was cancelled"))
        }
        switch reply {
        case .held(let stored, let isInterrupted):
            if let stored, stored.signIn == record.signIn, !stored.hasNewerTokens(than: record) {
                return .granted(isHeld: true, isInterrupted: isInterrupted)
            }
            await end(record.session, isAnswered: true)
            return .overtaken(stored)
        case .failure(.cluster(let fault)) where fault.isConnection && mayRenewApart:
            return .granted(isHeld: false, isInterrupted: false)
        case .failure(let error): return .refused(error)
        }
    }

    /// The renewal has ended without newer tokens that are to be written.
    func end(_ session: SessionName, isAnswered: Bool) async {
        guard store.leases != nil else { return }
        await runner.send(.ended(session, isAnswered: isAnswered))
    }

    /// The store has the newer tokens.
    func written(_ session: SessionName) async {
        guard store.leases != nil else { return }
        await runner.send(.written(session))
    }

    /// Whether a write was refused because another host has renewed the session since this one lost its hold.
    func wasOvertaken(_ session: SessionName) async -> Bool {
        await store.leases?.wasOvertaken(session) ?? false
    }

    /// No host holds the session any more.
    func freed(_ session: SessionName) async { await runner.send(.freed(session)) }

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
                return .granted(
                    await result { (leases) throws(StoreError) in try await leases.grantLease() }, sentAt: sentAt)
            }
        case .keep(let lease):
            runner.start { [self] in
                let sentAt = clock.now().boot
                let kept = await result { (leases) throws(StoreError) in try await leases.keep(lease) }
                return .kept(lease, kept, sentAt: sentAt)
            }
        case .hold(let session, let generation, let lease):
            runner.start { [self] in
                let outcome = await result { (leases) throws(StoreError) in
                    try await leases.hold(session, generation: generation, under: lease)
                }
                return .holdEnded(session, lease, outcome)
            }
        case .release(let session, let lease, let isAnswered):
            // If it fails, the end of the lease ends the hold.
            runner.startToEnd { [store] in
                try? await store.leases?.release(session, from: lease, isAnswered: isAnswered)
                return nil
            }
        }
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
