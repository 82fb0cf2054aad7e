import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// Device grant, renewal and what a bad authorization server does about them, with the real programs and keyring.
@Suite("OAuth: the device flow and its session", .serialized, .timeLimit(.minutes(2)))
struct OAuthDeviceTests {
    @Test("a profile of five lines signs in with a code on another device, and survives a restart")
    func device() async throws {
        try await OAuthScene.play { scene, server in
            let login = try await scene.loginByDevice(server)
            #expect(login.status == 0, "\(login.err)")
            #expect(login.err.contains(server.issuer + "/device"), "\(login.err)")
            let status = try await scene.agent.status(OAuthScene.provider)
            #expect(status.user?.id == "248289761001")
            #expect(status.user?.email == "janedoe@example.com")
            #expect(status.renews)
            let token = try await scene.agent.authc("token").out
            #expect(server.secrets.contains(token.trimmingCharacters(in: .whitespacesAndNewlines)))
            let hello = try await scene.agent.authc("request", "GET", "/api/hello")
            #expect(hello.out.contains("Jane Doe"), "\(hello.out) \(hello.err)")
            try await scene.agent.child.end()
            try await scene.startAgent()
            #expect(try await scene.agent.authc("token").out == token)
            #expect(try await scene.agent.authc("refresh").status == 0)
            #expect(try await scene.agent.authc("token").out != token)
            try await scene.agent.child.end()
            let log = try scene.agent.child.err.text
            for secret in server.secrets { #expect(!log.contains(secret), "a secret stands in the log") }
        }
    }

    @Test("a camera reads the address with the code in it off the terminal")
    func camera() async throws {
        try await OAuthScene.play { scene, server in
            let terminal = try await scene.terminal("authc login \(OAuthScene.provider) --method device")
            await terminal.waits(for: "this code: ")
            await terminal.waits(for: "\n")
            let rows = terminal.text.matches(of: /48;5;231m([^\u{1B}]*)\u{1B}/).map { $0.1 }
            let picture = try scene.desktop.folder.write(Self.picture(rows), to: "code.pbm")
            let seen = try await scene.desktop.run(["zbarimg", "--quiet", "--raw", picture])
            let text = terminal.text
            let code = try #require(text.firstMatch(of: /this code: ([A-Z]{4}-[A-Z]{4})/)?.1)
            #expect(seen.out == "\(server.issuer)/device?user_code=\(code)\n", "\(seen.err) \(text)")
            try server.decide(userCode: String(code), approve: true)
            await terminal.waits(for: "exit 0")
            await terminal.ends()
        }
    }

    /// What stands on a terminal in half blocks, as a picture (pbm(5)), four dots a module.
    private static func picture(_ rows: [Substring]) -> String {
        let dots = rows.flatMap { row in
            [["█", "▀"], ["█", "▄"]].map { dark in row.map { dark.contains(String($0)) ? "1 1 1 1" : "0 0 0 0" } }
        }
        let lines = dots.flatMap { Array(repeating: $0.joined(separator: " "), count: 4) }
        return "P1\n\((rows.first?.count ?? 0) * 4) \(lines.count)\n" + lines.joined(separator: "\n") + "\n"
    }

    @Test("a denial is reported, and leaves nothing behind")
    func denied() async throws {
        try await OAuthScene.play { scene, server in
            let login = try await scene.loginByDevice(server, approve: false)
            #expect(login.status == 77, "\(login.err)")
            #expect(login.err.contains("refused on the other device"), "\(login.err)")
            #expect(try await SessionList(scene.agent.json("list")).sessions.isEmpty)
        }
    }

    @Test("an unused code expires")
    func expired() async throws {
        var configuration = OAuthStandIn.Configuration()
        configuration.deviceLifetime = .seconds(2)
        try await OAuthScene.play(configuration) { scene, server in
            let login = try await scene.authc(["login", OAuthScene.provider, "--method", "device"])
            #expect(login.status == 75, "\(login.err)")
            #expect(login.err.contains("expired before it was entered"), "\(login.err)")
        }
    }

    @Test("a cancelled sign-in stops polling")
    func cancelled() async throws {
        try await OAuthScene.play { scene, server in
            let step = try await scene.ask(
                "login.start", ["provider": .string(OAuthScene.provider), "method": "device"])
            #expect(step["kind"] == "device", "\(step.text())")
            let login = try #require(step["login"])
            #expect(try await scene.ask("login.cancel", ["login": login])["kind"] == "failed")
            let code = try #require(step["user_code"]?.stringValue)
            try server.decide(userCode: code, approve: true)
            // Another sign-in ends after the first would have been asked about again.
            #expect(try await scene.loginByDevice(server).status == 0)
            #expect(server.counts.devicePolls <= 3)
        }
    }

    @Test("metadata of another issuer, or missing metadata, prevents the sign-in")
    func badMetadata() async throws {
        try await OAuthScene.play { scene, server in
            let login = ["login", OAuthScene.provider, "--method", "device"]
            server.misbehave(.wrongIssuer)
            let wrong = try await scene.authc(login)
            #expect(wrong.status == 76, "\(wrong.err)")
            #expect(wrong.err.contains("somebody-else.example"), "\(wrong.err)")
            server.clear()
            server.misbehave(.noMetadata)
            #expect(try await scene.authc(login).status == 65)
            #expect(server.counts.devicePolls == 0)
        }
    }

    // MARK: Renewal

    // A provider is asked for ten in a second at most; GlewlwydTests have a hundred.
    @Test("twenty renewals rotate twenty refresh tokens, each used once")
    func rotation() async throws {
        try await OAuthScene.play { scene, server in
            try await scene.signInByBrowser()
            for _ in 0..<20 {
                let answer = try await scene.ask("session.refresh", [:])
                #expect(answer["state"] == "active", "\(answer.text())")
            }
            #expect(server.counts.refreshes == 20)
            #expect(server.counts.reuses == 0)
        }
    }

    @Test("a portal page, many slow_down and empty errors end no session; invalid_grant is reported at once")
    func bad() async throws {
        try await OAuthScene.play { scene, server in
            try await scene.signInByBrowser()
            for fault in [OAuthStandIn.Fault.page, .slowDown, .unknownTokenType] {
                server.misbehave(fault, times: 1)
                _ = try await scene.agent.authc("refresh")
                #expect(try await scene.agent.status(OAuthScene.provider).state == .active, "\(fault)")
                server.clear()
            }
            #expect(server.counts.reuses == 0)
            server.endSessions()
            try await scene.expectRefusal(of: OAuthScene.provider)
            #expect(try await scene.desktop.keyringItems().count == 1)
            // A new sign-in repairs it.
            try await scene.signInByBrowser()
            #expect(try await scene.agent.status(OAuthScene.provider).state == .active)
        }
    }

    @Test(
        "forms, loose types and errors inside a success are read",
        arguments: [OAuthStandIn.Fault.formAnswers, .wrongTypes, .errorsAsSuccess])
    func odd(fault: OAuthStandIn.Fault) async throws {
        try await OAuthScene.play { scene, server in
            server.misbehave(fault)
            // A pending code is an error too, and a response that is a form has no ID token.
            let login = try await fault == .wrongTypes ? scene.loginByBrowser() : scene.loginByDevice(server)
            #expect(login.status == 0, "\(login.err)")
            if fault != .wrongTypes { #expect(try await scene.agent.authc("refresh").status == 0) }
            #expect(try await scene.agent.status(OAuthScene.provider).expiresAt != nil)
            if fault == .errorsAsSuccess {
                server.endSessions()
                try await scene.expectRefusal(of: OAuthScene.provider)
            }
        }
    }

    @Test("a service signs in by its secret, which is in the keyring and in no profile, and renews by it")
    func service() async throws {
        var configuration = OAuthStandIn.Configuration()
        configuration.clientSecret = "s3cret: with+all/of&it"
        let secret = configuration.clientSecret
        for authentication in ["basic", "post"] {
            let more = "[oauth]\nclient_auth = \"\(authentication)\""
            try await OAuthScene.play(configuration, profile: more) { scene, server in
                let login = ["login", OAuthScene.provider, "--method", "service", "--password-stdin"]
                let refused = try await scene.authc(login, input: "wrong")
                #expect(refused.status == 65, "\(refused.err)")
                let done = try await scene.authc(login, input: secret)
                #expect(done.status == 0, "\(done.err)")
                let token = try await scene.agent.authc("token").out
                #expect(try await scene.agent.authc("refresh").status == 0)
                #expect(try await scene.agent.authc("token").out != token)
                #expect(server.counts.services == 2)
                #expect(try await scene.agent.status(OAuthScene.provider).renews)
            }
        }
    }
}
