import AuthMachines
import AuthModel
import AuthWire

/// One connection to the message bus that has called a method. Only the sockets' thread uses it.
///
/// Invariants: no method is called before it is known who called; at most `limits.requestsPerConnection` requests are in
/// progress, and ``mostWaiting`` calls wait for its identification.
final class BusClient: RequestOwner, PeerProcessUser {
    typealias Answer = (Result<JSON, AgentError>) -> Void

    /// Calls before the bus has answered who the client is. A library makes a few at once.
    static let mostWaiting = 32

    let number: Int
    /// Its unique name on the bus, which is never used again.
    let name: String
    private let registry: ConnectionRegistry
    private(set) var caller: Caller?
    private var waiting: [BusMessage] = []
    /// The view last sent to it; `nil`: it has read nothing yet.
    var sent: BusView?
    private var hasProcessEnded = false
    private var hasEnded = false
    private var lastTicket = 0
    private var answers: [Int: Answer] = [:]
    /// The requests in progress, each with its bytes if it is long, otherwise 0.
    private var running: [Int: Int] = [:]
    private let requests: WaitingRequests

    init(_ name: String, registry: ConnectionRegistry) {
        number = registry.nextNumber()
        self.name = name
        self.registry = registry
        requests = WaitingRequests(registry: registry)
    }

    var isConfined: Bool { caller?.confinement != nil }

    /// Whether the process that has connected to the bus still runs. Its number may belong to another one otherwise.
    var isRunning: Bool { !hasProcessEnded && caller?.process?.isRunning ?? true }

    /// Whether no request of it is in progress.
    var isIdle: Bool { running.isEmpty }

    // MARK: Identification

    /// - Returns: `false` if too many wait.
    func wait(_ call: BusMessage) -> Bool {
        guard waiting.count < Self.mostWaiting else { return false }
        waiting.append(call)
        return true
    }

    /// - Returns: the calls that have waited.
    func identified(as caller: Caller?) -> [BusMessage] {
        self.caller = caller
        caller?.process?.add(self)
        defer { waiting = [] }
        return waiting
    }

    func processEnded() {
        hasProcessEnded = true
        sent = nil
    }

    // MARK: Requests

    /// Makes a request of the protocol. `answer` is called once, unless the client has gone.
    func perform(_ method: String, _ params: JSONObject, then answer: @escaping Answer) {
        guard let caller else { return }
        registry.counters.request()
        let request = RPCRequest(id: .integer(0), method: method, params: .object(params))
        let bytes = request.params?.leastBytes ?? 0
        give(
            registry.dispatcher.answer(request, from: caller), of: bytes < registry.limits.longRequest ? 0 : bytes,
            to: answer, caller)
    }

    private func give(
        _ handling: RequestHandling, of bytes: Int, to answer: @escaping Answer, _ caller: Caller
    ) {
        switch handling {
        case .now(let result): answer(result)
        case .rendered(let text): answer(Self.json(.text(text)))
        case .live(let token, _): answer(Self.json(.text(token.json(at: registry.clock.bootInstant))))
        case .later(let request): begin(request, of: bytes, for: answer, of: caller)
        case .open, .onStream, .bodySocket, .subscribe, .unsubscribe:
            answer(.failure(AgentError(.unsupported, "This method is not available on the session bus.")))
        }
    }

    private static func json(_ payload: Payload) -> Result<JSON, AgentError> {
        switch payload.rendered {
        case .value(let json): .success(json)
        case .text(let text):
            Result { () throws(JSONError) in try JSON(parsing: text) }
                .mapError { .internalError("The result is not JSON: \($0).") }
        case .token, .response: .failure(.internalError("The result was not rendered."))
        }
    }

    private func begin(
        _ request: WaitingRequest, of bytes: Int, for answer: @escaping Answer, of caller: Caller
    ) {
        guard running.count < registry.limits.requestsPerConnection else {
            return answer(.failure(.tooManyRequests(registry.limits)))
        }
        do throws(AgentError) {
            try registry.requestBudget.begin(longBytes: bytes, of: caller.peer, isConfined: isConfined)
        } catch {
            return answer(.failure(error))
        }
        lastTicket += 1
        running[lastTicket] = bytes
        answers[lastTicket] = answer
        requests.begin(request, as: lastTicket, for: self)
    }

    func answered(_ ticket: Int, _ result: Result<Payload, AgentError>) {
        guard !hasEnded, let answer = answers.removeValue(forKey: ticket) else { return }
        answer(result.flatMap(Self.json))
    }

    func ended(_ ticket: Int) {
        requests.ended(ticket)
        if let bytes = running.removeValue(forKey: ticket), let peer = caller?.peer {
            registry.requestBudget.end(longBytes: bytes, of: peer, isConfined: isConfined)
        }
        answers[ticket] = nil
        registry.endIfEmpty()
    }

    func agentLocked() { requests.agentLocked(self) }

    /// It has left the bus. Its requests are cancelled.
    func end() {
        guard !hasEnded else { return }
        hasEnded = true
        (waiting, answers, sent) = ([], [:], nil)
        requests.end()
        guard let caller else { return }
        caller.repeated.end(in: registry.dispatcher.audit)
        if let process = caller.process {
            process.remove(self)
            registry.processes.connectionEnded(of: process)
        }
    }
}
