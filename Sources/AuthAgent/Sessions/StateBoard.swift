package import AuthMachines
package import AuthModel
package import AuthWire
internal import Synchronization

/// What is known of every session, the store and the network, to be read from any thread without waiting.
///
/// Invariants: a snapshot is here before a caller gets an answer from the state it shows; events are published in the order
/// of the changes they report, one at a time, and each shows the state right after its change.
package final class StateBoard: Sendable {
    private let known: Mutex<BoardContents>
    private let versions = Atomic<UInt64>(0)
    private let used = Mutex<BootInstant?>(nil)
    private let clock: any SystemClock
    private let publish: @Sendable (AgentEvent) -> Void

    /// - Parameter publish: called for each change, in their order; it must not wait.
    package init(storeKind: StoreKind, clock: any SystemClock, publish: @escaping @Sendable (AgentEvent) -> Void) {
        self.clock = clock
        self.publish = publish
        let now = clock.now().wall.unixSeconds
        known = Mutex(
            BoardContents(
                store: StoreInfo(kind: storeKind, state: .starting),
                network: NetworkStatus(state: .online, since: now)))
    }

    // MARK: Reading

    package var store: StoreInfo { known.withLock { $0.store } }
    /// A client has asked for something in a store that is not open.
    package var isStoreRequested: Bool { known.withLock { $0.isStoreRequested } }
    /// A passphrase opens the store, and it is not known yet which sessions are in it.
    package var hidesSessions: Bool {
        known.withLock { $0.lacksNames && $0.store.kind.isSealed && $0.store.state == .locked }
    }
    /// The scopes that calls required and sessions did not have, until their next sign-in.
    package var missingScopes: [MissingScopes] {
        known.withLock { $0.missingScopes.values.map(\.1).sorted { $0.session < $1.session } }
    }
    package var network: NetworkStatus { known.withLock { $0.network } }
    /// The default session that the settings name; it need not exist.
    package var preferredSession: SessionName? { known.withLock { $0.standard.preferred } }
    /// `nil`: the agent is not locked.
    package var lock: LockStatus? { known.withLock { $0.lock } }
    package var isLocked: Bool { known.withLock { $0.lock != nil } }
    package var lastUse: BootInstant? { used.withLock { $0 } }
    /// When the last of the sessions' tokens ends; `nil` if one has no known end, or there is none.
    package var tokensEnd: Double? {
        known.withLock { known in
            let ends = known.snapshots.values.filter { $0.status.state == .active }.map(\.status.expiresAt)
            return ends.contains(nil) ? nil : ends.compactMap(\.self).max()
        }
    }
    package var renewals: Int { sessionRenewals.values.reduce(0, +) }
    /// Since the start, including sessions that no longer exist.
    package var sessionRenewals: [SessionName: Int] { known.withLock { $0.renewals } }
    package var sessionCount: Int { known.withLock { $0.snapshots.count } }

    /// The requested session, or the default one.
    package func snapshot(_ session: SessionName?) -> SessionSnapshot? {
        known.withLock { known in
            (session ?? known.defaultSession).flatMap { known.snapshots[$0] }
        }
    }

    /// The default session now, and after `session` has gone.
    package func defaultChange(removing session: SessionName) -> (now: SessionName?, then: SessionName?) {
        known.withLock { ($0.defaultSession, $0.standard.after(session, leaves: $0.snapshots)) }
    }

    /// Since when other sessions are marked as the default one.
    package func defaultMarks(besides session: SessionName) -> [SessionName: WallTime] {
        known.withLock { known in
            var marks = known.snapshots.compactMapValues(\.defaultSince)
            marks[session] = nil
            return marks
        }
    }

    /// The live token of a session or of the default one. It is the most frequent request, so no snapshot is copied for it.
    package func liveToken(_ session: SessionName?, minValid: Duration?, at now: BootInstant) -> LiveToken? {
        known.withLock { known in
            guard known.lock == nil else { return nil }
            let found = if let session { known.tokens[session] } else { known.defaultToken }
            guard let token = found, token.isGood(minValid: minValid, at: now) else { return nil }
            return token
        }
    }

    /// Changes as soon as a status, the network or the store may have changed, or ``liveToken(_:minValid:at:)`` may
    /// return another token, or none, for any reason other than the time.
    package var version: UInt64 { versions.load(ordering: .acquiring) }

    package func status(_ session: SessionName?) -> SessionStatus? {
        known.withLock { known in
            let locked = known.snapshots.isEmpty ? known.placeholders.firstLocked : nil
            return (session ?? known.defaultSession ?? locked).flatMap { known.status($0) }
        }
    }

    /// By name.
    package func statuses() -> [SessionStatus] {
        var statuses = known.withLock { known in
            var statuses = known.snapshots.values.map { known.whole($0.status) }
            statuses += known.placeholders.values.filter { known.snapshots[$0.session] == nil }
            return statuses
        }
        statuses.sort { $0.session < $1.session }
        return statuses
    }

    /// The same for some sessions only, without a copy of the others.
    /// - Parameter isIncluded: called under a lock.
    package func statuses(where isIncluded: (SessionStatus) -> Bool) -> [SessionStatus] {
        var statuses: [SessionStatus] = []
        known.withLock { known in
            for snapshot in known.snapshots.values {
                let status = known.whole(snapshot.status)
                if isIncluded(status) { statuses.append(status) }
            }
            statuses += known.placeholders.values.filter { known.snapshots[$0.session] == nil && isIncluded($0) }
        }
        statuses.sort { $0.session < $1.session }
        return statuses
    }

    /// One element for the state now, and at least one after each change.
    package func changes() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let number = known.withLock { known in
            known.lastWatcher += 1
            known.watchers[known.lastWatcher] = continuation
            return known.lastWatcher
        }
        continuation.onTermination = { _ in self.known.withLock { $0.watchers[number] = nil } }
        continuation.yield()
        return stream
    }

    // MARK: Writing

    /// Watchers get one element for everything that `work` changes. Each watcher then looks at all sessions, which
    /// would take long if it were repeated for each of many loaded sessions. Events are published as usual.
    package func notifyingOnce(_ work: () async -> Void) async {
        known.withLock { $0.notificationHolds += 1 }
        await work()
        let watchers = known.withLock { known in
            known.notificationHolds -= 1
            return known.watched
        }
        for watcher in watchers { watcher.yield() }
    }

    package func put(_ snapshot: SessionSnapshot) {
        let name = snapshot.status.session
        change { known in
            let event = snapshot.event(after: known.put(snapshot, of: name))
            if event == "renewed" { known.renewals[name, default: 0] += 1 }
            return [BoardChange(topic: .session, name: event, session: name, status: known.status(name))]
        }
    }

    package func remove(_ session: SessionName) {
        change { known in
            guard var status = known.put(nil, of: session)?.status else { return [] }
            status.state = .signedOut
            return [BoardChange(topic: .session, name: "signed_out", session: session, status: status)]
        }
    }

    /// - Parameter session: the default one until the user chooses another; it need not exist.
    package func prefer(_ session: SessionName?) { changeDefault { $0.preferred = session } }

    /// Keeps the default session as it is while sessions are loaded: any that is still missing may be it.
    package func freezeDefault() { changeDefault { $0.isFrozen = true } }

    package func unfreezeDefault() { changeDefault { $0.isFrozen = false } }

    private func changeDefault(_ changed: (inout DefaultSession) -> Void) {
        change { known in
            let former = known.defaultSession
            known.findDefault(changed)
            guard former != known.defaultSession else { return [] }
            return [former, known.defaultSession].compactMap { name in
                name.map { BoardChange(topic: .session, name: "changed", session: $0, status: known.status($0)) }
            }
        }
    }

    /// Shows a session of which no more is known than this, until a snapshot of it comes.
    package func put(placeholder status: SessionStatus) {
        change { known in
            guard known.placeholders.updateValue(status, forKey: status.session) != status,
                known.snapshots[status.session] == nil
            else { return [] }
            return [BoardChange(topic: .session, name: "added", session: status.session, status: status)]
        }
    }

    /// Removes the placeholder; without an event if the session itself was added meanwhile.
    package func removePlaceholder(of session: SessionName, in state: SessionState) {
        change { known in
            guard known.placeholders[session]?.state == state,
                var gone = known.placeholders.removeValue(forKey: session),
                known.snapshots[session] == nil
            else { return [] }
            gone.state = .signedOut
            return [BoardChange(topic: .session, name: "signed_out", session: session, status: gone)]
        }
    }

    /// Removes all placeholders in this state: locked sessions are shown only while they cannot be read.
    package func removePlaceholders(in state: SessionState) {
        let names = known.withLock { $0.placeholders.values.filter { $0.state == state }.map(\.session) }
        for name in names { removePlaceholder(of: name, in: state) }
    }

    /// The kind changes when the user moves the sessions to another store.
    package func put(storeKind kind: StoreKind) {
        change { known in
            guard known.store.kind != kind else { return [] }
            known.store.kind = kind
            return [BoardChange(topic: .store, name: "changed")]
        }
    }

    package func put(store state: StoreState, message: String?, cause: String? = nil) {
        change { known in
            let new = StoreInfo(
                kind: known.store.kind, state: state, message: message, cause: cause, process: known.store.process)
            if state == .ready { (known.isStoreRequested, known.lacksNames) = (false, false) }
            guard known.store != new else { return [] }
            known.store = new
            return [BoardChange(topic: .store, name: "changed")]
        }
    }

    /// Publishes no event: the one of the store's state says what the user can do.
    package func put(lacksNames: Bool) {
        let watchers = known.withLock { known -> [AsyncStream<Void>.Continuation] in
            guard known.lacksNames != lacksNames else { return [] }
            known.lacksNames = lacksNames
            return known.watched
        }
        for watcher in watchers { watcher.yield() }
    }

    /// A fault of the cluster that sessions are in is an event with its own name.
    package func publish(_ fault: ClusterFault) { change { _ in [BoardChange(topic: .store, name: fault.name)] } }

    /// The agent was locked or unlocked, or an attempt to unlock it failed. While it is locked, ``liveToken`` returns nothing.
    package func put(lock status: LockStatus) {
        change { known in
            let former = known.lock
            known.lock = status.isLocked ? status : nil
            guard former != known.lock else { return [] }
            let name = former == nil ? "locked" : status.isLocked ? "unlock_failed" : "unlocked"
            return [BoardChange(topic: .agent, name: name, lock: status)]
        }
    }

    /// A request of a class other than `status` is carried out.
    package func recordUse(at now: BootInstant? = nil) {
        let now = now ?? clock.bootInstant
        used.withLock { $0 = now }
    }

    /// Publishes no event: it is returned when a client asks.
    package func put(storeProcess process: StoreProcess?) { known.withLock { $0.store.process = process } }

    /// A call required scopes that the session does not have. Publishes no event: the notice does.
    package func put(missing scopes: [String], command: SignInCommand, of record: SessionRecord) {
        let missing = MissingScopes(
            session: record.session, provider: record.provider, scopes: scopes, command: command)
        let watchers = known.withLock { known in
            known.put(missing, of: record.session, signIn: record.signIn) ? Array(known.watchers.values) : []
        }
        for watcher in watchers { watcher.yield() }
    }

    /// A client asks for something in the store, which is not open.
    package func recordStoreRequest() {
        let watchers = known.withLock { known in
            defer { known.isStoreRequested = known.store.state != .ready }
            return known.isStoreRequested ? [] : Array(known.watchers.values)
        }
        for watcher in watchers { watcher.yield() }
    }

    /// - Parameter providers: the last result of each provider, by its name.
    package func put(network state: NetworkState, providers: [String: String]) {
        let now = clock.now().wall.unixSeconds
        change { known in
            let since = known.network.state == state ? known.network.since : now
            return known.changeNetwork { ($0.state, $0.since, $0.providers) = (state, since, providers) }
        }
    }

    package func put(isMetered: Bool) {
        change { known in
            let waits = isMetered && known.waitsIfMetered
            return known.changeNetwork { ($0.isMetered, $0.transfersWait) = (isMetered, waits) }
        }
    }

    /// Whether queued writes and streams wait while the network is metered.
    package func put(waitsIfMetered: Bool) {
        change { known in
            known.waitsIfMetered = waitsIfMetered
            return known.changeNetwork { $0.transfersWait = $0.isMetered && waitsIfMetered }
        }
    }

    /// - Parameter skews: how far the clocks of some providers are ahead of ours, by name.
    package func put(clockSkews skews: [String: Duration]) {
        change { known in
            known.changeNetwork { $0.clockSkews = skews }
        }
    }

    // MARK: Publishing

    /// Makes a change. Its events are published here, or by the thread that publishes those of an earlier change.
    private func change(_ make: (inout BoardContents) -> [BoardChange]) {
        let now = clock.now().wall.unixSeconds
        let (watchers, tells) = known.withLock { known -> ([AsyncStream<Void>.Continuation], Bool) in
            let changes = make(&known)
            versions.add(1, ordering: .releasing)
            guard !changes.isEmpty else { return ([], false) }
            for change in changes {
                known.events.append(
                    AgentEvent(
                        topic: change.topic, name: change.name, at: now, session: change.session, status: change.status,
                        network: change.topic == .network ? known.network : nil,
                        store: change.topic == .store ? known.store : nil, lock: change.lock))
            }
            defer { known.isPublishing = true }
            return (known.watched, !known.isPublishing)
        }
        for watcher in watchers { watcher.yield() }
        guard tells else { return }
        while let event = nextEvent() { publish(event) }
    }

    private func nextEvent() -> AgentEvent? {
        known.withLock { known in
            known.isPublishing = !known.events.isEmpty
            return known.isPublishing ? known.events.removeFirst() : nil
        }
    }
}
