import AuthConcurrency
package import AuthModel
import AuthSealedFile
package import AuthWire

/// The sessions of several hosts, sealed, in etcd (Docs/decisions/cluster.md).
///
/// Invariants: a record is written only if it is as this host has read it, and only with a key that is current then. etcd gets
/// nothing that can be opened without a host's own key. Every call ends within ``EtcdLimits/call``, or fails with why.
package actor EtcdStore {
    /// The store of what stays on this host: its key, and the key of its outbox.
    package typealias Local = any KeyStore & SealedStore

    package struct Configuration: Sendable {
        /// `https://HOST:PORT`.
        package var endpoints: [String]
        /// Whether this host's own key chooses the endpoint that is used first. Otherwise it is the first one.
        package var spreads = false
        package var prefix: String
        /// `nil`: etcd has no users.
        package var user: EtcdUser?
        /// What members of the cluster see of this host.
        package var hostName: String
        /// The authd that they see here.
        package var version = Release.version
        package var presence = PresenceTimes()
        /// How often a watch that reports nothing is checked.
        package var checkInterval = Duration.seconds(30)

        package init(endpoints: [String], prefix: String, user: EtcdUser?, hostName: String) {
            self.endpoints = endpoints
            self.prefix = prefix
            self.user = user
            self.hostName = hostName
        }
    }

    /// The cluster, as etcd had it when it was last read.
    struct Member: Sendable {
        let accepted: AcceptedCluster
        /// The last change of ``EtcdPlaces/cluster``.
        let revision: Int64
        /// The mark that was read with it. In another history, another change may have the same revision.
        let mark: EtcdEntry?

        func isSame(as other: Member) -> Bool { revision == other.revision && mark == other.mark }

        /// Whether a transaction that was refused has found the same record of the cluster, in the same history.
        func isSame(in outcome: EtcdTransaction, at places: EtcdPlaces) -> Bool {
            outcome.entries[places.cluster]?.modRevision == revision && outcome.entries[places.history] == mark
        }

        /// Conditions that hold as long as etcd has that record, in the same history.
        func conditions(at places: EtcdPlaces) -> [EtcdRequest.Condition] {
            [.changed(key: places.cluster, at: revision), Self.condition(mark, at: places)]
        }

        static func condition(_ mark: EtcdEntry?, at places: EtcdPlaces) -> EtcdRequest.Condition {
            guard let mark, mark.value.count < EtcdHistory.valueBytes else {
                return .changed(key: places.history, at: mark?.modRevision ?? 0)
            }
            return .has(key: places.history, value: mark.value)
        }
    }

    /// Faults that wait for the listener.
    private static let maxFaults = 64
    /// Changes that wait for the listener. It only passes them on, so it keeps up.
    private static let maxChanges = EtcdLimits.sessions

    let configuration: Configuration
    let places: EtcdPlaces
    let client: EtcdClient
    let local: Local
    let clock: any SystemClock
    let pause: @Sendable (Duration) async throws -> Void
    let now: @Sendable () -> SuspendingClock.Instant
    let random: @Sendable () -> UInt64
    /// One task at a time reads or changes the record of the cluster.
    let opening = AsyncLock()
    var member: Member?
    /// How many attempts to open the store could not reach etcd, and the error of the last one.
    var failedOpenings = 0
    var openingError: StoreError?
    var view = ClusterView()
    /// When a user last requested the admission of this host; `nil`: never, or it was admitted since.
    var admissionRequestedAt: BootInstant?
    /// The watch has begun.
    var isWatchOpen = false
    /// Sessions that this host holds, as far as it knows.
    var holds: [SessionName: Hold] = [:]
    var ownIntents: [SessionName: OwnIntents] = [:]
    /// The last release of each session, until etcd has carried it out.
    var unfinished: [SessionName: HoldEnd] = [:]
    /// Renewed or replaced by another host after this one had lost its hold.
    var overtaken: Set<SessionName> = []
    var lifetimes = SharedLifetimes()
    var reported = ReportedRecords()
    /// For each session that is being written: the last revision at which the watch has reported a change or a release. Two
    /// writes of a session share it until the first one ends; then the other one makes whole pauses.
    var reportsForWrites: [SessionName: StateBroadcast<Int64>] = [:]
    /// The last one that was granted to this host.
    var lastLease: LeaseID?
    var restores = EtcdRestores()
    /// Something is sealed with a key that the cluster has given up.
    var hasFormerSeals = false
    /// The ID of the last record key that this process has made.
    var lastMadeKeyID: String?
    /// This host's, once it is known.
    var ownID: String?
    var presence: HostPresence
    /// The last state of etcd whose changes were reported here.
    var processed: Int64 = 0
    /// ``run()`` pauses, because etcd could not be reached.
    var waitsForEtcd = false
    /// What is wrong now.
    private(set) var present: StoreError?
    /// What is wrong with etcd while ``present`` is that this host's key is not open.
    private var hiddenFault: ClusterFault?

    private nonisolated let broadcast = StateBroadcast<StoreState>(nil)
    /// Counts what may end the pause of ``run()``.
    nonisolated let woken = StateBroadcast<Int>(0)
    /// Counts changes of the network after which open connections may be dead.
    nonisolated let networks = StateBroadcast<Int>(0)
    /// A response has shown that etcd went back, and what it has now is still to be read.
    nonisolated let isToReadAgain = StateBroadcast<Bool>(false)
    private nonisolated let changed: AsyncStream<SessionName>
    let tellChange: AsyncStream<SessionName>.Continuation
    private nonisolated let releases: AsyncStream<SessionName>
    let tellReleased: AsyncStream<SessionName>.Continuation
    private nonisolated let occurred: AsyncStream<ClusterFault>
    private nonisolated let tellFault: AsyncStream<ClusterFault>.Continuation

    /// - Parameters:
    ///   - local: sealed by the user's key.
    ///   - pause: returns after that time.
    ///   - now: of a clock that stands still while the machine sleeps.
    ///   - random: random numbers, for what is not secret.
    package init(
        _ configuration: Configuration, local: Local, transport: any HTTPLiveTransport, clock: any SystemClock,
        pause: @escaping @Sendable (Duration) async throws -> Void = {
            try await Task.sleep(for: $0, clock: .suspending)
        },
        now: @escaping @Sendable () -> SuspendingClock.Instant = { .now },
        random: @escaping @Sendable () -> UInt64 = { .random(in: .min ... .max) }
    ) {
        self.configuration = configuration
        self.local = local
        self.clock = clock
        self.pause = pause
        self.now = now
        self.random = random
        places = EtcdPlaces(prefix: configuration.prefix)
        presence = HostPresence(configuration.presence)
        (changed, tellChange) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(Self.maxChanges))
        (releases, tellReleased) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(Self.maxChanges))
        let (occurred, tellFault) = AsyncStream<ClusterFault>.makeStream(
            bufferingPolicy: .bufferingNewest(Self.maxFaults))
        (self.occurred, self.tellFault) = (occurred, tellFault)
        client = EtcdClient(
            endpoints: configuration.endpoints, user: configuration.user, transport: transport,
            note: { tellFault.yield($0) }, pause: pause, now: now)
    }

    package nonisolated var kind: StoreKind { .etcd }

    /// A read needs a majority of the members.
    package nonisolated var showsEverything: Bool { true }

    package nonisolated func states() -> AsyncStream<StoreState> { broadcast.states() }

    /// For one listener.
    package nonisolated func changes() -> AsyncStream<SessionName> { changed }

    /// For one listener.
    package nonisolated func released() -> AsyncStream<SessionName> { releases }

    /// For one listener.
    package nonisolated func faults() -> AsyncStream<ClusterFault> { occurred }

    package func obstacle() async -> ClusterFault? {
        if case .cluster(let fault) = present { fault } else { nil }
    }

    /// The pause of ``run()`` ends: the user may have fixed what was wrong.
    package func retryPrompts() { wake() }

    /// Even during an attempt, which may still fail: then the next one follows at once. A watch may stay open although its
    /// connection is dead, so it begins again.
    package func networkChanged(endsConnections: Bool) async {
        if endsConnections {
            await client.closeIdleConnections()
            networks.update { $0 = ($0 ?? 0) + 1 }
        }
        wake()
    }

    private func endOutage() {
        guard waitsForEtcd else { return }
        waitsForEtcd = false
        wake()
    }

    nonisolated func wake() { woken.update { $0 = ($0 ?? 0) + 1 } }

    /// A random number in the range, so that hosts do not all act at the same time.
    func share(_ range: ClosedRange<Double>) -> Double {
        var numbers = Numbers(source: random)
        return .random(in: range, using: &numbers)
    }

    private struct Numbers: RandomNumberGenerator {
        let source: @Sendable () -> UInt64
        mutating func next() -> UInt64 { source() }
    }

    // MARK: Calls

    func call(_ request: EtcdRequest) async throws(StoreError) -> JSON {
        do throws(StoreError) {
            return try await send(request)
        } catch {
            // Fewer entries may be requested then.
            if error == .cluster(.longResponse) { throw error }
            throw failure(error)
        }
    }

    /// The same, but a failure is not recorded as a fault of the store.
    func send(_ request: EtcdRequest) async throws(StoreError) -> JSON {
        let former = view.state
        let answer: JSON
        do throws(ClusterFault) { answer = try await client.call(request) } catch { throw .cluster(error) }
        endOutage()
        hiddenFault = nil
        if request.showsState, let header = try? EtcdHeader(answer) { saw(header, since: former) }
        return answer
    }

    /// If etcd went back, ``run()`` finds out what that means here: its watch or its pause ends, once.
    func saw(_ header: EtcdHeader, since former: ClusterView.State) {
        guard former.isLater(than: header) else { return view.saw(header, since: former) }
        // If everything was read again since this was requested, the response may be from before that.
        guard former.history == view.state.history else { return }
        readAgain(shownBy: header.revision)
    }

    /// This mark was read: it may show that another host has noticed that etcd went back.
    func saw(mark: EtcdEntry?) {
        if restores.isNoticedElsewhere(mark) { readAgain() }
    }

    func readAgain(shownBy revision: Int64?) {
        restores.saw(revision)
        readAgain()
    }

    nonisolated func readAgain() {
        guard isToReadAgain.current != true else { return }
        isToReadAgain.set(true)
        wake()
    }

    /// A response has shown that etcd went back, and this host has not read yet what it has now.
    var mustReadAgain: Bool { isToReadAgain.current == true }

    /// Whether etcd has gone back since then, as far as this host knows. Until everything is read again, what a backup
    /// has brought back looks like what other hosts have done.
    func hasGoneBack(since former: ClusterView.State) -> Bool {
        mustReadAgain || former.history != view.state.history
    }

    /// Runs `work`, and reports the state that results.
    /// - Parameter writes: whether it shows that etcd accepts writes.
    func reporting<Value>(
        writes: Bool = false, _ work: () async throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let value: Value
        do throws(StoreError) {
            value = try await work()
        } catch {
            throw failure(error)
        }
        // While there is no space, everything can still be read.
        if !waitsForPassphrase, present != .cluster(.noSpace) || writes { succeeded() }
        return value
    }

    /// A call that needs no key says nothing about the store then, whatever etcd answers.
    private var waitsForPassphrase: Bool { present == .sealed && member == nil }

    /// The call that has read this host's key shows the state.
    func hostKeyIsOpen() {
        guard present == .sealed else { return }
        (present, hiddenFault) = (nil, nil)
    }

    func succeeded() {
        present = nil
        broadcast.set(.ready)
    }

    /// Records a fault and reports its state.
    @discardableResult
    func failure(_ error: StoreError) -> StoreError {
        guard !Task.isCancelled, !isDamage(error) else { return error }
        if case .cluster(let fault) = error {
            // `wentBack` is reported later, when it is known what it means for this host.
            if present != error, hiddenFault != fault, fault != .wentBack { tellFault.yield(fault) }
            // The fault of one record or one call is not one of the store.
            guard fault.state != nil else { return error }
            guard !waitsForPassphrase else {
                hiddenFault = fault
                return error
            }
        }
        present = error
        switch error {
        case .cluster(let fault): broadcast.set(fault.state ?? .failed)
        case .sealed: broadcast.set(.locked)
        default: broadcast.set(.failed)
        }
        return error
    }

    // MARK: Damaged records

    /// - Returns: what is wrong with one record. The store and the other records are not affected.
    func damage(of entry: EtcdEntry, _ reason: String) -> StoreError {
        if let session = places.sessionName(of: entry.key) { note(.damaged(session, reason: reason)) }
        return .failed(reason: "\(entry.key): \(reason)")
    }

    /// No other failure begins with a key.
    func isDamage(_ error: StoreError) -> Bool {
        if case .failed(let reason) = error { reason.hasPrefix(places.watched) } else { false }
    }

    /// `nil` if the record is damaged.
    func unlessDamaged<Value>(
        _ work: () async throws(StoreError) -> Value?
    ) async throws(StoreError) -> Value? {
        do throws(StoreError) {
            return try await work()
        } catch {
            guard isDamage(error) else { throw error }
            return nil
        }
    }

    /// Nothing of a session that is gone counts for the next one of its name.
    func forget(_ session: SessionName) {
        lifetimes.forget(session)
        // Its release is still to come.
        ownIntents[session] = nil
        holds[session]?.version = nil
        holds[session]?.intentRevision = nil
        overtaken.remove(session)
    }

    /// A fault that calls recover from.
    func note(_ fault: ClusterFault) { tellFault.yield(fault) }
}

extension ClusterFault {
    /// `nil`: other records and calls are not affected.
    var state: StoreState? {
        switch self {
        case .unreachable, .noQuorum: .notAnswering
        case .denied, .notAdmitted, .otherCluster: .denied
        case .noSpace: .failed
        case .invalid: .failed
        case .tokenExpired, .compacted, .watchLost, .lagging, .wentBack, .markRefused, .tooLarge, .contended,
            .heldElsewhere,
            .leaseLost,
            .removed, .damaged:
            nil
        }
    }
}
