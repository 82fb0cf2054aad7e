import AgentTestSupport
import AuthMachines
import AuthModel
import AuthWire
import Testing

/// A machine with its sessions, a store that a test answers for, and a clock.
struct OutboxScript {
    var machine = OutboxMachine(seed: 7)
    var elapsed = Duration.zero
    var wake: BootInstant?
    var sent: [String] = []
    /// Those of them that were sent as their caller gave them, without the store.
    var sentAtOnce: [String] = []
    var answers: [String: OutboxReply] = [:]
    var published: [String] = []
    /// What the store has to do, or is doing; one at most, if the machine keeps its promise.
    var calls: [OutboxStoreCall] = []
    private var callers: [CallerID: String] = [:]

    var now: Moment { ManualClock.moment(elapsed) }

    /// - Parameter found: what the store holds at the start; `nil`: it is not read.
    init(
        sessions: [String: Deliverability] = ["shop": Self.open], found: [OutboxEntry]? = []
    ) throws {
        let sessions = try sessions.reduce(into: [:]) { $0[try SessionName($1.key)] = $1.value }
        handle(.statusChanged(sessions, mayLoad: found != nil))
        if let found { store(found: found) }
    }

    mutating func see(_ sessions: [SessionName: Deliverability]) {
        handle(.statusChanged(sessions, mayLoad: machine.isLoaded))
    }

    mutating func handle(_ event: OutboxEvent) {
        let turn = machine.handle(event, at: now)
        for action in turn.actions {
            switch action {
            case .send(let entry, let write, _):
                sent.append(entry.id)
                if write != nil { sentAtOnce.append(entry.id) }
            case .store(let call): calls.append(call)
            case .publish(let name, let item): published.append("\(name) \(item.id)")
            }
        }
        for (caller, reply) in turn.replies { answers[callers[caller] ?? "", default: reply] = reply }
        wake = turn.wakeUp
    }

    /// The store has carried out its call, or could not.
    mutating func store(_ error: OutboxError? = nil, found: [OutboxEntry] = []) {
        #expect(calls.count == 1)
        calls.removeAll()
        handle(.stored(error.map { .failure($0) } ?? .success(found)))
        if calls == [.release] { store() }
    }

    /// The named caller's command.
    mutating func ask(_ command: OutboxCommand, by name: String) {
        let caller = CallerID(UInt64(callers.count + 1))
        callers[caller] = name
        handle(.requested(caller, command))
    }

    mutating func leave(_ name: String) {
        for (caller, other) in callers where other == name { handle(.callerGone(caller)) }
    }

    mutating func post(_ id: String) throws {
        ask(.post(try Self.entry(id), OutboxWrite(Self.request)), by: id)
    }

    mutating func add(_ ids: String...) throws {
        for id in ids {
            try post(id)
            store()
        }
    }

    mutating func answer(_ id: String, _ result: Result<APIResponse, AgentError>) {
        handle(.answered(id, result))
    }

    mutating func done(_ id: String) {
        answer(id, .success(APIResponse(status: 200)))
        store()
    }

    mutating func waitForWake() {
        guard let wake else { return }
        elapsed += max(.zero, wake - now.boot)
        handle(.wake)
    }

    /// Whether no entry is in progress.
    func isIdle() -> Bool { machine.entries.allSatisfy { machine.item($0, at: now).state != .sending } }

    /// The entries in the reply to the named caller; `nil`: there is no list yet.
    func list(_ name: String) -> [String]? {
        guard case .list(let items)? = answers[name] else { return nil }
        return items.map(\.id)
    }

    // MARK: Samples

    static let open = Deliverability(maySend: true, isReached: true, since: 1)
    static let away = AgentError(.providerUnreachable, "No connection.")
    static let no = AgentError(.notFound, "No such thing.", httpStatus: 404, providerMessage: "No such decision")

    static let request = OutboxRequest.request(APIRequest(method: "POST", path: "/votes", queue: true))

    static func entry(_ id: String, in session: String = "shop") throws -> OutboxEntry {
        OutboxEntry(
            id: id, session: try SessionName(session), owner: .init(provider: "p", environment: "e", userID: "7"),
            title: "vote", idempotencyKey: "key-\(id)", queuedAt: WallTime(unixSeconds: 1))
    }
}
