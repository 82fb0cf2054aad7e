import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// dunst, a notification server of desktops, on a virtual screen. The user clicks with xdotool.
@Suite("Notifications of a real server", .serialized, .timeLimit(.minutes(2)))
struct NoticeButtonTests {
    /// xterm, with a record of what it shows in the file. Its programs end by themselves, too, if the test does not get
    /// that far.
    private func terminal(of scene: Scene, recording log: String) throws -> String {
        let terminal = try scene.desktop.folder.write(
            "#!/bin/sh\nshift\nexec xterm -e timeout --foreground 110 script -qfec \"$*\" '\(log)'\n", to: "terminal")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: terminal)
        return terminal
    }

    private static func text(of log: String) -> String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }

    /// The window stays open until the user has read it.
    private func closeTerminal(on screen: VirtualScreen) async throws {
        let window = try #require(try await screen.window("--class", "XTerm"))
        _ = try await screen.run(["xdotool", "windowfocus", "--sync", window, "key", "Return"])
        #expect(try await until { try await screen.window("--class", "XTerm") == nil })
    }

    @Test("a click on that of an ended session opens a terminal, where the user signs in; then it is withdrawn")
    func signIn() async throws {
        try await Scene.play(tokenSeconds: 4) { scene in
            let screen = try await NotificationScreen(on: scene.desktop)
            let log = scene.desktop.folder.path + "/terminal.log"
            let terminal = try terminal(of: scene, recording: log)
            try await scene.restart(with: ["DISPLAY": screen.screen.display, "TERMINAL": terminal])
            // Nothing renews it.
            #expect(try await scene.login(.anonymousWall).status == 0)
            #expect(try await scene.authc(["wait", "--until", "signed_out", "--timeout", "60s"]).status == 0)
            #expect(await screen.shown.wait(for: "summary: 'Sign in to anonymous-wall again'"))
            #expect(screen.shown.text.contains("authc login anonymous-wall -s anonymous-wall"), "\(screen.shown.text)")
            #expect(screen.shown.text.contains("\"sign-in\": \"Sign in\""), "\(screen.shown.text)")
            #expect(screen.shown.text.contains("desktop_entry: 'org.authd.agent'"), "\(screen.shown.text)")
            await scene.backends.setTokenLifetime(.seconds(3600), at: .anonymousWall)

            try await screen.click()
            for (prompt, answer) in [("E-mail: ", "ada@example.org"), ("Password: ", "Correct-horse1")] {
                let isAsked = try await until {
                    _ = try await scene.authc(["version"])
                    return Self.text(of: log).contains(prompt)
                }
                try #require(isAsked, "\(Self.text(of: log))")
                let window = try #require(try await screen.screen.window("--class", "XTerm"))
                let typed = try await screen.screen.run([
                    "xdotool", "windowfocus", "--sync", window, "type", answer + "\n",
                ])
                #expect(typed.status == 0, "\(typed)")
            }
            #expect(try await scene.authc(["wait", "--timeout", "30s"]).status == 0, "\(Self.text(of: log))")
            #expect(try await scene.authc(["token"]).status == 0)
            #expect(try await until { try await screen.count() == 0 })
            try await closeTerminal(on: screen.screen)
            await screen.end()
        }
    }

    @Test("after a sign-in with the browser, a click opens the browser, not a terminal, and the result is shown")
    func signInWithBrowser() async throws {
        try await OAuthScene.play { scene, server in
            let screen = try await NotificationScreen(on: scene.desktop)
            // The program that opens the user's browser.
            let addresses = scene.desktop.folder.path + "/addresses"
            let opener = try scene.desktop.folder.write(
                "#!/bin/sh\nprintf '%s\\n' \"$1\" >>'\(addresses)'\n", to: "programs/xdg-open")
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: opener)
            let path = scene.desktop.folder.path + "/programs:" + (scene.desktop.environment["PATH"] ?? "")
            try await scene.restart(with: ["DISPLAY": screen.screen.display, "PATH": path])
            server.setTokenLifetime(.seconds(3))
            let (login, url) = try await scene.beginInBrowser()
            _ = try await scene.consent(url)
            #expect(await login.ended() == 0)
            server.endSessions()
            server.setTokenLifetime(.seconds(3600))
            #expect(await screen.shown.wait(for: "summary: 'Sign in to \(OAuthScene.provider) again'"))

            try await screen.click()
            let isOpened = try await until {
                _ = try await scene.authc(["version"])
                return Self.text(of: addresses).hasSuffix("\n")
            }
            try #require(isOpened)
            let opened = Self.text(of: addresses).split(separator: "\n")
            try #require(opened.count == 1, "\(opened)")
            #expect(try await scene.consent(String(opened[0])).contains("Signed in to"))
            #expect(await screen.shown.wait(for: "summary: 'Signed in to \(OAuthScene.provider)'"))
            #expect(try await scene.authc(["token"]).status == 0)
            #expect(try await screen.screen.window("--class", "XTerm") == nil)
            await screen.end()
        }
    }

    @Test("the action of that of a locked keyring has the keyring ask; a click while nothing is shown does nothing")
    func unlock() async throws {
        try await Scene.play { scene in
            let screen = try await NotificationScreen(on: scene.desktop)
            #expect(try await scene.login(.appTemplate).status == 0)
            try await scene.agent.child.end()
            let person = try await Person(on: scene.desktop)
            let keyring = try await scene.desktop.startKeyring(replacing: true, before: person)
            try await scene.desktop.lockKeyring()
            await person.will(.cancel)
            try await scene.startAgent(with: ["DISPLAY": screen.screen.display])
            #expect(try await until { try await scene.ask("agent.info", [:])["store"]?["state"] == "denied" })
            #expect(try await screen.count() == 0)
            #expect(try await scene.authc(["token", "-s", "app-template"]).status == 4)
            #expect(await screen.shown.wait(for: "summary: "))
            #expect(screen.shown.text.contains("keyring"), "\(screen.shown.text)")

            await person.will(.type(Desktop.keyringPassword))
            #expect(try await screen.screen.run(["dunstctl", "action", "0"]).status == 0)
            #expect(try await scene.authc(["wait", "-s", "app-template", "--timeout", "30s"]).status == 0)
            #expect(try await scene.authc(["token"]).status == 0)
            #expect(await person.isDone())
            #expect(try await until { try await screen.count() == 0 })
            await keyring.end()
            await person.end()
            await screen.end()
        }
    }

    @Test("a click on the notice of a session not renewed for ten minutes renews it, and withdraws the notice")
    func tryNow() async throws {
        let clock = try await WrongClock()
        let (backend, asleep) = (Backend.forkInTheRoad, 2 * 3600)
        try await Scene.play { scene in
            let screen = try await NotificationScreen(on: scene.desktop)
            try await scene.restart(with: clock.environment.merging(["DISPLAY": screen.screen.display]) { $1 })
            #expect(try await scene.login(backend).status == 0)
            let watch = try await Child(
                [Programs.authc, "watch", "--json"], environment: scene.desktop.environment)
            #expect(await watch.out.wait(for: "snapshot"))
            // The agent's clocks advance, and the backend's does not: the token has expired only for the agent.
            await scene.backends.misbehave(backend, Misbehaviour(path: "/api/auth/refresh", .status(503)))
            let agent = try scene.agent.child
            try await clock.sleep([agent], seconds: asleep)
            #expect(await watch.out.wait(for: "\"cause\":\"provider_error\""))
            #expect(try await screen.count() == 0, "\(screen.shown.text)")
            try await clock.sleep([agent], seconds: asleep + 601)
            #expect(
                await screen.shown.wait(for: "summary: 'fork-in-the-road has not renewed a session for 10 minutes'"))
            #expect(screen.shown.text.contains("\"try-now\": \"Try now\""), "\(screen.shown.text)")
            // The agent's own next attempt must not come before the click. Each failure postpones it.
            let isFar = try await until {
                #expect(try await scene.authc(["refresh"]).status == 75)
                let next = try await scene.agent.status(backend.rawValue).refreshAt ?? 0
                return next - Date().timeIntervalSince1970 - Double(asleep + 601) > 90
            }
            try #require(isFar)

            scene.backends.clear(backend)
            let renewals = scene.backends.counts[backend, "POST /api/auth/refresh"]
            try await screen.click()
            #expect(try await scene.authc(["wait", "--timeout", "30s"]).status == 0)
            #expect(scene.backends.counts[backend, "POST /api/auth/refresh"] == renewals + 1)
            #expect(try await until { try await screen.count() == 0 })
            #expect(await watch.out.wait(for: "\"event\":\"withdrawn\""))
            let seen = watch.out.text.split(separator: "\n").compactMap { try? JSON(parsing: String($0)) }
                .filter { $0["topic"] == "notice" }.map { $0["event"]?.stringValue }
            #expect(seen == ["shown", "chosen", "withdrawn"], "\(watch.out.text)")
            #expect(try await scene.authc(["token"]).status == 0)
            await watch.end()
            await screen.end()
        }
    }

    @Test("a click on the notice of a session that ends within a week opens a terminal for a new sign-in")
    func signInBeforeTheEnd() async throws {
        let day = 86_400
        let clock = try await WrongClock()
        try clock.set(seconds: -20 * day)
        try await OAuthScene.play { scene, server in
            let screen = try await NotificationScreen(on: scene.desktop)
            let log = scene.desktop.folder.path + "/terminal.log"
            let terminal = try terminal(of: scene, recording: log)
            server.setRefreshLifetime(.seconds(25 * day))
            server.misbehave(.noIDToken)
            let variables = ["DISPLAY": screen.screen.display, "TERMINAL": terminal]
            try await scene.restart(with: clock.environment.merging(variables) { $1 })
            #expect(try await scene.loginByDevice(server).status == 0)
            server.setRefreshLifetime(.seconds(5 * day))
            try clock.set(seconds: 0)
            #expect(try await scene.authc(["refresh"]).status == 0)
            let title = "summary: 'Sign in to \(OAuthScene.provider) within 7 days'"
            #expect(await screen.shown.wait(for: title))
            #expect(screen.shown.text.contains("\"sign-in\": \"Sign in\""), "\(screen.shown.text)")

            server.setRefreshLifetime(.seconds(25 * day))
            try await screen.click()
            // The method of the former sign-in: the code is entered on another device.
            var code: String?
            let isShown = try await until {
                _ = try await scene.authc(["version"])
                code = Self.text(of: log).firstMatch(of: /code:\s+([A-Z]{4}-[A-Z]{4})/).map { String($0.1) }
                return code != nil
            }
            try #require(isShown, "\(Self.text(of: log))")
            try server.decide(userCode: try #require(code), approve: true)
            let isDone = try await until {
                _ = try await scene.authc(["version"])
                return Self.text(of: log).contains("Press Enter to close this window.")
            }
            try #require(isDone, "\(Self.text(of: log))")
            #expect(try await until { try await screen.count() == 0 })
            let status = try await scene.agent.status(OAuthScene.provider)
            #expect(status.state == .active && !status.isEndFixed)
            let end = try #require(status.endsAt)
            #expect(end > Date().timeIntervalSince1970 + Double(20 * day), "\(status)")
            try await closeTerminal(on: screen.screen)
            #expect(screen.shown.text.split(separator: title).count == 2, "\(screen.shown.text)")
            await screen.end()
        }
    }

    @Test("the end of a refresh token is on the screen 7 days before it, and again a day before it, once each")
    func sessionEnd() async throws {
        let (hour, day) = (3600, 86_400)
        let clock = try await WrongClock()
        try clock.set(seconds: -20 * day)
        try await OAuthScene.play { scene, server in
            let screen = try await NotificationScreen(on: scene.desktop)
            server.setRefreshLifetime(.seconds(25 * day))
            server.misbehave(.noIDToken)
            try await scene.restart(with: clock.environment.merging(["DISPLAY": screen.screen.display]) { $1 })
            #expect(try await scene.loginByDevice(server).status == 0)
            let watch = try await Child(
                [Programs.authc, "watch", "--json"], environment: scene.desktop.environment)
            #expect(await watch.out.wait(for: "snapshot"))
            // Renewals do not move the end, which is 25 days after the sign-in. The second one, a moment later, does not change
            // what is known of it.
            func renew(_ left: Int, at now: Int) async throws {
                server.setRefreshLifetime(.seconds(left))
                try clock.set(seconds: now)
                for _ in 1...2 {
                    #expect(try await scene.authc(["refresh"]).status == 0)
                    #expect(try await scene.agent.status(OAuthScene.provider).isEndFixed)
                }
            }
            try await renew(8 * day, at: -3 * day)
            var notices: [[String?]] = []
            let titles = ["7 days", "a day"].map { "summary: 'Sign in to \(OAuthScene.provider) within \($0)'" }
            for (now, left, reason, title) in [
                (0, 5 * day, "ends_within_week", titles[0]), (108 * hour, 12 * hour, "ends_within_day", titles[1]),
            ] {
                #expect(!screen.shown.text.contains(title), "\(screen.shown.text)")
                #expect(!watch.out.text.contains(reason), "\(watch.out.text)")
                try await renew(left, at: now)
                #expect(await watch.out.wait(for: "\"reason\":\"\(reason)\""))
                #expect(await screen.shown.wait(for: title))
                notices.append(["shown", reason])
            }
            // Later events.
            #expect(try await scene.authc(["logout"]).status == 0)
            #expect(await watch.out.wait(for: "\"event\":\"signed_out\""))
            #expect(await watch.out.wait(for: "\"event\":\"withdrawn\""))
            let seen = watch.out.text.split(separator: "\n").compactMap { try? JSON(parsing: String($0)) }
                .filter { $0["topic"] == "notice" }
                .map { [$0["event"]?.stringValue, $0["notice"]?["reason"]?.stringValue] }
            // Neither of the two was withdrawn before the sign-out.
            #expect(seen == notices + [["withdrawn", "ends_within_day"]], "\(watch.out.text)")
            for title in titles {
                #expect(screen.shown.text.split(separator: title).count == 2, "\(screen.shown.text)")
            }
            await watch.end()
            await screen.end()
        }
    }
}
