import Foundation
import TestSupport
import Testing

@Suite("Restarts of a busy agent", .serialized, .timeLimit(.minutes(5)))
struct RestartLoadTests {
    private struct Seen: Decodable {
        let requests: Int
        let retries: Int
        let refused: [[String]]
        let tokens: Int
    }

    @Test("clients that ask without a pause need no more than one retry, and get the same token")
    func load() async throws {
        try await BootedMachine.play { machine in
            try await machine.signIn()
            let script = try String(
                contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(path: "restart-load.py"),
                encoding: .utf8)
            try await machine.write(script, to: "load.py")
            let output = try await machine.person(
                "python3", "/people/ada/load.py", "/run/user/1000/authd/socket", "5", "authd.service")
            let seen = try JSONDecoder().decode(Seen.self, from: Data(output.utf8))
            #expect(seen.requests >= 6000, "\(output)")
            #expect(seen.refused.isEmpty, "\(output)")
            // Each restart ends connections, so that this is tried at all.
            #expect(seen.retries >= 5, "\(output)")
            #expect(seen.tokens == 1, "\(output)")
            print("restarts under load: \(output)", terminator: "")
        }
    }
}
