import AuthWire
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("Long bodies of authc")
struct AuthcUploadTests {
    /// What an agent that gives no sockets receives.
    private final class Received: Sendable {
        struct State {
            var body: [UInt8] = []
            var call: RPCID?
            var requestedSockets = 0
        }

        let state = Mutex(State())
    }

    enum Refusal: CaseIterable {
        /// An older agent ignores a param that it does not know.
        case unknown
        /// It has no descriptors left.
        case busy
    }

    @Test(
        "an agent that gives no socket gets the body in pieces, and is asked for a socket once",
        arguments: Refusal.allCases)
    func pieces(refusal: Refusal) async throws {
        let received = Received()
        let agent = try TestAgent { peer, request in
            let id = request.id ?? .null
            let params = request.params ?? [:]
            switch request.method {
            case "api.request": received.state.withLock { $0.call = id }
            case "api.write" where params["socket"] == true:
                let next = received.state.withLock { state in
                    state.requestedSockets += 1
                    return state.body.count
                }
                switch refusal {
                case .unknown: peer.send(RPCReply.result(id, ["next": .integer(Int64(next))]))
                case .busy: peer.send(RPCReply.failure(id, AgentError(.busy, "There are none left.")))
                }
            case "api.write":
                let (next, call) = received.state.withLock { state in
                    let text = params["body_base64"]?.stringValue ?? ""
                    state.body += Array(Data(base64Encoded: text) ?? Data())
                    return (state.body.count, params["last"] == true ? state.call : nil)
                }
                peer.send(RPCReply.result(id, ["next": .integer(Int64(next)), "done": .bool(call != nil)]))
                if let call { peer.send(RPCReply.result(call, ["status": 200, "headers": [:], "from_cache": false])) }
            default: peer.send(RPCReply.failure(id, .methodNotFound(request.method)))
            }
        }
        defer { agent.stop() }
        let body = (0..<(2 << 20)).map { UInt8(truncatingIfNeeded: $0 / 1000) }
        try Data(body).write(to: URL(filePath: agent.folder + "/body"))
        let result = try await Program.run(
            ["request", "POST", "/up", "-s", "x", "-d", "@\(agent.folder)/body"], folder: agent.folder)
        #expect(result.status == 0, "\(result.errors)")
        let state = received.state.withLock { $0 }
        #expect(state.body == body && state.requestedSockets == 1, "\(state.body.count)")
    }
}
