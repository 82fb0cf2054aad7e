import AuthWire
import TestSupport
import Testing

@testable import AuthDaemon

@Suite("The bytes of requests that wait", .timeLimit(.minutes(1)))
struct RequestBytesTests {
    @Test("requests of lines that are parsed at once are limited by their bytes too, alone and in a batch")
    func middleRequests() async throws {
        let limits = ConnectionLimits.with { $0.longRequestsPerProcess = 100_000 }
        try await TestServer.run(limits: limits) { rig in
            try await onThread {
                let (client, other) = (try rig.dial(), try rig.dial())
                let wait: JSON = [
                    "session": "nobody", "until": "active", "padding": .string(String(repeating: "x", count: 60_000)),
                ]
                try client.send(RawClient.request("session.wait", wait))
                try BadClientTests.until(other) { rig.counters.waiting == 1 }
                let refused = try other.ask("session.wait", wait, id: "second")
                #expect(refused.errorKind == "busy" && refused["id"] == "second")
                try other.send("[" + RawClient.request("session.wait", wait, id: "third").dropLast() + "]\n")
                #expect(try other.json()[0]?.errorKind == "busy")
                try other.send(BadClientTests.waiting(4))
                try CrowdTests.pings(other) { rig.counters.waiting == 2 }
            }
        }
    }
}
