import Foundation
import TestSupport
import Testing

@Suite("Restarts of a busy agent", .serialized, .timeLimit(.minutes(5)))
struct RestartLoadTests {
    private struct Seen: Decodable {
        let requests: Int
        let offered: Int
        let perSecond: Int
        let during: [Int]
        let retries: Int
        let refused: [[String]]
        let tokens: Int
    }

    @Test("1,000 requests per second need no more than one retry each, and get the same token")
    func load() async throws {
        try await BootedMachine.play { machine in
            try await machine.signIn()
            let script = try String(
                contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(path: "restart-load.py"),
                encoding: .utf8)
            try await machine.write(script, to: "load.py")
            let output = try await machine.person(
                "python3", "/people/ada/load.py", "/run/user/1000/authd/socket", "5", "authd.service")
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            let seen = try decoder.decode(Seen.self, from: Data(output.utf8))
            // The schedule is the same on a slow machine. All requests that were due have been sent and answered.
            #expect(seen.perSecond == 1000 && seen.requests == seen.offered, "\(output)")
            #expect(seen.requests >= 6000, "\(output)")
            #expect(seen.during.count == 5 && seen.during.allSatisfy { $0 > 0 }, "\(output)")
            #expect(seen.refused.isEmpty, "\(output)")
            // Each restart ends 50 connections, all of which are used again, so that this is tried at all.
            #expect(seen.retries >= 250, "\(output)")
            #expect(seen.tokens == 1, "\(output)")
            print("restarts under load: \(output)", terminator: "")
        }
    }
}
