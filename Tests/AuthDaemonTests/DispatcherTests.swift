import AuthWire
import TestSupport
import Testing

@testable import AuthDaemon

@Suite("The methods of the agent")
struct DispatcherTests {
    @Test("every method of the protocol has a handler")
    func complete() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dial()
                for method in AgentMethods.all {
                    try client.send(RawClient.request(method.name, ["session": 7]))
                    #expect(try client.json()["error"]?["code"] != -32601, "\(method.name)")
                }
            }
        }
    }
}
