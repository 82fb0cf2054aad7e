import AuthWire
import Foundation
import TestSupport
import Testing

/// NetworkManager (python-dbusmock) reports a metered network to GIO, whose monitor the real agent uses.
@Suite("Metered networks", .serialized, .timeLimit(.minutes(2)))
struct MeteredTests {
    private static func play(
        _ settings: String, _ test: @escaping @Sendable (NetworkLab, MockBus, Child) async throws -> Void
    ) async throws {
        let bus = try await MockBus([.networkmanager])
        try await bus.setConnectivity(4)
        try await bus.addMetered(false)
        try await NetworkLab.play(
            { lab, agent in
                try lab.set(settings)
                #expect(try await lab.authc("reload").status == 0)
                let watch = try await lab.watch()
                try await test(lab, bus, watch)
                await watch.end()
                _ = agent
            }, with: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address])
        await bus.end()
    }

    private static func queue(_ lab: NetworkLab, _ text: String) async throws -> Child.Output {
        try await lab.authc("request", "POST", "/notes", "--queue", "-d", #"{"text":"\#(text)"}"#)
    }

    private static func notes(_ lab: NetworkLab) -> Int {
        lab.provider.out.text.split(separator: "POST /notes 200").count - 1
    }

    /// Waits for this many notes at the provider, whose lines may come after the agent's events.
    private static func receives(_ count: Int, _ lab: NetworkLab) async -> Bool {
        await lab.provider.out.wait(for: "POST /notes 200", times: count) && notes(lab) == count
    }

    private static func entries(_ lab: NetworkLab) async throws -> [OutboxItem] {
        try OutboxList(JSON(parsing: Array(try await lab.authc("outbox", "--json").out.utf8))).entries
    }

    @Test("with metered = \"wait\", queued writes and streams wait and say so; renewals and other calls go on")
    func wait() async throws {
        try await Self.play("[network]\nmetered = \"wait\"\n") { lab, bus, watch in
            #expect(try await Self.queue(lab, "before").out == "{}\n")
            try await bus.setMetered(true)
            #expect(await watch.out.wait(for: #""transfers_wait":true"#))
            let network = try await lab.authc("network")
            #expect(network.out.contains("metered: queued writes and streams wait"), "\(network.out)")
            let status = try await lab.authc("status")
            #expect(status.err.contains("metered: queued writes and streams wait"), "\(status)")
            #expect(try await lab.authc("refresh").status == 0)
            #expect(try await lab.authc("request", "GET", "/me").status == 0)
            for text in ["one", "two", "three"] {
                let queued = try await Self.queue(lab, text)
                #expect(queued.status == 0 && queued.err.contains("queued as"), "\(queued.err)")
            }
            let shown = try await lab.authc("outbox")
            #expect(shown.out.contains("for a network that is not metered"), "\(shown.out)")
            let waiting = try await Self.entries(lab)
            #expect(waiting.map(\.waitsFor) == Array(repeating: OutboxItem.unmeteredNetwork, count: 3))

            let stream = try RawClient(lab.socket, timeout: 60)
            let params: JSON = ["method": "GET", "path": "/me", "stream": "s", "answer": "stream"]
            try stream.send(RawClient.request("api.request", params, id: 7))
            let calls = lab.provider.out.text.split(separator: "GET /me").count
            #expect(try await lab.authc("refresh").status == 0)

            // The user knows better: the first entry, then the rest.
            #expect(try await lab.authc("outbox", "flush", waiting[0].id).status == 0)
            #expect(await watch.out.wait(for: #""event":"sent""#, times: 1))
            #expect(try await Self.entries(lab).map(\.id) == waiting.dropFirst().map(\.id))
            #expect(await Self.receives(2, lab))
            #expect(try await lab.authc("outbox", "flush").status == 0)
            #expect(try await Self.entries(lab).isEmpty)
            #expect(await Self.receives(4, lab))
            #expect(lab.provider.out.text.split(separator: "GET /me").count == calls)

            _ = try await Self.queue(lab, "four")
            #expect(Self.notes(lab) == 4)
            try await bus.setMetered(false)
            #expect(await watch.out.wait(for: #""event":"sent""#, times: 4))
            #expect(try stream.json()["result"]?["status"] == 200)
            #expect(await Self.receives(5, lab))
            #expect(!(try await lab.authc("network").out.contains("metered")))
            #expect(!(try await lab.authc("status").err.contains("metered")))
        }
    }

    @Test("without the setting nothing waits; a reload with it applies at once, and ends it again")
    func send() async throws {
        try await Self.play("") { lab, bus, watch in
            try await bus.setMetered(true)
            #expect(await watch.out.wait(for: #""metered":true"#))
            #expect(try await lab.authc("network").out.contains("metered\n"))
            #expect(try await Self.queue(lab, "at once").out == "{}\n")
            try lab.set("[network]\nmetered = \"wait\"\n")
            let reloaded = try await lab.authc("reload")
            #expect((reloaded.out + reloaded.err).contains("wait on a metered network"), "\(reloaded)")
            #expect(try await Self.queue(lab, "later").err.contains("queued as"))
            try lab.set("[network]\nmetered = \"send\"\n")
            #expect(try await lab.authc("reload").status == 0)
            #expect(await watch.out.wait(for: #""event":"sent""#))
            #expect(await Self.receives(2, lab))
            try lab.set("[network]\nmetered = \"sometimes\"\n")
            let refused = try await lab.authc("reload")
            #expect(refused.status != 0 && refused.err.contains("network.metered"), "\(refused.err)")
        }
    }

    @Test("a stream that waits ends with its client's time, and with the client")
    func streamEnds() async throws {
        try await Self.play("[network]\nmetered = \"wait\"\n") { lab, bus, watch in
            try await bus.setMetered(true)
            #expect(await watch.out.wait(for: #""transfers_wait":true"#))
            let params: JSON = [
                "method": "GET", "path": "/me", "stream": "s", "answer": "stream", "timeout_ms": 300,
            ]
            let late = try await onThread { try RawClient(lab.socket, timeout: 60).ask("api.request", params) }
            #expect(late["error"]?["data"]?["kind"] == "timeout", "\(late.text())")
            // One whose client is gone does not hold up the agent's end, which the lab waits for.
            let gone = try RawClient(lab.socket, timeout: 60)
            try gone.send(
                RawClient.request(
                    "api.request", ["method": "GET", "path": "/me", "stream": "s", "answer": "stream"], id: 3))
            #expect(try gone.ask("agent.ping", id: 4)["id"] == 4)
        }
    }
}
