import AuthModel
import AuthWire
import TestSupport
import Testing

@testable import AuthDaemon

@Suite("Turns of clients that send much", .timeLimit(.minutes(1)))
struct TurnTests {
    @Test(
        "a client that sends much at once takes turns with others, and is answered completely and in order"
    )
    func turns() async throws {
        let limits = ConnectionLimits.with { limits in
            limits.lineBytesPerTurn = 100
        }
        try await TestServer.run(limits: limits) { rig in
            try await onThread {
                let client = try rig.dial()
                try client.send((0..<500).map { RawClient.request("agent.ping", id: .integer($0)) }.joined())
                client.endWriting()
                for id in 0..<500 { #expect(try client.json()["id"] == .integer(Int64(id))) }
                #expect(try client.line() == nil)
            }
        }
    }

    @Test("clients whose turns are over after no time at all are answered completely, each in order")
    func shortTurns() async throws {
        let limits = ConnectionLimits.with { $0.turnTime = .zero }
        try await TestServer.run(limits: limits) { rig in
            try await onThread {
                let clients = try (0..<20).map { _ in try rig.dial() }
                for client in clients {
                    try client.send((0..<50).map { RawClient.request("agent.ping", id: .integer($0)) }.joined())
                }
                for client in clients {
                    for id in 0..<50 { #expect(try client.json()["id"] == .integer(Int64(id))) }
                }
            }
        }
    }

    @Test("all requests without responses are carried out if the client closes at once, in however many turns")
    func closesAtOnce() async throws {
        let limits = ConnectionLimits.with { $0.turnTime = .zero }
        try await TestServer.run(limits: limits) { rig in
            try await onThread {
                // Without responses: to write one would fail, and end the connection.
                let purposes = (0..<200).map { "\($0)" }
                let lines = purposes.map { RawClient.request("token.get", ["purpose": .string($0)], id: nil) }
                try rig.dial().send(lines.joined())
                // Its own requests are not in the audit log.
                let other = try rig.dial()
                try BadClientTests.until(other) { rig.audit.entries.count >= purposes.count }
                #expect(rig.audit.entries.map(\.request.purpose) == purposes)
            }
        }
    }

    @Test("long lines that are received in turns are answered, and other clients in between")
    func longLinesInTurns() async throws {
        let limits = ConnectionLimits.with { $0.lineBytesAtOnce = 10 }
        try await TestServer.run(limits: limits) { rig in
            try await onThread {
                let clients = try (0..<8).map { _ in try rig.dial() }
                let line = RawClient.request("agent.ping", ["x": .string(String(repeating: "x", count: 5000))])
                let pieces = stride(from: 0, to: line.count, by: 700).map { String(line.dropFirst($0).prefix(700)) }
                for piece in pieces.dropLast() {
                    for client in clients { try client.send(piece) }
                    let other = try rig.dial()
                    #expect(try other.ask("agent.ping")["result"] != nil)
                }
                for (index, client) in clients.enumerated() {
                    try client.send(pieces[pieces.count - 1] + RawClient.request("agent.ping", id: 9))
                    if index % 2 == 0 { client.endWriting() }
                }
                for client in clients {
                    #expect(try client.json()["result"] != nil)
                    #expect(try client.json()["id"] == 9)
                }
            }
        }
    }
}
