/// One line from a client.
public enum RPCIncoming: Sendable, Equatable {
    case single(Result<RPCRequest, RPCProblem>)
    /// The response is one array, in any order, or nothing if all are notifications (JSON-RPC 2.0 §6).
    case batch([Result<RPCRequest, RPCProblem>])

    /// - Parameter line: without its line feed.
    public init(line: some Collection<UInt8>) {
        do throws(JSONError) {
            self.init(try JSON(parsing: line))
        } catch {
            self = .single(.failure(RPCProblem(id: .null, error: .parseError("The line is not JSON: \(error)."))))
        }
    }

    public init(_ json: JSON) {
        switch json {
        case .array([]):
            self = .single(
                .failure(RPCProblem(id: .null, error: .invalidRequest("A batch must have at least one request."))))
        case .array(let elements): self = .batch(elements.map(Self.request))
        default: self = .single(Self.request(json))
        }
    }

    private static func request(_ json: JSON) -> Result<RPCRequest, RPCProblem> {
        Result { () throws(RPCProblem) in try RPCRequest(json) }
    }
}

/// Why a line is not a request.
public struct RPCProblem: Error, Sendable, Equatable {
    /// Null if it could not be read.
    public let id: RPCID
    public let error: AgentError

    public init(id: RPCID, error: AgentError) {
        self.id = id
        self.error = error
    }
}
