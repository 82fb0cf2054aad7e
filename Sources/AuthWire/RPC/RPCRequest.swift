/// One JSON-RPC 2.0 request (§4). It prints without its params, which may hold secrets.
public struct RPCRequest: Sendable, Equatable {
    /// `nil`: a notification, which has no response.
    public var id: RPCID?
    public var method: String
    /// An object or an array; `nil` when absent.
    public var params: JSON?

    public init(id: RPCID?, method: String, params: JSON? = nil) {
        self.id = id
        self.method = method
        self.params = params
    }

    public init<Method: AgentMethod>(id: RPCID?, _ method: Method) {
        self.init(id: id, method: Method.name, params: method.json)
    }

    /// - Throws: ``RPCProblem`` with the request's id if it could be read.
    public init(_ json: JSON) throws(RPCProblem) {
        guard case .object(let object) = json else {
            throw RPCProblem(id: .null, error: .invalidRequest("A request must be an object, not \(json.kindName)."))
        }
        let id = try object["id"].map(RPCRequest.id)
        func problem(_ message: String) -> RPCProblem {
            RPCProblem(id: id ?? .null, error: .invalidRequest(message))
        }
        guard object["jsonrpc"] == "2.0" else { throw problem("A request must have the member \"jsonrpc\": \"2.0\".") }
        guard let method = object["method"]?.stringValue else {
            throw problem("A request must have a member \"method\" that is a string.")
        }
        let params = object["params"]
        switch params {
        case nil, .object, .array: break
        default: throw problem("The \"params\" of a request must be an object or an array.")
        }
        self.init(id: id, method: method, params: params)
    }

    public var json: JSON {
        var object: JSONObject = ["jsonrpc": "2.0"]
        object["id"] = id?.json
        object["method"] = .string(method)
        object["params"] = params
        return .object(object)
    }

    private static func id(_ json: JSON) throws(RPCProblem) -> RPCID {
        guard let id = RPCID(json) else {
            throw RPCProblem(
                id: .null, error: .invalidRequest("An \"id\" must be a string, a number or null, not \(json.kindName).")
            )
        }
        return id
    }
}

extension RPCRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String {
        id == nil ? "\(method.quotable) (notification)" : method.quotable
    }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["method": method.quotable]) }
}
