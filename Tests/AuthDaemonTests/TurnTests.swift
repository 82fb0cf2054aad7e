import AuthModel
import AuthWire
import Dispatch
import Synchronization
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

    @Test("responses that wait for one client are not mixed with those of others, who are answered meanwhile")
    func waitingResponses() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let clients = try (0..<3).map { _ in try rig.dial() }
                // More responses than the sockets accept while nobody reads.
                for id in 1...200 {
                    let line = RawClient.request("session.list", id: .integer(Int64(id)))
                    for client in clients { try client.send(line) }
                }
                let reader = try rig.dial()
                for id in 1...20 {
                    #expect(try reader.ask("token.get", id: .integer(Int64(id)))["id"] == .integer(Int64(id)))
                }
                for client in clients {
                    for id in 1...200 {
                        let answer = try client.json()
                        #expect(answer["id"] == .integer(Int64(id)) && answer["result"]?["sessions"] != nil)
                    }
                }
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

    @Test(
        "all requests without responses are carried out if the client closes at once, in however many turns",
        arguments: [false, true])
    func closesAtOnce(inBatch: Bool) async throws {
        let limits = ConnectionLimits.with { $0.turnTime = .zero }
        try await TestServer.run(limits: limits) { rig in
            try await onThread {
                // Without responses: to write one would fail, and end the connection.
                // So few that no other thread parses a batch of them: such a line is dropped when its client has gone.
                let purposes = (0..<20).map { "\($0)" }
                try rig.dial().send(inBatch ? Self.batch(purposes, id: nil) : Self.requests(purposes, id: nil).joined())
                // Its own requests are not in the audit log.
                let other = try rig.dial()
                try BadClientTests.until(other) { rig.audit.entries.count >= purposes.count }
                #expect(rig.audit.entries.map(\.request.purpose) == purposes)
            }
        }
    }

    @Test("the requests of a batch take turns with those of other clients, and the lines after it are answered later")
    func batches() async throws {
        let limits = ConnectionLimits.with { $0.turnTime = .zero }
        try await TestServer.run(limits: limits) { rig in
            try await onThread {
                let clients = try ["a", "b"].map { (try rig.dial(), name: $0) }
                // Both batches are there before the first is read.
                let isSent = DispatchSemaphore(value: 0)
                rig.executor.perform { isSent.wait() }
                for (client, name) in clients {
                    try client.send(Self.batch((0..<20).map { "\(name)\($0)" }) + Self.requests(["\(name)20"]).joined())
                }
                isSent.signal()
                for (client, _) in clients {
                    #expect(try client.json().arrayValue?.count == 20)
                    #expect(try client.json()["result"] != nil)
                }
                let purposes = rig.audit.entries.compactMap(\.request.purpose)
                for (_, name) in clients {
                    #expect(purposes.filter { $0.hasPrefix(name) } == (0...20).map { "\(name)\($0)" })
                }
                #expect(purposes.firstIndex(of: "a0")! < purposes.firstIndex(of: "b19")!)
                #expect(purposes.firstIndex(of: "b0")! < purposes.firstIndex(of: "a19")!)
            }
        }
    }

    @Test("the next long line is parsed when all requests of a long batch have begun")
    func longBatches() async throws {
        let limits = ConnectionLimits.with { limits in
            limits.turnTime = .zero
            limits.lineValuesOnLoop = 10
        }
        // When both are sent, and how many requests are recorded when each is parsed.
        let (sent, counts) = (Signal<AuditLog>(), AsyncStream<Int>.makeStream())
        try await TestServer.run(
            limits: limits,
            parse: { line, values in
                counts.continuation.yield(await sent.value().entries.count)
                return await LongLine.parseJSON(line, values)
            }
        ) { rig in
            try await onThread {
                let clients = [try rig.dial(), try rig.dial()]
                for (index, client) in clients.enumerated() {
                    try client.send(Self.batch((0..<50).map { "\(index) \($0)" }))
                }
                rig.turn()
                sent.send(rig.audit)
                for client in clients { #expect(try client.json().arrayValue?.count == 50) }
            }
        }
        counts.continuation.finish()
        #expect(await counts.stream.reduce(into: []) { $0.append($1) } == [0, 50])
    }

    @Test("a long batch, for which the long lines of others wait, does not wait for all connections of its process")
    func longBatchInCrowd() async throws {
        let limits = ConnectionLimits.with { limits in
            (limits.turnTime, limits.lineBytesOnLoop, limits.lineValuesOnLoop) = (.zero, 8 << 10, 10_000)
        }
        try await TestServer.run(limits: limits) { rig in
            try await onThread {
                // All requests fit in the audit log, which has 768 entries for clients that are not confined.
                let (client, crowd) = (try rig.dial(), try (0..<12).map { _ in try rig.dial() })
                let isSent = DispatchSemaphore(value: 0)
                rig.executor.perform { isSent.wait() }
                try client.send(Self.batch((0..<128).map { "long \($0)" }))
                for (index, other) in crowd.enumerated() {
                    try other.send(Self.batch((0..<50).map { "short \(index) \($0)" }))
                }
                isSent.signal()
                #expect(try client.json().arrayValue?.count == 128)
                for other in crowd { #expect(try other.json().arrayValue?.count == 50) }
                let purposes = rig.audit.entries.compactMap(\.request.purpose)
                let first = try #require(purposes.firstIndex(of: "long 0"))
                let last = try #require(purposes.firstIndex(of: "long 127"))
                // About as many as the batch has. With one turn for each connection, there would be 12 times as many.
                let others = purposes[first...last].count { $0.hasPrefix("short") }
                #expect(others < 300)
            }
        }
    }

    @Test("the requests of a batch that have not begun count, however short their line is")
    func shortBatch() async throws {
        try await TestServer.run(limits: .with { $0.turnTime = .zero }) { rig in
            try await onThread {
                let seen = Mutex((mostBytes: 0, isAnswered: false))
                // In each turn of the loop.
                @Sendable func look() {
                    let isAnswered = seen.withLock { seen in
                        seen.mostBytes = max(seen.mostBytes, rig.counters.unreadBytes)
                        return seen.isAnswered
                    }
                    if !isAnswered { rig.executor.perform(look) }
                }
                rig.executor.perform(look)
                let client = try rig.dial()
                try client.send("[" + Array(repeating: "1", count: 128).joined(separator: ",") + "]\n")
                #expect(try client.json().arrayValue?.count == 128)
                seen.withLock { $0.isAnswered = true }
                rig.turn()
                #expect(seen.withLock { $0.mostBytes } > 128 * 64)
                #expect(rig.counters.unreadBytes == 0)
            }
        }
    }

    @Test("a request of a long batch counts with its own bytes, however few the others have")
    func unevenBatch() async throws {
        let limits = ConnectionLimits.with { $0.longRequestsPerProcess = 200_000 }
        try await TestServer.run(limits: limits) { rig in
            try await onThread {
                let (client, other) = (try rig.dial(), try rig.dial())
                let padding = JSON.string(String(repeating: "x", count: 120_000))
                let long = RawClient.request(
                    "session.wait", ["session": "nobody", "until": "active", "padding": padding], id: "long")
                let short = String(repeating: "," + RawClient.request("agent.ping").dropLast(), count: 20)
                try client.send("[" + long.dropLast() + short + "]\n")
                try BadClientTests.until(other) { rig.counters.waiting == 1 }
                try other.send(long)
                #expect(try other.json().errorKind == "busy")
                // The others have few, and theirs are free again.
                try other.send("[" + RawClient.request("agent.ping", ["padding": padding]).dropLast() + short + "]\n")
                #expect(try other.json().arrayValue?.count == 21)
            }
        }
    }

    @Test("a batch whose requests have begun is answered as a whole when the agent stops")
    func stopping() async throws {
        let limits = ConnectionLimits.with { $0.turnTime = .zero }
        try await TestServer.run(limits: limits) { rig in
            try await onThread {
                let (client, other) = (try rig.dial(), try rig.dial())
                try client.send(Self.batch((0..<128).map { "\($0)" }))
                try BadClientTests.until(other) { !rig.audit.entries.isEmpty }
                Task { await rig.stop() }
                #expect(try client.json().arrayValue?.count == 128)
                #expect(try client.line() == nil)
            }
        }
    }

    /// A request for a token for each purpose.
    private static func requests(_ purposes: [String], id: JSON? = 1) -> [String] {
        purposes.map { RawClient.request("token.get", ["purpose": .string($0)], id: id) }
    }

    static func batch(_ purposes: [String], id: JSON? = 1) -> String {
        "[" + requests(purposes, id: id).map { $0.dropLast() }.joined(separator: ",") + "]\n"
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
