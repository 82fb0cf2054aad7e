import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// Real notification servers on a virtual screen, and clicks on what they show.
@Suite("Buttons of notifications", .serialized, .timeLimit(.minutes(3)))
struct NotificationButtonTests {
    /// A program that the desktop would open: it writes down what it was started with.
    private static func standIn(_ name: String, in scene: Scene) throws -> String {
        let folder = scene.desktop.folder
        let log = "\(folder.path)/\(name).log"
        let program = try folder.write(
            "#!/bin/sh\nprintf '%s\\n' \"$*\" >> '\(log)'\nenv > '\(log).env'\n", to: "bin/\(name)")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
        return log
    }

    private static func environment(_ scene: Scene, _ screen: NotificationScreen) -> [String: String] {
        [
            "DISPLAY": screen.display, "TERMINAL": "xterm",
            "PATH": "\(scene.desktop.folder.path)/bin:\(scene.desktop.environment["PATH"] ?? "")",
        ]
    }

    private static func text(_ file: String) -> String {
        (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
    }

    private static func watch(_ scene: Scene) async throws -> Child {
        let watch = try await Child([Programs.authc, "watch", "--json"], environment: scene.desktop.environment)
        #expect(await watch.out.wait(for: "snapshot"))
        return watch
    }

    private static func with(
        _ server: NotificationScreen.Server, _ scene: Scene,
        _ test: (NotificationScreen) async throws -> Void
    ) async throws {
        let screen = try await NotificationScreen(server, on: scene.desktop)
        let result: Result<Void, any Error>
        do {
            result = .success(try await test(screen))
        } catch {
            result = .failure(error)
        }
        await screen.end()
        try result.get()
    }

    /// Ends the session, which a notification then reports.
    private static func endSession(_ scene: Scene, _ server: OAuthStandIn, _ watch: Child) async throws {
        server.setTokenLifetime(.seconds(2))
        #expect(try await scene.agent.authc("refresh").status == 0)
        server.setTokenLifetime(.seconds(3600))
        server.endSessions()
        #expect(await watch.out.wait(for: #""reason":"sign_in_required""#))
    }

    @Test(
        "a sign-in with the browser: a click opens it, and the result is a notification",
        arguments: NotificationScreen.Server.allCases)
    func browser(server: NotificationScreen.Server) async throws {
        try await OAuthScene.play { scene, provider in
            try await Self.with(server, scene) { screen in
                let log = try Self.standIn("xdg-open", in: scene)
                try await scene.restart(with: Self.environment(scene, screen))
                let (login, url) = try await scene.beginInBrowser()
                #expect(try await scene.consent(url).contains("Signed in to"))
                #expect(await login.ended() == 0)
                let watch = try await Self.watch(scene)
                try await Self.endSession(scene, provider, watch)
                // Nothing opens by itself.
                #expect(Self.text(log).isEmpty)
                try await screen.clickNotification()
                #expect(try await until(2000) { Self.text(log).hasSuffix("\n") }, "\(watch.out.text)")
                let opened = Self.text(log).split(separator: "\n")
                try #require(opened.count == 1, "\(opened)")
                #expect(try await scene.consent(String(opened[0])).contains("Signed in to"))
                #expect(await watch.out.wait(for: #""reason":"signed_in""#))
                #expect(try await scene.agent.status(OAuthScene.provider).state == .active)
                // Withdrawn after ten seconds, unless the server did that before.
                #expect(await watch.out.wait(for: #""event":"withdrawn""#))
                #expect(watch.out.text.split(separator: #""event":"chosen""#).count == 2, "\(watch.out.text)")
                let environment = Self.text(log + ".env")
                #expect(environment.contains("DISPLAY=\(screen.display)\n"))
                for name in ["AUTHD_", "NOTIFY_SOCKET", "LISTEN_"] { #expect(!environment.contains("\n" + name)) }
                await watch.end()
            }
        }
    }

    @Test("a sign-in with the browser that fails is reported, and the next click opens a terminal for it")
    func failure() async throws {
        try await OAuthScene.play { scene, provider in
            try await Self.with(.dunst, scene) { screen in
                let log = try Self.standIn("xdg-open", in: scene)
                let terminal = try Self.standIn("my-terminal", in: scene)
                var environment = Self.environment(scene, screen)
                environment["TERMINAL"] = "my-terminal"
                try await scene.restart(with: environment)
                let (login, url) = try await scene.beginInBrowser()
                #expect(try await scene.consent(url).contains("Signed in to"))
                #expect(await login.ended() == 0)
                let watch = try await Self.watch(scene)
                try await Self.endSession(scene, provider, watch)
                provider.misbehave(.denies, times: 1)
                try await screen.clickNotification()
                #expect(try await until(2000) { Self.text(log).hasSuffix("\n") })
                _ = try await scene.consent(Self.text(log).trimmingCharacters(in: .newlines))
                #expect(await watch.out.wait(for: #""reason":"sign_in_failed""#))
                #expect(
                    try await until(2000) {
                        try await screen.clickNotification()
                        return Self.text(terminal).hasSuffix("\n")
                    })
                let words = Self.text(terminal)
                #expect(words.hasPrefix("-e ") && words.contains(" terminal --inside "), "\(words)")
                #expect(words.hasSuffix(" -- login \(OAuthScene.provider) -s \(OAuthScene.provider)\n"), "\(words)")
                await watch.end()
            }
        }
    }

    @Test("a locked keyring: a click makes it ask, and nothing opens")
    func keyring() async throws {
        try await Scene.play { scene in
            try await Self.with(.dunst, scene) { screen in
                let log = try Self.standIn("xterm", in: scene)
                _ = try await scene.login(.appTemplate)
                try await scene.desktop.lockKeyring()
                try await scene.restart(with: Self.environment(scene, screen))
                let watch = try await Self.watch(scene)
                #expect(try await scene.authc(["token", "--timeout", "1s"]).status == 4)
                #expect(await watch.out.wait(for: #""reason":"keyring_locked""#))
                try await screen.clickNotification()
                #expect(await watch.out.wait(for: #""event":"chosen""#))
                let keyring = try await scene.desktop.unlockKeyring()
                #expect(await watch.out.wait(for: #""event":"withdrawn""#))
                #expect(Self.text(log).isEmpty)
                await watch.end()
                await keyring.end()
            }
        }
    }
}
