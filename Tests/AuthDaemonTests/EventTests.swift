import AuthDaemon
import AuthWire
import TestSupport
import Testing

@Suite("Subscribers receive changes", .timeLimit(.minutes(1)))
struct EventTests {
    private static func event(_ topic: Topic, _ name: String, session: String? = nil) -> AgentEvent {
        AgentEvent(topic: topic, name: name, at: 1, session: session.flatMap { try? SessionName($0) })
    }

    @Test("a snapshot first, then every change")
    func snapshotFirst() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dial()
                #expect(try client.ask("events.subscribe")["result"] != nil)
                let first = try client.json()
                #expect(first["method"] == "event")
                #expect(first["id"] == nil)
                #expect(first["params"]?["event"] == "snapshot")
                #expect(first["params"]?["snapshot"]?["sessions"]?[0]?["session"] == "shop")
                rig.publisher.publish(Self.event(.session, "renewed", session: "shop"))
                let next = try client.json()
                #expect(next["params"]?["event"] == "renewed")
                #expect(next["params"]?["session"] == "shop")
            }
        }
    }

    @Test("only the requested topics and session")
    func filtered() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dial()
                _ = try client.ask("events.subscribe", ["topics": ["session", "store"], "session": "other"])
                #expect(try client.json()["params"]?["snapshot"]?["sessions"] == [])
                rig.publisher.publish(Self.event(.session, "not mine", session: "shop"))
                rig.publisher.publish(Self.event(.network, "not wanted"))
                rig.publisher.publish(Self.event(.session, "mine", session: "other"))
                rig.publisher.publish(Self.event(.store, "everybody's"))
                #expect(try client.json()["params"]?["event"] == "mine")
                #expect(try client.json()["params"]?["event"] == "everybody's")
            }
        }
    }

    @Test("nothing more after unsubscribing, and never anything to others")
    func unsubscribed() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let (client, other) = (try rig.dial(), try rig.dial())
                _ = try client.ask("events.subscribe")
                _ = try client.json()
                _ = try client.ask("events.unsubscribe", id: "off")
                rig.publisher.publish(Self.event(.session, "late", session: "shop"))
                #expect(try client.ask("agent.ping", id: "next")["id"] == "next")
                #expect(try other.ask("agent.ping", id: "next")["id"] == "next")
            }
        }
    }

    @Test("topics are removed one by one, and sessions too")
    func subscriptions() throws {
        var all = Subscriptions(limit: 2)
        #expect(!all.matches(Self.event(.session, "x")))
        try all.add(SubscribeParams(topics: [.session, .network]))
        all.remove(SubscribeParams(topics: [.network]))
        #expect(all.matches(Self.event(.session, "x", session: "any")))
        #expect(!all.matches(Self.event(.network, "x")))
        try all.add(SubscribeParams(session: try SessionName("a")))
        #expect(throws: AgentError.self) { try all.add(SubscribeParams(session: try SessionName("b"))) }
        all.remove(SubscribeParams())
        #expect(all.isEmpty)
    }
}
