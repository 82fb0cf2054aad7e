import AuthModel
import AuthWire

extension FuzzTarget {
    /// One line of a client: the envelope, the plain forms of `token.get` and of statuses, the params of every method, and the classes that
    /// decide about it.
    static let rpc = FuzzTarget("rpc") { line throws(Violation) in
        let incoming = RPCIncoming(line: line)
        try checkPlain(line, incoming)
        switch incoming {
        case .single(let request): try check(request)
        case .batch(let requests):
            try require(!requests.isEmpty, "an empty batch is accepted")
            for request in requests { try check(request) }
        }
        // The other direction: what a client reads.
        if let message = try? RPCMessage(line: line[...]), case .failure(_, let error) = message, error.kind != nil {
            try require(AgentError(json: error.json) == error, "an error is read as another one")
        }
    }

    /// What is recognized from its bytes means the same as what is parsed.
    private static func checkPlain(_ line: [UInt8], _ incoming: RPCIncoming) throws(Violation) {
        if let plain = PlainStatusRequest(line.span) {
            guard let id = Int64(String(decoding: line[plain.id], as: UTF8.self)) else {
                throw Violation("the id of a plain request is not a number")
            }
            try require(
                incoming == .single(.success(plain.question.request(id: .integer(id)))),
                "a plain request for a status is read as something else")
        }
        guard let plain = PlainTokenRequest(line.span) else { return }
        guard case .single(.success(let request)) = incoming, request.method == TokenGet.name,
            let call = try? TokenGet(params: request.params)
        else { throw Violation("a plain request is read as something else") }
        try require(call == TokenGet(session: plain.session), "a plain request means something else")
        try require(request.id?.json.serialized() == Array(line[plain.id]), "a plain request has another id")
    }

    private static func check(_ request: Result<RPCRequest, RPCProblem>) throws(Violation) {
        switch request {
        case .failure(let problem):
            try require([-32700, -32600].contains(problem.error.code), "the code is \(problem.error.code)")
            try checkReply(RPCReply.failure(problem.id, problem.error))
        case .success(let request):
            try require((try? RPCRequest(request.json)) == request, "a request is read as another one")
            guard let method = AgentMethods.named(request.method) else { return }
            try checkRules(method)
            let call: any AgentMethod
            do throws(AgentError) {
                call = try method.init(params: request.params)
            } catch {
                return try checkReply(RPCReply.failure(request.id ?? .null, error))
            }
            try checkParams(call)
        }
    }

    private static func checkParams<Method: AgentMethod>(_ call: Method) throws(Violation) {
        guard let again = try? Method(params: call.json) else {
            throw Violation("\(Method.name): the params are not read")
        }
        try require(again == call, "\(Method.name): the params are read as others")
    }

    /// Nothing of the classes `account` and `admin` is allowed to limited clients, whatever the settings list.
    private static func checkRules(_ method: any AgentMethod.Type) throws(Violation) {
        var rules = ListenerRules()
        rules.classes = Set(AccessClass.allCases)
        rules.methods = Set(AgentMethods.all.map { $0.name })
        let isAllowed = ConfinedRequest(method: method.name, access: method.access).refusalOfMethod(by: rules) == nil
        try require(!isAllowed || ![.account, .admin].contains(method.access), "\(method.name) is allowed")
    }

    private static func checkReply(_ reply: JSON) throws(Violation) {
        let text = reply.serialized()
        try require((try? JSON(parsing: text)) == reply, "an error cannot be read")
        try require(!text.contains(UInt8(ascii: "\n")), "an error has several lines")
    }
}
