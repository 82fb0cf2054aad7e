import AuthConcurrency
import AuthMachines
package import AuthModel
package import AuthWire

/// Takes writes that may wait, and carries out what ``OutboxMachine`` decides about them.
///
/// Invariants: what is not in the store is not sent; the machine is touched only between two awaits; when ``run()`` has ended
/// nobody waits any more, and nobody begins to.
package actor Outbox {
    /// More is no queue any more, but a program that does not look.
    package static let maxEntries = 1000
    /// What its alarms are for.
    private enum Alarm { case sending, loading }

    private let table: SessionRegistry
    private let api: APIClient
    private let store: any OutboxStore
    private let clock: any SystemClock
    private let publish: @Sendable (AgentEvent) -> Void
    private let workshop = TaskPool()
    private let alarms: Alarms<Alarm>
    private var machine: OutboxMachine
    private var isLoaded = false
    /// Entries that the user named to be sent after a new sign-in.
    private var allowedInCurrentSignIn: Set<String> = []
    /// Somebody is at the store, to load or to add: in turn.
    private var isBusy = false
    /// `false`: the desk has ended instead.
    private var turns: [OneShot<Bool>] = []
    private var callers: [String: OneShot<OutboxReply>] = [:]
    /// Of ``flush(_:)``; `false`: the desk has ended instead.
    private var waitingForIdle: [OneShot<Bool>] = []
    private var hasEnded = false

    /// - Parameters:
    ///   - seed: of jitter.
    ///   - publish: called at each change; it must not wait.
    package init(
        table: SessionRegistry, api: APIClient, store: any OutboxStore, clock: any SystemClock, seed: UInt64,
        publish: @escaping @Sendable (AgentEvent) -> Void
    ) {
        self.table = table
        self.api = api
        self.store = store
        self.clock = clock
        self.publish = publish
        alarms = Alarms(clock: clock)
        machine = OutboxMachine(seed: seed)
    }

    /// Sends what waits until it is cancelled.
    package func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.workshop.run() }
            group.addTask { await self.alarms.run { await self.woken(by: $0) } }
            group.addTask { for await _ in self.table.board.changes() { await self.look() } }
        }
        hasEnded = true
        // Theirs are on the disk: the next run sends them.
        for caller in callers.values { caller.send(.queued) }
        for wait in waitingForIdle + turns { wait.send(false) }
        (callers, waitingForIdle, turns) = ([:], [], [])
    }

    // MARK: What is asked of it

    /// Returns with the provider's answer, or when it is certain that it waits.
    package func post(_ request: OutboxRequest) async throws(AgentError) -> APIResponse {
        let record = try await api.check(request)
        try await opened()
        // Who has just signed in is seen here at the latest.
        await look()
        let entry = try await written(request, record)
        // It is on the disk: the next run sends it.
        guard !hasEnded else { return APIResponse(status: 202, queued: entry.id) }
        let answer = OneShot<OutboxReply>()
        callers[entry.id] = answer
        handle(.added(entry, isAwaited: true))
        switch await answer.value() {
        case nil:
            // The caller was cancelled. The write waits without it.
            callers[entry.id] = nil
            handle(.callerGone(entry.id))
            return APIResponse(status: 202, queued: entry.id)
        case .sent(let response)?: return response
        case .refused(let error)?: throw error
        case .queued?: return APIResponse(status: 202, queued: entry.id)
        }
    }

    package func list(_ params: OutboxParams) async throws(AgentError) -> OutboxList {
        try await openIfPresent()
        return OutboxList(entries: try chosen(params).map(item))
    }

    /// Tries what waits; what was given up too where it is named. Returns when that has been tried.
    package func flush(_ params: OutboxParams) async throws(AgentError) -> OutboxList {
        try await openIfPresent()
        let entries = try chosen(params)
        if params.id != nil { allowedInCurrentSignIn.formUnion(entries.map(\.id)) }
        for entry in entries where params.id != nil && entry.finalRefusal != nil {
            try await kept { () async throws(OutboxError) in try await store.record(nil, for: entry.id) }
            handle(.revived(entry.id))
        }
        handle(.flush(entries.map(\.id)))
        if !machine.isIdle { try await rest() }
        return OutboxList(entries: machine.entries.filter { params.isMet(by: $0) }.map(item))
    }

    package func drop(_ params: OutboxParams) async throws(AgentError) -> OutboxList {
        try await openIfPresent()
        let entries = try chosen(params)
        let items = entries.map(item)
        for entry in entries {
            try await kept { () async throws(OutboxError) in try await store.remove(entry.id) }
        }
        handle(.dropped(entries.map(\.id)))
        await closeIfEmpty()
        return OutboxList(entries: items)
    }

    private func chosen(_ params: OutboxParams) throws(AgentError) -> [OutboxEntry] {
        let entries = machine.entries.filter { params.isMet(by: $0) }
        guard let id = params.id, entries.isEmpty else { return entries }
        throw AgentError(
            .notFound, "There is no entry \(id.prefix(32)) in the outbox: `authc outbox list` shows what waits.")
    }

    private func item(_ entry: OutboxEntry) -> OutboxItem { machine.item(entry, at: clock.now()) }

    /// Waits until nothing is being sent.
    private func rest() async throws(AgentError) {
        guard !hasEnded else { throw .stopping }
        let wait = OneShot<Bool>()
        waitingForIdle.append(wait)
        guard let isIdle = await wait.value() else {
            waitingForIdle.removeAll { $0 === wait }
            throw .callerGone
        }
        if !isIdle { throw .stopping }
    }

    // MARK: The store

    /// Reads what is there; nothing is opened where there is nothing.
    private func openIfPresent() async throws(AgentError) {
        if !isLoaded, store.mayHoldEntries { try await opened() }
    }

    private func opened() async throws(AgentError) {
        try await turn()
        defer { done() }
        guard !isLoaded else { return }
        if store.mayHoldEntries {
            let found = try await kept { () async throws(OutboxError) in try await store.all() }
            handle(.loaded(found))
            if machine.entries.isEmpty { await store.close() }
        }
        isLoaded = true
        await look()
    }

    private func written(_ request: OutboxRequest, _ record: SessionRecord) async throws(AgentError) -> OutboxEntry {
        try await turn()
        defer { done() }
        guard machine.entries.count < Self.maxEntries else {
            throw AgentError(
                .busy, "\(Self.maxEntries) writes wait already: `authc outbox list` shows them.", cause: "outbox_full")
        }
        var request = request
        request.session = record.session
        let entry = OutboxEntry(
            id: Self.newID(), session: record.session, owner: OutboxEntry.Owner(record), signIn: record.signIn,
            title: request.title,
            idempotencyKey: request.ownKey ?? Self.newKey(), boundary: MultipartBody.newBoundary(),
            queuedAt: clock.now().wall)
        do throws(OutboxError) {
            try await store.add(entry, request)
        } catch {
            // What was made for the first entry of all goes with it.
            if machine.entries.isEmpty { await store.close() }
            throw AgentError(error)
        }
        return entry
    }

    /// Short enough to be typed.
    private static func newID() -> String {
        var source = SystemRandomNumberGenerator()
        let number: UInt64 = source.next()
        return String(number >> 32 | 1 << 32, radix: 36)
    }

    /// A version 4 UUID (RFC 9562 §5.4), of the system's random bytes: a provider takes a key that comes again for the
    /// same write, so nobody may guess one.
    private static func newKey() -> String {
        var source = SystemRandomNumberGenerator()
        let (first, second): (UInt64, UInt64) = (source.next(), source.next())
        let high = (first & ~0xF000) | 0x4000
        let low = (second & (.max >> 2)) | 1 << 63
        let hex = [high, low].map { number in
            let digits = String(number, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
        let cuts = [0, 8, 12, 16, 20, 32].map { hex.index(hex.startIndex, offsetBy: $0) }
        return zip(cuts, cuts.dropFirst()).map { String(hex[$0..<$1]) }.joined(separator: "-")
    }

    private func turn() async throws(AgentError) {
        while isBusy, !hasEnded {
            let wait = OneShot<Bool>()
            turns.append(wait)
            guard await wait.value() != nil else {
                turns.removeAll { $0 === wait }
                throw .callerGone
            }
        }
        guard !hasEnded else { throw .stopping }
        isBusy = true
    }

    private func done() {
        isBusy = false
        // One that was cancelled meanwhile gives way to the next.
        while !turns.isEmpty { if turns.removeFirst().send(true) { return } }
    }

    private func kept<Value: Sendable>(
        _ work: () async throws(OutboxError) -> Value
    ) async throws(AgentError) -> Value {
        do throws(OutboxError) {
            return try await work()
        } catch {
            throw AgentError(error)
        }
    }

    private func closeIfEmpty() async {
        // It is empty all the same where this is cut off, and is looked at again at the next start.
        guard (try? await turn()) != nil else { return }
        defer { done() }
        if isLoaded, machine.entries.isEmpty { await store.close() }
    }

    // MARK: The world

    private func look() async {
        // A keyring that is still closed tells when it opens.
        if !isLoaded, table.board.store.state == .ready { await load() }
        guard isLoaded else { return }
        // No wait from here on: what was seen before another look must not be taken after it.
        handle(.looked(sights))
    }

    /// What the board shows at this moment.
    private var sights: [SessionName: Deliverability] {
        let network = table.board.network
        var sights: [SessionName: Deliverability] = [:]
        for status in table.board.statuses() {
            let word = network.providers[status.provider]
            let isOut = [.online, .limited].contains(network.state) || !table.provider.needsNetwork(status)
            sights[status.session] = Deliverability(
                maySend: [.active, .stale].contains(status.state) && isOut && word != ErrorKind.captivePortal.rawValue,
                isReached: word == nil || word == "reachable", since: network.since)
        }
        return sights
    }

    /// A disk that failed tells nobody when it works again: it is tried later.
    private func load() async {
        do throws(AgentError) {
            try await openIfPresent()
            alarms.set(nil, for: .loading)
        } catch {
            alarms.set(clock.now().boot + Backoff.longest, for: .loading)
        }
    }

    private func woken(by due: [Alarm]) async {
        if due.contains(.loading) { await look() }
        if due.contains(.sending) { handle(.wake) }
    }

    private func handle(_ event: OutboxEvent) {
        carryOut(machine.handle(event, at: clock.now()))
    }

    private func carryOut(_ actions: [OutboxAction]) {
        for action in actions {
            switch action {
            case .send(let entry): workshop.order { await self.send(entry) }
            case .remove(let id):
                settle(id) { [store] () async throws(OutboxError) in try await store.remove(id) }
            case .note(let error, let id):
                settle(id) { [store] () async throws(OutboxError) in try await store.record(error, for: id) }
            case .answer(let id, let answer): callers.removeValue(forKey: id)?.send(answer)
            case .tell(let name, let item):
                publish(
                    AgentEvent(
                        topic: .outbox, name: name, at: clock.now().wall.unixSeconds, session: item.session,
                        outbox: item))
            case .wakeAt(let deadline): alarms.set(deadline, for: .sending)
            }
        }
        guard machine.isIdle else { return }
        for wait in waitingForIdle { wait.send(true) }
        waitingForIdle = []
    }

    private func send(_ entry: OutboxEntry) async {
        let result: Result<APIResponse, AgentError>
        do throws(AgentError) {
            let found = try await kept { () async throws(OutboxError) in try await store.request(of: entry.id) }
            guard let request = found else { throw .noRequest }
            result = .success(
                try await api.send(request, entry, inAnySignIn: allowedInCurrentSignIn.contains(entry.id)))
        } catch {
            result = .failure(error)
        }
        // Cut off by the agent's end: that is no answer.
        guard !Task.isCancelled else { return }
        handle(.answered(entry.id, result))
    }

    private func settle(_ id: String, _ work: @escaping @Sendable () async throws(OutboxError) -> Void) {
        workshop.order {
            // The provider has answered: cut off here, the next run would send it again.
            let failure = await withoutCancellation { () -> OutboxError? in
                do throws(OutboxError) {
                    try await work()
                    return nil
                } catch {
                    return error
                }
            }
            await self.settled(id, failure)
        }
    }

    private func settled(_ id: String, _ failure: OutboxError?) async {
        handle(.settled(id, failure))
        if machine.entries.isEmpty { await closeIfEmpty() }
    }
}

extension OutboxParams {
    fileprivate func isMet(by entry: OutboxEntry) -> Bool {
        (id == nil || id == entry.id) && (session == nil || session == entry.session)
    }
}

extension AgentError {
    fileprivate static let noRequest = AgentError(
        .internal_, "What was to be sent can no longer be read.", cause: "unreadable")
}
