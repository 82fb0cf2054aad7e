import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// A provider that sends its people back by a scheme of our own (RFC 8252 §7.1): the real programs, the desktop's own
/// `gio` and `xdg-open`, and a real Chromium.
@Suite("OAuth: back through a custom scheme", .serialized, .timeLimit(.minutes(2)))
struct OAuthSchemeTests {
    private static let scheme = "com.example.authd"
    private static let profile = "[oauth]\nredirect = \"\(scheme):/callback\""
    /// An entry of another program, and an unrelated line.
    private static let list = """
        # mine
        [Added Associations]
        text/plain=editor.desktop;

        [Default Applications]
        x-scheme-handler/mailto=mail.desktop;
        x-scheme-handler/\(scheme)=other.desktop;

        """

    private func play(_ test: @escaping @Sendable (Scene, OAuthStandIn, Handlers) async throws -> Void) async throws {
        try await OAuthScene.play(profile: Self.profile) { scene, server in
            let handlers = try Handlers(scene.desktop)
            try await test(scene, server, handlers)
        }
    }

    /// The user's applications.
    private struct Handlers: Sendable {
        let variables: [String: String]
        private let folder: String
        private let list: String

        init(_ desktop: Desktop) throws {
            let data = try desktop.folder.folder("data")
            variables = ["XDG_DATA_HOME": data]
            folder = data + "/applications"
            list = try desktop.folder.write(OAuthSchemeTests.list, to: "config/mimeapps.list")
        }

        var entries: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] }
        func applications() throws -> String { try String(contentsOfFile: list, encoding: .utf8) }
    }

    private func open(_ address: String, _ scene: Scene, _ handlers: Handlers) async throws -> Child.Output {
        try await scene.desktop.run(["gio", "open", address], with: handlers.variables)
    }

    @Test("from the first page to the last in a real Chromium, which has the desktop call us")
    func chromium() async throws {
        try await play { scene, server, handlers in
            let (login, url) = try await scene.beginInBrowser(with: handlers.variables)
            #expect(login.err.text.contains("let it"), "\(login.err.text)")
            let screen = handlers.variables.merging(["DISPLAY": ":0"]) { $1 }
            try await Chromium.running(
                in: scene.desktop, schemes: [server.issuer: Self.scheme], with: screen
            ) { browser in
                try await browser.open(url)
                try await browser.type("Jane", into: "#name")
                try await browser.click("#yes")
                let output = await login.output()
                #expect(output.status == 0, "\(output.err)")
            }
            #expect(try await scene.agent.status(OAuthScene.provider).user?.email == "janedoe@example.com")
            #expect(server.counts.codes == 1)
            #expect(try await scene.agent.authc("refresh").status == 0)
        }
    }

    @Test("the desktop has our handler only while a sign-in is in progress")
    func leavesNothing() async throws {
        try await play { scene, server, handlers in
            let (login, url) = try await scene.beginInBrowser(with: handlers.variables)
            #expect(handlers.entries == ["authd-\(Self.scheme).desktop"])
            let during = try handlers.applications()
            #expect(during.contains("/\(Self.scheme)=authd-\(Self.scheme).desktop;other.desktop;"), "\(during)")
            let address = try await scene.redirect(of: url)
            #expect(address.hasPrefix(Self.scheme + ":/callback?"))
            #expect(try await open(address, scene, handlers).status == 0)
            let output = await login.output()
            #expect(output.status == 0, "\(output.err)")
            #expect(try handlers.applications() == Self.list)
            #expect(handlers.entries.isEmpty)
            #expect(server.counts.codes == 1)
            // Ended by hand it is the same.
            let (second, _) = try await scene.beginInBrowser(["-s", "second"], with: handlers.variables)
            #expect(handlers.entries.count == 1)
            await second.end(SIGINT)
            #expect(try handlers.applications() == Self.list)
            #expect(handlers.entries.isEmpty)
        }
    }

    @Test("two at once share the desktop's entry, one that was killed leaves it to the next, and each gets its own")
    func two() async throws {
        try await play { scene, server, handlers in
            let (killed, _) = try await scene.beginInBrowser(["-s", "killed"], with: handlers.variables)
            await killed.end(SIGKILL)
            #expect(handlers.entries.count == 1)
            let (one, first) = try await scene.beginInBrowser(["-s", "one"], with: handlers.variables)
            // A path that has to be quoted for the desktop.
            let odd = scene.desktop.folder.path + #"/a "b' $c \d %u"#
            symlink(scene.desktop.folder.path + "/run/authd", odd)
            let (two, second) = try await scene.beginInBrowser(
                ["-s", "two", "--socket", odd + "/socket"], with: handlers.variables)
            #expect(try await open(scene.redirect(of: first), scene, handlers).status == 0)
            #expect(await one.ended() == 0)
            #expect(handlers.entries.count == 1)
            server.use(.init(subject: "2", name: "Mallory", email: "mallory@example.com"))
            #expect(try await open(scene.redirect(of: second), scene, handlers).status == 0)
            #expect(await two.ended() == 0)
            #expect(handlers.entries.isEmpty)
            #expect(try handlers.applications() == Self.list)
            #expect(try await scene.agent.status("one").user?.email == "janedoe@example.com")
            #expect(try await scene.agent.status("two").user?.email == "mallory@example.com")
        }
    }

    @Test("an address that no sign-in waits for does nothing: guessed, brought again, too long, or of another scheme")
    func strangers() async throws {
        try await play { scene, server, handlers in
            let guess = Self.scheme + ":/callback?code=guessed&state=guessed"
            let nobody = try await scene.authc(["redirect", guess])
            #expect(nobody.status == 65 && nobody.err.contains("does not belong to a sign-in"), "\(nobody.err)")
            let (login, url) = try await scene.beginInBrowser(with: handlers.variables)
            let address = try await scene.redirect(of: url)
            let elsewhere = "com.example.other:" + address.dropFirst(Self.scheme.count + 1)
            let long = address + "&a=" + String(repeating: "a", count: 100_000)
            for stray in [guess, elsewhere, long, "", address.replacing("/callback", with: "/call")] {
                let answer = try await scene.authc(["redirect"], input: stray)
                #expect([64, 65].contains(answer.status), "\(stray.prefix(80)): \(answer.err)")
            }
            #expect(try await scene.authc(["redirect", address]).status == 0)
            #expect(try await scene.authc(["redirect", address]).status == 65)
            #expect(await login.ended() == 0)
            #expect(try await scene.authc(["redirect"], input: address + "\n").status == 65)
            #expect(server.counts.codes == 1 && server.counts.codeReplays == 0)
        }
    }

    @Test("without a local browser the address is pasted, and a failing desktop ends the sign-in with a message")
    func elsewhere() async throws {
        try await play { scene, server, handlers in
            let terminal = try await scene.terminal("authc login \(OAuthScene.provider) --paste")
            await terminal.waits(for: "of the browser: ")
            let text = terminal.text.replacing("\r\n", with: "\n")
            let url = try #require(text.firstMatch(of: /browser: (\S+)/)?.1)
            terminal.type(try await scene.redirect(of: String(url)) + "\n")
            await terminal.waits(for: "exit ")
            await terminal.ends()
            #expect(terminal.text.contains("exit 0"), "\(terminal.text)")
            let nowhere = try await scene.desktop.run(
                [Programs.authc, "login", OAuthScene.provider, "--method", "browser"],
                with: ["XDG_DATA_HOME": "/proc/nowhere"])
            #expect(nowhere.status == 70 && nowhere.err.contains("--method device"), "\(nowhere.err)")
            #expect(handlers.entries.isEmpty)
        }
    }
}
