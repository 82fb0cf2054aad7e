import AuthWire
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import AuthDaemon

@Suite("Limits for all clients together", .timeLimit(.minutes(1)))
struct CrowdTests {
    @Test("unread responses are limited, and a client that reads gets all its responses")
    func unreadAnswers() async throws {
        let limits = ConnectionLimits.with { limits in
            limits.unsent = BufferedBytes.Limits(perUser: 2 << 20, inAll: 4 << 20)
        }
        let most = limits.unsent.perUser + limits.batchAnswerBytes
        try await TestServer.run(limits: limits) { rig in
            try await onThread {
                let other = try rig.dial()
                var deaf: [RawClient] = []
                let batch = Self.batch(Array(repeating: "rpc.discover", count: 20))
                for _ in 1...48 {
                    let client = try rig.dial()
                    try client.send(batch)
                    deaf.append(client)
                    #expect(try other.ask("agent.ping")["result"] != nil)
                    #expect(rig.counters.unsentBytes <= most)
                    // More than one client may have, but read at once.
                    let answers = try other.ask("rpc.discover", id: "mine")
                    #expect(answers["id"] == "mine" && answers["result"] != nil)
                }
                #expect(rig.counters.refusals > 0)
                #expect(rig.counters.unsentBytes <= limits.unsent.perUser)
                deaf = []
                try BadClientTests.until(other) { rig.counters.connections == 1 }
                #expect(rig.counters.unsentBytes == 0)
            }
        }
    }

    @Test("incomplete lines are limited; the worst get an error, and a client with complete lines is served")
    func incompleteLines() async throws {
        let limits = ConnectionLimits.with { limits in
            limits.lines = BufferedBytes.Limits(perUser: 4 << 20, inAll: 8 << 20)
            limits.linger = .seconds(30)
        }
        let most = limits.lines.perUser + 2 * Limits.lineBytes
        try await TestServer.run(limits: limits) { rig in
            try await onThread {
                let other = try rig.dial()
                #expect(try other.ask("agent.ping")["result"] != nil)
                let half = [UInt8](repeating: UInt8(ascii: "x"), count: 700_000)
                var stalled: [RawClient] = []
                for _ in 1...20 {
                    let client = try rig.dial()
                    try client.send(half)
                    stalled.append(client)
                    #expect(try other.ask("agent.ping")["result"] != nil)
                    #expect(rig.counters.unreadBytes <= most)
                }
                try BadClientTests.until(other) { rig.counters.refusals > 0 }
                let long = RawClient.request("agent.ping", ["padding": .string(String(repeating: "x", count: 900_000))])
                try other.send(long)
                #expect(try other.json()["result"] != nil)
                // A closed client has got the reason.
                let responses = try stalled.compactMap { try $0.jsonAlready() }
                #expect(!responses.isEmpty)
                for answer in responses {
                    #expect(answer.errorKind == "busy", "\(answer.text())")
                    #expect(answer["id"] == .null)
                }
                stalled = []
                try BadClientTests.until(other) { rig.counters.connections == 1 }
                #expect(rig.counters.unreadBytes == 0)
            }
        }
    }

    @Test("a batch response has at most 4 MiB: a response that does not fit becomes an error")
    func largeBatch() async throws {
        let limits = ConnectionLimits.with { limits in
            limits.batchAnswerBytes = 200 << 10
        }
        try await TestServer.run(limits: limits) { rig in
            try await onThread {
                let client = try rig.dial()
                let methods = Array(repeating: "rpc.discover", count: 100) + ["agent.ping"]
                try client.send(Self.batch(methods))
                let line = try #require(try client.line())
                #expect(line.utf8.count <= limits.batchAnswerBytes)
                let answers = try #require(try JSON(parsing: line).arrayValue)
                #expect(answers.count == methods.count)
                #expect(answers.first?["result"]?["methods"] != nil)
                #expect(answers.contains { $0.errorKind == "too_large" && $0["id"] != .null })
                #expect(try client.ask("agent.ping")["result"] != nil)
            }
        }
    }

