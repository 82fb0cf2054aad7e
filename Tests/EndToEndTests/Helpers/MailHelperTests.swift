import TestSupport
import Testing

/// msmtp, mbsync and mutt with the recipes for mail, against dovecot.
@Suite("Mail programs that sign in with a token", .serialized, .timeLimit(.minutes(2)))
struct MailHelperTests {
    private func play(_ test: @escaping @Sendable (Scene, Peer) async throws -> Void) async throws {
        try await Scene.play(signedInTo: .mail, ["mail"], as: "mail") { scene, server in
            await server.output.wait(for: "certificate ")
            let ports = try #require(
                server.output.text.firstMatch(of: /imap ([0-9]+)\nsubmission ([0-9]+)\ncertificate (.*)/))
            try scene.writeRecipe(
                "auth oauthbearer", to: ".msmtprc",
                replacing: [
                    ("smtp.example.org", "localhost"), ("port 587", "port \(ports.2)\ntls_trust_file \(ports.3)"),
                ])
            try scene.writeRecipe(
                "AuthMechs XOAUTH2", to: ".mbsyncrc",
                replacing: [("imap.example.org", "localhost\nPort \(ports.1)\nCertificateFile \(ports.3)")])
            try scene.writeRecipe(
                "set imap_oauth_refresh_command", to: ".muttrc",
                replacing: [
                    ("imap.example.org", "localhost:\(ports.1)"), ("smtp.example.org:587", "localhost:\(ports.2)"),
                    ("ssl_force_tls = yes", "ssl_force_tls = yes\nset ssl_ca_certificates_file = \"\(ports.3)\""),
                ])
            try await test(scene, server)
        }
    }

    private static let send = #"printf 'Subject: one\n\nhello\n' | msmtp bob@example.org"#

    @Test("msmtp sends and mbsync fetches, and again with the next token", arguments: ["oauthbearer", "xoauth2"])
    func sendAndFetch(mechanism: String) async throws {
        try await play { scene, server in
            // For mbsync, Cyrus SASL has a module for one of the two only.
            _ = try await scene.run("sed -i 's/auth oauthbearer/auth \(mechanism)/' .msmtprc; mkdir Mail")
            let first = try await scene.run("\(Self.send) && mbsync mail && cat Mail/INBOX/new/*")
            #expect(first.status == 0 && first.out.contains("Subject: one"), "\(first.out) \(first.err)")
            _ = try await scene.run("curl -s -X POST \(server.url)/control/revoke")
            #expect(try await scene.run(Self.send).status != 0)
            #expect(try await scene.authc(["refresh", "-s", "mail"]).status == 0)
            let second = try await scene.run("\(Self.send) && mbsync mail && ls Mail/INBOX/new | wc -l")
            #expect(second.status == 0 && second.out.hasSuffix("2\n"), "\(second.out) \(second.err)")
            for text in [first.err, first.out, second.err, second.out] { #expect(!text.contains("token-")) }
        }
    }

    @Test("mutt sends a message and lists it, and again with the next token", arguments: ["oauthbearer", "xoauth2"])
    func mutt(mechanism: String) async throws {
        try await play { scene, server in
            _ = try await scene.run("sed -i 's/oauthbearer:xoauth2/\(mechanism)/' .muttrc")
            let first = try await scene.run(Self.sendWithMutt("greetings"))
            #expect(first.status == 0, "\(first.err)")
            try await Self.list("greetings", in: scene)
            _ = try await scene.run("curl -s -X POST \(server.url)/control/revoke")
            #expect(try await scene.run(Self.sendWithMutt("refused")).status != 0)
            #expect(try await scene.authc(["refresh", "-s", "mail"]).status == 0)
            let second = try await scene.run(Self.sendWithMutt("goodbye"))
            #expect(second.status == 0, "\(second.err)")
            try await Self.list("goodbye", in: scene)
            #expect(!(first.err + second.err).contains("token-"))
        }
    }

    @Test("without a session, mutt reports it and does not ask for a password")
    func muttSignedOut() async throws {
        try await play { scene, _ in
            #expect(try await scene.authc(["logout", "-s", "mail"]).status == 0)
            let send = try await scene.run(Self.sendWithMutt("greetings"))
            #expect(send.status != 0 && send.err.contains("mail"), "\(send.err)")
            let terminal = try await scene.terminal(Self.mutt)
            await terminal.waits(for: "(no mailbox)")
            terminal.type("q")
            await terminal.waits(for: "exit ")
            await terminal.ends()
            #expect(terminal.text.contains("authc: "), "\(terminal.text)")
            #expect(!(send.err + terminal.text).lowercased().contains("password"), "\(terminal.text)")
        }
    }

    /// With the folder of authc that `Scene.run` made.
    private static let mutt = "PATH=$HOME/bin:$PATH mutt"

    private static func sendWithMutt(_ subject: String) -> String {
        "printf 'hello\\n' | mutt -s \(subject) bob@example.org"
    }

    /// mutt's index shows the subject.
    private static func list(_ subject: String, in scene: Scene) async throws {
        let terminal = try await scene.terminal(mutt)
        await terminal.waits(for: subject)
        terminal.type("q")
        await terminal.waits(for: "exit 0")
        await terminal.ends()
        #expect(!terminal.text.contains("token-"))
    }

    @Test("without a session, neither program asks for a password or connects with an empty one")
    func signedOut() async throws {
        try await play { scene, _ in
            #expect(try await scene.authc(["logout", "-s", "mail"]).status == 0)
            for line in [Self.send, "mkdir -p Mail; mbsync mail"] {
                let output = try await scene.run(line)
                #expect(output.status != 0 && output.err.contains("mail"), "\(line): \(output.err)")
                #expect(!output.err.lowercased().contains("password for"), "\(output.err)")
            }
            let response = try await scene.run("authc helper sasl -s mail")
            #expect(response.status == 64 && response.out.isEmpty, "\(response.status) \(response.err)")
        }
    }
}
