import Foundation
import StandInBackends
import TestSupport
import Testing

/// Settings and profiles that are changed while the agent runs.
@Suite("Settings read again", .timeLimit(.minutes(1)))
struct ReloadTests {
    @Test("doctor reports the changes and errors of a reload, and only reload applies them")
    func doctorAndReload() async throws {
        try await Scene.play { scene in
            let file = "config/authd/authd.toml"
            let settings = try String(contentsOfFile: scene.desktop.folder.path + "/" + file, encoding: .utf8)
            #expect(try await scene.doctor().contains("authd uses the current settings and profiles"))

            _ = try scene.desktop.folder.write("notifications = false\n" + settings, to: file)
            // Twice: looking changes nothing.
            #expect(try await scene.doctor().contains("notifications are no longer shown"))
            #expect(try await scene.doctor().contains("notifications are no longer shown"))
            let reloaded = try await scene.agent.authc("reload")
            #expect(reloaded.status == 0 && reloaded.err.contains("notifications are no longer shown"))
            #expect(try await scene.doctor().contains("authd uses the current settings and profiles"))

            _ = try scene.desktop.folder.write("notifications = 7\n" + settings, to: file)
            let broken = try await scene.agent.authc("doctor")
            #expect(broken.status == 78 && broken.out.contains("authd.toml:1"), "\(broken.out)")
            let refused = try await scene.agent.authc("reload")
            #expect(refused.status == 78 && refused.err.contains("authd.toml:1"), "\(refused.err)")
            // It goes on with what it has.
            #expect(try await scene.login(.appTemplate).status == 0)
        }
    }

    @Test("a profile that leads to another place gets no token before the user agrees; the former one reverses it")
    func movedProvider() async throws {
        try await Scene.play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            let token = try await scene.agent.authc("token").out
            let file = "config/authd/authd.toml"
            let settings = try String(contentsOfFile: scene.desktop.folder.path + "/" + file, encoding: .utf8)
            let place = scene.backends.url(.envelope)
            let origin = try #require(place.prefixMatch(of: /https?:\/\/[^\/]+/)).output
            let moved = settings.replacing(scene.backends.url(.appTemplate), with: place)
            _ = try scene.desktop.folder.write(moved, to: file)
            #expect(try await scene.agent.authc("reload").status == 0)
            for command in [["token"], ["refresh"], ["validate"], ["whoami", "--fresh"], ["request", "GET", "/me"]] {
                let refused = try await scene.authc(command)
                #expect(refused.status == 3 && refused.out.isEmpty, "\(command): \(refused)")
                #expect(refused.err.contains("authc trust -s app-template") && refused.err.contains(origin))
            }
            let asked = try await scene.agent.authc("trust", "--no-input")
            #expect(asked.status == 64 && asked.err.contains("--yes"), "\(asked)")

            _ = try scene.desktop.folder.write(settings, to: file)
            #expect(try await scene.agent.authc("reload").status == 0)
            #expect(try await scene.agent.authc("token").out == token)

            _ = try scene.desktop.folder.write(moved, to: file)
            try await scene.restart()
            #expect(try await scene.agent.authc("token").status == 3)
            let trusted = try await scene.agent.authc("trust", "--yes")
            #expect(trusted.status == 0 && trusted.out.contains("active"), "\(trusted)")
            #expect(try await scene.agent.authc("token").out == token)
        }
    }
}

extension Scene {
    fileprivate func doctor() async throws -> String { try await agent.authc("doctor").out }
}
