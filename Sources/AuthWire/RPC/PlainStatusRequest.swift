/// A request for what the agent knows of its sessions or of the network, in the usual form, recognised from its bytes: programs
/// that show the state repeat it.
///
/// ``RPCRequest`` gives these lines the same meaning, and reads all other lines.
public struct PlainStatusRequest: Equatable, Sendable {
    public enum Method: Sendable, CaseIterable {
        case status, list, network

        public var name: String {
            switch self {
            case .status: SessionStatusGet.name
            case .list: SessionListGet.name
            case .network: NetworkStatusGet.name
            }
        }
    }

    /// What is requested: requests with the same question have the same result at the same time.
    public struct Question: Hashable, Sendable {
        public let method: Method
        public let session: SessionName?

        public func request(id: RPCID?) -> RPCRequest {
            var params = JSONObject()
            params["session"] = session.map { .string($0.text) }
            return RPCRequest(id: id, method: method.name, params: .object(params))
        }
    }

    /// The place of the id: a whole number of at most 18 digits, which is returned unchanged.
    public let id: Range<Int>
    public let question: Question

    /// - Parameter line: without its line feed.
    public init?(_ line: Span<UInt8>) {
        var scan = PlainRequestScan()
        guard let id = scan.readID(of: line), scan.consume(#","method":""#, of: line) else { return nil }
        let method: Method
        if scan.consume(#"session.status","params":{"#, of: line) {
            method = .status
        } else if scan.consume(#"session.list","params":{"#, of: line) {
            method = .list
        } else if scan.consume(#"network.status","params":{"#, of: line) {
            method = .network
        } else {
            return nil
        }
        guard let params = scan.readParams(of: line) else { return nil }
        self.id = id
        question = Question(method: method, session: params.session)
    }
}
