import AuthWire
import StandInBackends
import TestSupport
import Testing

/// What the agent has in memory, requested after a rule or the lock refuses it.
@Suite("Kept responses and tokens behind access rules and the lock", .serialized, .timeLimit(.minutes(2)))
struct KeptResultTests {
    private static let call: JSON = ["session": "fork-in-the-road", "endpoint": "restaurants"]

    @Test("a cached response is refused while the agent is locked, and by a new rule, and nothing is requested for it")
    func response() async throws {
        try await Scene.play { scene in
            try await scene.prepareLock()
            #expect(try await scene.login(.forkInTheRoad).status == 0)
            /// The second answer is from memory.
            func fill() async throws {
                _ = try await scene.ask("api.call", Self.call)
                let kept = try await scene.ask("api.call", Self.call)
                #expect(kept["from_cache"] == true, "\(kept.text())")
            }
            func requests() -> Int { scene.backends.counts[.forkInTheRoad, "GET /api/restaurants"] }
            try await fill()
            let before = requests()
            try await scene.lock()
            #expect(try await scene.ask("api.call", Self.call).errorKind == "agent_locked")
            #expect(requests() == before)
            #expect(try await scene.unlock().status == 0)
            try await fill()
            let filled = requests()
            try await scene.usePolicy(
                "enforce = true\n[[rule]]\nname = \"none\"\neffect = \"deny\"\nendpoint = \"restaurants\"\n")
            let refused = try await scene.ask("api.call", Self.call)
            #expect(refused.errorKind == "denied" && refused.errorCause == "access_rule", "\(refused.text())")
            #expect(requests() == filled)
        }
    }

    @Test("a token for one scope is refused while the agent is locked, and by a new rule about the scope")
    func token() async throws {
        try await OAuthScene.play { scene, server in
            try await scene.prepareLock()
            #expect(try await scene.loginByDevice(server).status == 0)
            let request: JSON = ["session": .string(OAuthScene.provider), "scopes": ["read"]]
            /// The second answer is from memory.
            func fill() async throws {
                let first = try await scene.ask("token.get", request)["access_token"]
                let requested = server.counts.targets
                let second = try await scene.ask("token.get", request)["access_token"]
                #expect(first != nil && second == first && server.counts.targets == requested)
            }
            try await fill()
            let before = server.counts.targets
            try await scene.lock()
            #expect(try await scene.ask("token.get", request).errorKind == "agent_locked")
            #expect(server.counts.targets == before)
            #expect(try await scene.unlock().status == 0)
            try await fill()
            let filled = server.counts.targets
            try await scene.usePolicy(
                "enforce = true\n[[rule]]\nname = \"none\"\neffect = \"deny\"\nscope = \"read\"\n")
            let refused = try await scene.ask("token.get", request)
            #expect(refused.errorKind == "denied" && refused.errorCause == "access_rule", "\(refused.text())")
            #expect(server.counts.targets == filled)
        }
    }
}
