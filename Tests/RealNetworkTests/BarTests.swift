import AuthWire
import Foundation
import TestSupport
import Testing

/// Promised numbers, measured with the real agent.
@Suite("Performance bars", .serialized, .timeLimit(.minutes(2)))
struct BarTests {
    @Test("100 callers around the expiry, each at a random instant within 50 ms, cause one call to the provider")
    func hundredCallers() async throws {
        try await NetworkLab.play { lab, _ in
            // Older than a new token, younger than one that the agent renews by itself.
            try lab.setLife(seconds: 4)
            #expect(try await lab.authc("refresh").status == 0)
            let first = try TokenResult(JSON(parsing: Array(try await lab.authc("token", "--json").out.utf8)))
            try lab.setLife(seconds: 3600)
            let expiry = try #require(first.expiresAt) - 2
            let answers = try await onThread { try Self.ask(lab.socket, 100, around: expiry) }
            let tokens = try answers.map { try #require($0["result"]?["access_token"]?.stringValue) }
            #expect(Set(tokens).count <= 2)
            #expect(tokens.count { $0 != first.accessToken } > 0)
            // The sign-in's own renewal above, and the one for all of them.
            #expect(lab.provider.out.text.split(separator: "POST /refresh").count - 1 == 2)
        }
    }

    /// Each with its own open connection, at instants of the wall clock.
    private static func ask(_ socket: String, _ count: Int, around instant: Double) throws -> [JSON] {
        let clients = try (0..<count).map { _ in try RawClient(socket) }
        let instants = (0..<count).map { _ in instant + Double.random(in: -0.025...0.025) }.sorted()
        for (client, instant) in zip(clients, instants) {
            while Date().timeIntervalSince1970 < instant { sched_yield() }
            try client.send(RawClient.request("token.get", ["min_valid_ms": 2000]))
        }
        return try clients.map { try $0.json() }
    }

    @Test("offline with an expired token, an hour of the agent costs less than 0.1 s")
    func offline() async throws {
        try await NetworkLab.play { lab, agent in
            try lab.setLife(seconds: 2)
            #expect(try await lab.authc("refresh").status == 0)
            let away = try await lab.watch()
            try await lab.onGateway("ip link set far down")
            #expect(await away.out.wait(for: #""state":"stale","cause":"offline""#))
            await away.end()
            let asked = lab.provider.out.text
            // It may have some work left first.
            var spent = try await Self.spent(by: agent.pid)
            for _ in 1...5 where spent.wakes > 0 { spent = try await Self.spent(by: agent.pid) }
            print("offline: \(spent.wakes) wake-ups and \(spent.running) of a processor in \(Self.window)")
            #expect(spent.wakes == 0)
            #expect(spent.running * (3600 / Double(Self.window.components.seconds)) < .milliseconds(100))
            #expect(lab.provider.out.text == asked)
        }
    }

    private static let window = Duration.seconds(2)

    /// How often the process's threads began to run within the window, and how long they ran (proc(5), schedstat).
    private static func spent(by pid: pid_t) async throws -> (wakes: Int, running: Duration) {
        let before = try threads(pid)
        // The window is the measurement; it does not wait for anything.
        _ = try await Child(["/bin/sleep", "\(window.components.seconds)"], environment: [:]).output()
        let after = try threads(pid)
        // A thread that has ended did run.
        var sum = (wakes: before.keys.count { after[$0] == nil }, running: Duration.zero)
        for (thread, now) in after {
            sum.wakes += now.wakes - (before[thread]?.wakes ?? 0)
            sum.running += now.running - (before[thread]?.running ?? .zero)
        }
        return sum
    }

    private static func threads(_ pid: pid_t) throws -> [String: (wakes: Int, running: Duration)] {
        var threads: [String: (wakes: Int, running: Duration)] = [:]
        for thread in try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task") {
            // The libdispatch of a debug build checks its workers once a second (Docs/decisions/idle.md).
            let name = try String(contentsOfFile: "/proc/\(pid)/task/\(thread)/comm", encoding: .utf8)
            if name.hasSuffix(".overcommit\n") { continue }
            let text = try String(contentsOfFile: "/proc/\(pid)/task/\(thread)/schedstat", encoding: .utf8)
            let numbers = text.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
            guard numbers.count == 3 else { throw Failure("schedstat: \(text)") }
            threads[thread] = (numbers[2], .nanoseconds(numbers[0]))
        }
        return threads
    }
}
