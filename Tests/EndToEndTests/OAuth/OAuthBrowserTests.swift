import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// Authorization code with PKCE: the real programs, and curl or a real Chromium as the user's browser.
@Suite("OAuth: in the browser", .serialized, .timeLimit(.minutes(3)))
struct OAuthBrowserTests {
    @Test("a sign-in from the first page to the last, in a real Chromium")
    func chromium() async throws {
        try await OAuthScene.play { scene, server in
            let (login, url) = try await scene.beginInBrowser()
            try await Chromium.running(in: scene.desktop) { browser in
                try await browser.open(url)
                try await browser.type("Jane", into: "#name")
                try await browser.click("#yes")
                #expect(try await browser.title() == "Signed in to Test server")
                #expect(try await browser.text().contains("You can close this window."))
                #expect(try await browser.scripts() == 0)
                #expect(try await browser.fetched() == 0)
            }
            let output = await login.output()
            #expect(output.status == 0, "\(output.err)")
            #expect(try await scene.agent.status(OAuthScene.provider).user?.email == "janedoe@example.com")
            #expect(server.counts.codes == 1)
            #expect(try await scene.agent.authc("refresh").status == 0)
            #expect(server.counts.refreshes == 1)
        }
    }

    @Test("the listener is closed after one response, and a second visit fails")
    func oneAnswer() async throws {
        try await OAuthScene.play { scene, server in
            let (login, url) = try await scene.beginInBrowser()
            let redirect = try await scene.redirect(of: url)
            let command = ["curl", "--silent", "--show-error", "--noproxy", "*", redirect]
            let first = try await scene.desktop.run(command)
            #expect(first.out.contains("Signed in to"), "\(first.out) \(first.err)")
            #expect(await login.ended() == 0)
            let second = try await scene.desktop.run(command)
            #expect(second.status == 7, "\(second.out)")
            #expect(server.counts.codes == 1)
            #expect(server.counts.codeReplays == 0)
        }
    }

    @Test("a visit with another state is refused, and the sign-in continues")
    func wrongState() async throws {
        try await OAuthScene.play { scene, _ in
            let (login, url) = try await scene.beginInBrowser()
            let redirect = try #require(url.firstMatch(of: /redirect_uri=([^&]+)/)?.1.removingPercentEncoding)
            let guess = try await scene.desktop.run([
                "curl", "--silent", "--noproxy", "*", redirect + "?code=guessed&state=guessed",
            ])
            #expect(guess.out.contains("Not from this sign-in"))
            #expect(try await scene.consent(url).contains("Signed in to"))
            #expect(await login.ended() == 0)
        }
    }

    @Test(
        "a mix-up, a response without a user and a refusal do not sign in, and the page says so",
        arguments: [
            (OAuthStandIn.Fault.mixUp, 76, "somebody-else.example"), (.omitsIssuer, 76, "names no issuer"),
            (.denies, 77, "refused"),
        ])
    func refused(fault: OAuthStandIn.Fault, status: Int32, words: String) async throws {
        try await OAuthScene.play { scene, server in
            server.misbehave(fault)
            let (login, url) = try await scene.beginInBrowser()
            let page = try await scene.consent(url)
            #expect(page.contains("Not signed in"), "\(page)")
            let output = await login.output()
            #expect(output.status == status, "\(output.err)")
            #expect(output.err.contains(words), "\(output.err)")
            #expect(server.counts.codes == 0)
            let sessions = try await SessionList(scene.agent.json("list")).sessions
            #expect(sessions.isEmpty)
        }
    }

    @Test("a client with a registered fixed port gets that port, even with the name localhost")
    func fixedPort() async throws {
        let port = try FreePort.find()
        let more = "[oauth]\nredirect = \"http://localhost:\(port)/signed-in\""
        try await OAuthScene.play(profile: more) { scene, _ in
            let (login, url) = try await scene.beginInBrowser()
            #expect(url.contains("localhost%3A\(port)%2Fsigned-in"), "\(url)")
            #expect(try await scene.consent(url).contains("Signed in to"))
            #expect(await login.ended() == 0)
        }
    }

    @Test("--paste finishes without a listener, and asks again for an invalid address")
    func paste() async throws {
        try await OAuthScene.play { scene, server in
            let terminal = try await scene.terminal("authc login \(OAuthScene.provider) --paste")
            await terminal.waits(for: "of the browser: ")
            let text = terminal.text.replacing("\r\n", with: "\n")
            let url = try #require(text.firstMatch(of: /browser: (\S+)/)?.1)
            terminal.mark()
            terminal.type("http://127.0.0.1/callback?code=a&state=b\n")
            await terminal.waits(for: "of the browser: ")
            #expect(terminal.text.contains("not the address"), "\(terminal.text)")
            terminal.type(try await scene.redirect(of: String(url)) + "\n")
            await terminal.waits(for: "exit ")
            await terminal.ends()
            #expect(terminal.text.contains("exit 0"), "\(terminal.text)")
            #expect(server.counts.codes == 1)
        }
    }

    @Test("without a display, over ssh and in WSL the device flow is used automatically")
    func withoutDisplay() async throws {
        try await OAuthScene.play { scene, server in
            let elsewhere = [
                ["DISPLAY": ""], ["DISPLAY": ":0", "SSH_CONNECTION": "a b c d"],
                ["DISPLAY": ":0", "WSL_DISTRO_NAME": "Debian"],
            ]
            for (number, environment) in elsewhere.enumerated() {
                let login = try await Child(
                    [Programs.authc, "login", OAuthScene.provider, "-s", "s\(number)"],
                    environment: scene.desktop.environment.merging(environment) { $1 })
                await login.err.wait(for: "code: ")
                let code = try #require(login.err.text.firstMatch(of: /code: ([A-Z]{4}-[A-Z]{4})/)?.1)
                try server.decide(userCode: String(code), approve: true)
                #expect(await login.ended() == 0)
            }
        }
    }

    @Test("with a display the browser is opened, and the address is shown too")
    func opens() async throws {
        try await OAuthScene.play { scene, _ in
            let log = scene.desktop.folder.path + "/opened"
            let opener = try scene.desktop.folder.write("#!/bin/sh\necho \"$1\" > \(log)\n", to: "bin/xdg-open")
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: opener)
            let path = "\(scene.desktop.folder.path)/bin:\(scene.desktop.environment["PATH"] ?? "")"
            let login = try await Child(
                [Programs.authc, "login", OAuthScene.provider],
                environment: scene.desktop.environment.merging(["DISPLAY": ":0", "PATH": path]) { $1 })
            await login.err.wait(for: "open this: http")
            await login.err.wait(for: "\n")
            let url = try #require(login.err.text.firstMatch(of: /open this: (\S+)/)?.1)
            #expect(try await scene.consent(String(url)).contains("Signed in to"))
            #expect(await login.ended() == 0)
            #expect(try String(contentsOfFile: log, encoding: .utf8) == url + "\n")
        }
    }
}
