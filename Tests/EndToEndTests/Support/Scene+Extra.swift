import Foundation
import StandInBackends
import TestSupport
import Testing

extension Scene {
    /// Two sessions, and an extra socket that gives one of them, without its token.
    static func playExtra(_ test: @escaping @Sendable (Scene) async throws -> Void) async throws {
        try await play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            #expect(try await scene.login(.envelope).status == 0)
            _ = try await scene.openExtra(
                "sessions = [\"app-template\"]\nclasses = [\"status\", \"act\"]\nendpoints = [\"users\"]")
            try await test(scene)
        }
    }

    /// Has the agent open its extra socket with these rules.
    /// - Returns: its path.
    func openExtra(_ rules: String) async throws -> String {
        let file = desktop.folder.path + "/config/authd/authd.toml"
        let before = try String(contentsOfFile: file, encoding: .utf8).split(separator: "# extra\n").last ?? ""
        _ = try desktop.folder.write(
            "[listener.extra]\nlisten = true\n\(rules)\n# extra\n" + before, to: "config/authd/authd.toml")
        let reload = try await agent.authc("reload")
        guard reload.status == 0 else { throw Failure(reload.err) }
        return desktop.folder.path + "/run/authd-extra/socket"
    }
}
