import AgentTestSupport
import AuthGateway
import AuthMachines
import AuthModel
import AuthWire

/// A bridge machine, with the program and the server played by the test.
struct BridgeBench {
    static let url = "https://mcp.example.org/mcp"

    var machine: BridgeMachine
    private var elapsed = Duration.zero
    /// What was written to the program.
    var written: [String] = []
    var notes: [String] = []
    /// The questions for a token that have no answer yet.
    var questions: [(call: CallID, question: TokenQuestion)] = []
    /// The requests that have no response yet.
    var requests: [(call: CallID, request: HTTPRequest)] = []
    var released: [(call: CallID, lingers: Bool)] = []
    var isPaused = false
    var hasEnded = false
    var wakeUp: BootInstant?
    /// What the agent answers; `nil`: the test answers.
    var token: TokenOutcome?

    init(session: String? = nil, token: TokenOutcome? = nil) throws {
        machine = BridgeMachine(
            BridgeTarget(try ResourceURL(Self.url), session: try session.map { try SessionName($0) }))
        self.token = try token ?? .token(Self.token("t1"))
    }

    static func token(_ text: String, scopes: [String] = ["read"]) throws -> BridgeToken {
        BridgeToken(Secret(text), session: try SessionName("mcp"), provider: url, scopes: scopes)
    }

    mutating func send(_ event: BridgeEvent) {
        let turn = machine.handle(event, at: ManualClock.moment(elapsed))
        wakeUp = turn.wakeUp
        for action in turn.actions {
            switch action {
            case .write(let line): written.append(String(decoding: line, as: UTF8.self))
            case .note(let text): notes.append(text)
            case .token(let call, let question): questions.append((call, question))
            case .send(let call, let request): requests.append((call, request))
            case .release(let call, let lingers):
                released.append((call, lingers))
                requests.removeAll { $0.call == call }
                questions.removeAll { $0.call == call }
            case .pauseInput: isPaused = true
            case .resumeInput: isPaused = false
            case .exit: hasEnded = true
            }
        }
        while let token, let next = questions.first {
            questions.removeFirst()
            send(.token(next.call, token))
        }
    }

    mutating func line(_ text: String) { send(.line(.text(Array(text.utf8)))) }

    mutating func advance(_ time: Duration) {
        elapsed += time
        send(.wake)
    }

    // MARK: The server

    mutating func head(_ status: Int, _ headers: [(String, String)] = [], of index: Int = 0) {
        send(.head(requests[index].call, HTTPResponse(status: status, headers: headers.map { ($0.0, $0.1) }, body: [])))
    }

    /// A whole response.
    mutating func answer(
        _ body: String, status: Int = 200, _ headers: [(String, String)] = [], type: String = "application/json",
        of index: Int = 0
    ) {
        let call = requests[index].call
        head(status, headers + [("Content-Type", type)], of: index)
        send(.piece(call, Array(body.utf8)))
        requests.removeAll { $0.call == call }
        send(.ended(call, nil))
    }

    mutating func stream(_ headers: [(String, String)] = [], of index: Int = 0) {
        head(200, headers + [("Content-Type", "text/event-stream; charset=utf-8")], of: index)
    }

    mutating func events(_ text: String, of index: Int = 0) { send(.piece(requests[index].call, Array(text.utf8))) }

    mutating func end(_ error: TransportError? = nil, of index: Int = 0) {
        let call = requests.remove(at: index).call
        send(.ended(call, error))
    }

    mutating func accept(of index: Int = 0) {
        let call = requests[index].call
        head(202, of: index)
        requests.removeAll { $0.call == call }
        send(.ended(call, nil))
    }

    func header(_ name: String, of index: Int = 0) -> String? {
        requests[index].request.headers.first { $0.name.lowercased() == name.lowercased() }?.value.reveal()
    }

    func body(of index: Int = 0) -> String? { requests[index].request.body?.reveal() }

    /// The errors of the bridge itself, by id.
    func problem(_ index: Int) throws -> (id: JSON?, code: Int64?, kind: String?, message: String) {
        let json = try JSON(parsing: written[index])
        let error = json["error"]
        return (
            json["id"], error?["code"]?.integerValue, error?["data"]?["kind"]?.stringValue,
            error?["message"]?.stringValue ?? ""
        )
    }

    // MARK: The program

    static let initialize = #"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#
    static let initialized = #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#
    static let welcome = #"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}"#

    static func call(_ id: Int) -> String { #"{"jsonrpc":"2.0","id":\#(id),"method":"tools/list"}"# }
    static func result(_ id: Int) -> String { #"{"jsonrpc":"2.0","id":\#(id),"result":{}}"# }

    /// A session of the protocol whose server has no separate stream.
    static func connected(session: String? = "s1") throws -> BridgeBench {
        var bench = try BridgeBench()
        bench.line(initialize)
        bench.answer(welcome, session.map { [("Mcp-Session-Id", $0)] } ?? [])
        bench.line(initialized)
        bench.accept()
        bench.head(405)
        bench.written = []
        bench.released = []
        return bench
    }
}
