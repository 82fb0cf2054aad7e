import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// What is left of sessions that have gone.
@Suite("Sessions that were signed in and out", .serialized, .timeLimit(.minutes(10)))
struct GrowthTests {
    /// `make growth` signs in and out a thousand times.
    private static let count = ProcessInfo.processInfo.environment["GROWTH_SESSIONS"].flatMap { Int($0) } ?? 20

    @Test("leave no item, file, entry or count behind", arguments: ["secret-service", "sealed-file"])
    func nothingIsLeft(store: String) async throws {
        try await Scene.play(keyring: store == "secret-service") { scene in
            let key = try scene.desktop.folder.write("0123456789abcdef0123456789abcdef", to: "key")
            chmod(key, 0o600)
            try scene.prependSettings("sealed_key = \"\(key)\"\nsign_ins_per_hour = 100000\n")
            try await scene.restart(["--store", store])
            let (home, socket) = (scene.desktop.folder.path, scene.desktop.folder.path + "/run/authd/socket")
            var fresh: Set<String> = []
            // A file that is being replaced has a draft beside it for a moment.
            let isFresh = try await until {
                fresh = try await Self.left(in: scene)
                return !fresh.contains { $0.hasSuffix(".new") }
            }
            #expect(isFresh)
            let provider = Backend.appTemplate.rawValue
            try await onThread {
                let client = try RawClient(socket, timeout: 60)
                for number in 1...Self.count {
                    let session = JSON.string("s\(number)")
                    let step = try client.ask(
                        "login.start",
                        [
                            "provider": .string(provider), "environment": "local", "session": session,
                            "fields": ["email": "ada@example.org", "password": "Correct-horse1"],
                        ])
                    guard step["result"]?["kind"] == "done" else { throw Failure("sign-in \(number): \(step.text())") }
                    let out = try client.ask("session.logout", ["session": session])
                    guard out["result"]?["state"] == "signed_out" else { throw Failure("\(number): \(out.text())") }
                }
            }
            #expect(try await scene.desktop.keyringItems().isEmpty)
            var expected = fresh
            if store == "sealed-file" {
                expected.formUnion(["state/authd/sessions/key", "state/authd/sessions/index"])
            }
            // The prompt file is replaced after the response.
            let settled = try await until { try await Self.left(in: scene) == expected }
            let left = try await Self.left(in: scene)
            #expect(settled, "too many: \(left.subtracting(expected)); missing: \(expected.subtracting(left))")
            let stats = try await scene.ask("agent.stats", [:])
            #expect(stats["sessions"] == 0)
            #expect(try await SessionList(scene.agent.json("list")).sessions.isEmpty)
            let index = try? Data(contentsOf: URL(fileURLWithPath: home + "/state/authd/sessions/index"))
            #expect(index?.count ?? 0 < 128)
        }
    }

    /// Every file of the agent's.
    private static func left(in scene: Scene) async throws -> Set<String> {
        let root = scene.desktop.folder.path
        let all = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
        return Set(all.filter { $0.hasPrefix("run/authd/") || $0.hasPrefix("state/") })
    }
}