    @Test(
        "the connections of one user are limited across processes, and the total by descriptors"
    )
    func connections() async throws {
        for (limits, words) in [
            (ConnectionLimits.with { $0.connectionsPerUser = 3 }, "User"),
            (ConnectionLimits.with { $0.connectionsInAll = 3 }, "descriptor limit"),
        ] {
            try await TestServer.run(limits: limits) { rig in
                try await onThread {
                    let first = try rig.dial()
                    var others = [try rig.dial(), try rig.dial()]
                    for client in others { #expect(try client.ask("agent.ping")["result"] != nil) }
                    let refused = try rig.dial().json()
                    #expect(refused.errorKind == "busy")
                    #expect(refused["error"]?["message"]?.stringValue?.contains(words) == true)
                    #expect(refused["error"]?["data"]?["retry_after_ms"] == 1000)
                    others.removeLast()
                    try BadClientTests.until(first) { rig.counters.connections == 2 }
                    #expect(try rig.dial().ask("agent.ping")["result"] != nil)
                }
            }
        }
    }

    @Test("the programs of one unit have at most half of the connections of their user")
    func unitConnections() async throws {
        let limits = ConnectionLimits.with { ($0.connectionsPerUser, $0.connectionsBeforeUnits) = (8, 2) }
        let group = ControlGroup(try String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8))
        // A program that this one starts is in the same unit, if there is one.
        let sharesUnit = group?.unit != nil
        try await TestServer.run(limits: limits) { rig in
            let first = Held(try rig.dial())
            do {
                let others = try (1...3).map { _ in Held(try rig.dial()) }
                try await onThread {
                    for one in [first] + others { #expect(try one.client.ask("agent.ping")["result"] != nil) }
                    let refused = try rig.dial().json()
                    #expect(refused.errorKind == "busy")
                    #expect(refused["error"]?["message"]?.stringValue?.contains(" half of ") == true)
                    #expect(refused["error"]?["data"]?["retry_after_ms"] == 1000)
                }
                let answer = try await SenderTests.responses("token", rig.path)[0]
                #expect(answer.errorKind == (sharesUnit ? "busy" : nil), "\(answer.text())")
                withExtendedLifetime(others) {}
            }
            try await onThread {
                try BadClientTests.until(first.client) { rig.counters.connections == 1 }
                for one in try (1...3).map({ _ in try rig.dial() }) {
                    #expect(try one.ask("agent.ping")["result"] != nil)
                }
            }
        }
    }

    @Test("requests that wait are limited for a process and a user, and count until their connection ends")
    func waitingRequests() async throws {
        for (limits, words, affectsOthers) in [
            (ConnectionLimits.with { $0.requestsPerProcess = 6 }, "Process ", false),
            (ConnectionLimits.with { $0.requestsPerUser = 6 }, "User ", true),
        ] {
            try await TestServer.run(limits: limits) { rig in
                let other = Held(try rig.dial())
                do {
                    let crowd = [Held(try rig.dial()), Held(try rig.dial())]
                    try await onThread {
                        for one in crowd { for id in 1...3 { try one.client.send(BadClientTests.waiting(id)) } }
                        try BadClientTests.until(other.client) { rig.counters.waiting == 6 }
                        for one in crowd + [other] {
                            try one.client.send(BadClientTests.waiting(4))
                            let refused = try one.client.json()
                            #expect(refused.errorKind == "busy" && refused["id"] == 4, "\(refused.text())")
                            #expect(refused["error"]?["message"]?.stringValue?.hasPrefix(words) == true)
                            #expect(refused["error"]?["data"]?["retry_after_ms"] == 1000)
                        }
                        // What is in memory is answered.
                        #expect(try other.client.ask("token.get")["result"] != nil)
                    }
                    let answer = try await SenderTests.responses("wait", rig.path)[0]
                    #expect(answer.errorKind == (affectsOthers ? "busy" : "timeout"), "\(answer.text())")
                    withExtendedLifetime(crowd) {}
                }
                try await onThread {
                    try BadClientTests.until(other.client) { rig.counters.waiting == 0 }
                    for id in 1...6 { try other.client.send(BadClientTests.waiting(id)) }
                    #expect(try other.client.ask("agent.ping", id: "ping")["id"] == "ping")
                    #expect(rig.counters.waiting == 6)
                }
            }
        }
    }

    private static func batch(_ methods: [String], _ params: JSON = [:]) -> String {
        let requests = methods.enumerated().map { RawClient.request($1, params, id: .integer(Int64($0))).dropLast() }
        return "[" + requests.joined(separator: ",") + "]\n"
    }

    // MARK: Lines with many values

    @Test("a line of 65,536 values is accepted, one more is too large, and the connection stays open")
    func manyValues() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dial()
                // Besides the zeros: the request, its version, id and method, the params and the array.
                for (zeros, fits) in [(Limits.jsonValues - 6, true), (Limits.jsonValues - 5, false)] {
                    try client.send(RawClient.request("agent.ping", ["x": .array(Array(repeating: 0, count: zeros))]))
                    let answer = try client.json()
                    #expect((answer["result"] != nil) == fits)
                    #expect(fits || answer.errorKind == "too_large" && answer["id"] == .null)
                }
                #expect(try client.ask("agent.ping")["result"] != nil)
            }
        }
    }

    @Test(
        "a line over 64 KiB or with many values is parsed off the loop: others are served, and its client waits",
        arguments: [
            RawClient.request("agent.ping", ["x": .string(String(repeating: "x", count: 70_000))], id: "long"),
            RawClient.request("agent.ping", ["x": .array(Array(repeating: [:], count: 2000))], id: "long"),
            CrowdTests.batch(
                Array(repeating: "agent.ping", count: 128), ["x": .array(Array(repeating: [:], count: 10))]),
        ])
    func longLine(line: String) async throws {
        let gate = Gate()
        try await TestServer.run(parse: { line, values in
            await gate.pass()
            return await LongLine.parseJSON(line, values)
        }) { rig in
            try await onThread {
                let (client, second, other) = (try rig.dial(), try rig.dial(), try rig.dial())
                try client.send(line + RawClient.request("agent.ping", id: "next"))
                try BadClientTests.until(other) { gate.arrivals == 1 }
                // Another long line waits for the first one, and no further line of either client is read.
                try second.send(line + RawClient.request("agent.ping", id: "next"))
                for _ in 1...20 { #expect(try other.ask("agent.ping")["result"] != nil) }
                #expect(gate.arrivals == 1)
                gate.open()
                for client in [client, second] {
                    let answer = try client.json()
                    #expect(answer["id"] == "long" || answer.arrayValue?.count == 128)
                    #expect(try client.json()["id"] == "next")
                }
                #expect(gate.arrivals == 2)
            }
        }
    }

    @Test("requests of long lines in progress are limited, and release their bytes")
    func longRequests() async throws {
        let limits = ConnectionLimits.with { limits in
            limits.longRequestsPerProcess = 200_000
        }
        try await TestServer.run(limits: limits) { rig in
            try await onThread {
                let other = try rig.dial()
                var client: RawClient? = try rig.dial()
                let wait: JSON = [
                    "session": "nobody", "until": "active", "padding": .string(String(repeating: "x", count: 70_000)),
                ]
                let long = RawClient.request("session.wait", wait)
                for _ in 1...2 { try client?.send(long) }
                try BadClientTests.until(other) { rig.counters.waiting == 2 }
                let refused = try other.ask("session.wait", wait, id: "third")
                #expect(refused.errorKind == "busy" && refused["id"] == "third")
                // Short requests are not affected.
                try other.send(BadClientTests.waiting(4))
                try Self.pings(other) { rig.counters.waiting == 3 }
                client = nil
                try Self.pings(other) { rig.counters.waiting == 1 }
                try other.send(RawClient.request("session.wait", wait, id: "again"))
                try Self.pings(other) { rig.counters.waiting == 2 }
            }
        }
    }

    /// Runs turns of the agent's loop until the condition holds.
    static func pings(_ client: RawClient, _ condition: () -> Bool) throws {
        for _ in 0..<200_000 {
            guard !condition() else { return }
            #expect(try client.ask("agent.ping", id: "ping")["id"] == "ping")
        }
        #expect(condition())
    }

    @Test("a client that disconnects leaves nothing of a long line that was not parsed yet")
    func longLineOfNobody() async throws {
        let gate = Gate()
        try await TestServer.run(parse: { line, values in
            await gate.pass()
            return await LongLine.parseJSON(line, values)
        }) { rig in
            try await onThread {
                let other = try rig.dial()
                let long = RawClient.request("agent.ping", ["x": .string(String(repeating: "x", count: 70_000))])
                var gone: [RawClient] = []
                for _ in 1...3 {
                    gone.append(try rig.dial())
                    try gone.last?.send(long)
                }
                try BadClientTests.until(other) { gate.arrivals == 1 && rig.counters.unreadBytes > 140_000 }
                gone = []
                try BadClientTests.until(other) { rig.counters.connections == 1 }
                #expect(rig.counters.unreadBytes == 0)
                gate.open()
                try other.send(long)
                #expect(try other.json()["result"] != nil)
                #expect(gate.arrivals == 2)
            }
        }
    }

    @Test("the long line of a client that disconnects while its earlier lines wait is dropped")
    func longLineOfNobodyAfterOthers() async throws {
        let gate = Gate()
        let limits = ConnectionLimits.with { $0.turnTime = .zero }
        try await TestServer.run(
            limits: limits,
            parse: { line, values in
                await gate.pass()
                return await LongLine.parseJSON(line, values)
            }
        ) { rig in
            try await onThread {
                let (first, other) = (try rig.dial(), try rig.dial())
                let long = RawClient.request("agent.ping", ["x": .array(Array(repeating: 0, count: 1000))])
                try first.send(long)
                try BadClientTests.until(other) { gate.arrivals == 1 }
                // There are no responses: writing one would fail and end the connection.
                let silent = String(repeating: RawClient.request("agent.ping", id: nil), count: 200)
                for _ in 1...3 { try rig.dial().send(silent + long) }
                // This client is accepted after the others.
                let last = try rig.dial()
                #expect(try last.ask("agent.ping")["result"] != nil)
                try BadClientTests.until(other) { rig.counters.connections == 3 }
                #expect(rig.counters.unreadBytes == 0)
                gate.open()
                #expect(try first.json()["result"] != nil)
                try other.send(long)
                #expect(try other.json()["result"] != nil)
                #expect(gate.arrivals == 2)
            }
        }
    }
}

/// Tasks wait until it is opened.
private final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var arrivals = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }
    private let state = Mutex(State())

    /// How many tasks wait.
    var arrivals: Int { state.withLock { $0.arrivals } }

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                state.arrivals += 1
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            state.isOpen = true
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
