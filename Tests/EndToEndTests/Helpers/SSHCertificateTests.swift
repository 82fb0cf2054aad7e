import AuthWire
import Foundation
import TestSupport
import Testing

/// `authc helper ssh-cert` with real ssh, sshd and ssh-keygen, and the recipe for it.
@Suite("SSH certificates", .serialized, .timeLimit(.minutes(3)))
struct SSHCertificateTests {
    /// A user's key, a server that trusts the authority, and ssh with the recipe's configuration.
    private struct Play {
        let scene: Scene
        let authority: Peer
        let folder: String

        /// The user's key. The folder has `KEY`, `KEY.pub` and `KEY-cert.pub`.
        var key: String { folder + "/id_work" }

        func run(_ line: String) async throws -> Child.Output { try await scene.run(line) }

        func helper(_ more: String = "") async throws -> Child.Output {
            try await run("authc helper ssh-cert sign -s work --key \(key) \(more)")
        }

        func ssh() async throws -> Child.Output {
            try await run(
                """
                ssh -F \(folder)/config \(Self.options(folder)) "$(id -un)@build.example.org" echo arrived
                """)
        }

        static func options(_ folder: String) -> String {
            """
            -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR \
            -o ProxyCommand="sh \(folder)/serve \(folder)/sshd_config"
            """
        }

        func answers(_ mode: String) async throws {
            let done = try await run("curl -sf -d '{\"mode\": \"\(mode)\"}' \(authority.url)/control/mode")
            #expect(done.status == 0)
        }

        /// How many signatures were requested.
        func requests() async throws -> Int {
            let log = try await run("curl -s \(authority.url)/log")
            return try JSON(parsing: Array(log.out.utf8)).arrayValue?.count ?? 0
        }

        var certificate: String? { try? String(contentsOfFile: key + "-cert.pub", encoding: .utf8) }
    }

    private func play(
        key type: String = "ed25519", _ test: @escaping @Sendable (Play) async throws -> Void
    ) async throws {
        try await Scene.play(
            signedInTo: .sshAuthority, ["ssh"], as: "work",
            with: { _ in try Recipes.block(with: "[endpoints.sign]") }
        ) { scene, authority in
            let folder = scene.desktop.folder.path + "/ssh"
            _ = try scene.desktop.folder.write(
                """
                HostKey \(folder)/host
                TrustedUserCAKeys \(folder)/ca.pub
                AuthorizedKeysFile none
                AuthenticationMethods publickey
                StrictModes no
                UsePAM no
                PermitRootLogin yes
                PidFile none
                """, to: "ssh/sshd_config")
            // Without a port. As root it needs an empty folder at a fixed place, so it gets a separate one.
            _ = try scene.desktop.folder.write(
                """
                serve='exec /usr/sbin/sshd -i -e -f "$0"'
                [ "$(id -u)" = 0 ] || exec sh -c "$serve" "$1"
                exec unshare --mount sh -c "mount -t tmpfs tmpfs /run && mkdir /run/sshd && $serve" "$1"
                """, to: "ssh/serve")
            // ssh does not take the home from the environment.
            _ = try scene.desktop.folder.write(
                try Recipes.block(with: "authc helper ssh-cert").replacing("~/.ssh", with: folder), to: "ssh/config")
            let play = Play(scene: scene, authority: authority, folder: folder)
            let keys = try await play.run(
                """
                ssh-keygen -q -t \(type) -N '' -C 'ada at home' -f \(play.key)
                ssh-keygen -q -t ed25519 -N '' -f \(folder)/host
                """)
            #expect(keys.status == 0, "\(keys.err)")
            try await test(play)
        }
    }

    @Test(
        "ssh signs in with a certificate, and a valid one is not requested again",
        arguments: ["ed25519", "rsa", "ecdsa"])
    func signsIn(type: String) async throws {
        try await play(key: type) { play in
            let first = try await play.ssh()
            #expect(first.status == 0 && first.out == "arrived\n", "\(first)")
            #expect(try await play.requests() == 1)
            let certificate = try #require(play.certificate)
            let second = try await play.ssh()
            #expect(second.status == 0, "\(second)")
            #expect(play.certificate == certificate)
            #expect(try await play.requests() == 1)
            // Without an agent, too.
            let helper = try await play.helper("--socket /nowhere/socket")
            #expect(helper.status == 0 && helper.out == "\(play.key)-cert.pub\n", "\(helper)")
            for text in [first.err, second.err, certificate] { #expect(!text.contains("token-")) }
        }
    }

    @Test("the recipe's commands: a new key, and the first connection")
    func recipe() async throws {
        try await play { play in
            // ssh takes the home from passwd(5), and no test may use that folder.
            let options = Play.options(play.folder)
            let ssh = "exec /usr/bin/ssh -F \(play.folder)/config \(options) \"$(id -un)@$1\" echo arrived"
            let ready = try await play.run(
                "rm \(play.key)*; printf '#!/bin/sh\\n%s\\n' '\(ssh)' > bin/ssh; chmod +x bin/ssh")
            #expect(ready.status == 0, "\(ready)")
            let block = try Recipes.block(with: "ssh-keygen -t ed25519").replacing("~/.ssh", with: play.folder)
                .trimmingCharacters(in: .newlines)
            let terminal = try await play.scene.terminal("export PATH=$HOME/bin:$PATH\n\(block)")
            for question in ["(empty for no passphrase): ", "Enter same passphrase again: "] {
                await terminal.waits(for: question)
                terminal.type("\n")
            }
            await terminal.waits(for: "arrived")
            await terminal.ends()
            #expect(play.certificate != nil)
            #expect(try await play.requests() == 1)
        }
    }

    @Test("a certificate that has ended, or ends within a minute, is replaced; of several programs, one requests it")
    func renews() async throws {
        try await play { play in
            // Nothing but a certificate of this authority helps.
            #expect(
                try await play.run("ssh-keygen -q -s \(play.folder)/ca -I ada -n x -V -2h:-1h \(play.key).pub").status
                    == 0)
            let ended = try #require(play.certificate)
            try await play.answers("short")
            let short = try await play.helper("--json")
            #expect(short.status == 0 && short.out.contains(#""new":true"#), "\(short)")
            #expect(play.certificate != ended)
            // It is still valid: if there is no other one, it is used.
            try await play.answers("refuse")
            let kept = try await play.helper()
            #expect(kept.status == 0 && kept.err.contains("HTTP 403"), "\(kept)")
            #expect(try await play.ssh().out == "arrived\n")
            try await play.answers("normal")
            let before = try await play.requests()
            let all = try await play.run(
                """
                for one in 1 2 3 4 5; do
                    authc helper ssh-cert sign -s work --key \(play.key) & jobs="$jobs $!"
                done
                for job in $jobs; do wait $job || exit 1; done
                """)
            #expect(all.status == 0, "\(all)")
            #expect(try await play.requests() == before + 1)
            #expect(try await play.ssh().status == 0)
        }
    }

    @Test("the certificate may be the whole response, and other arguments are passed on")
    func plainResponse() async throws {
        try await play { play in
            try await play.answers("plain")
            #expect(try await play.ssh().out == "arrived\n")
            let unknown = try await play.run(
                "rm \(play.key)-cert.pub; authc helper ssh-cert sign a=b -s work --key \(play.key)")
            #expect(unknown.status == 65 && unknown.err.contains("a"), "\(unknown)")
            let endpoint = try await play.run("authc helper ssh-cert sing -s work --key \(play.key)")
            #expect(endpoint.status == 64 && endpoint.err.contains("sign"), "\(endpoint)")
        }
    }

    @Test(
        "a valid certificate is found behind others, and one of an authority whose clock is ahead is accepted",
        arguments: ["history", "ahead"])
    func accepts(mode: String) async throws {
        try await play { play in
            try await play.answers(mode)
            let first = try await play.helper("--json")
            #expect(first.status == 0 && first.out.contains(#""new":true"#), "\(first)")
            let second = try await play.helper("--json")
            #expect(second.status == 0 && second.out.contains(#""new":false"#), "\(second)")
            #expect(try await play.requests() == 1)
        }
    }

    @Test("the wait for another program with the same key ends with --timeout")
    func waitsForOther() async throws {
        try await play { play in
            let late = try await play.run(
                "flock \(play.key).pub authc helper ssh-cert sign -s work --key \(play.key) --timeout 100ms")
            #expect(late.status == 75 && late.err.contains("is still getting a certificate for"), "\(late)")
            #expect(try await play.requests() == 0)
            #expect(try await play.helper().status == 0)
        }
    }

    @Test(
        "a response that is not a certificate for this key is refused, and nothing is written",
        arguments: [
            ("refuse", 65, "HTTP 403"), ("empty", 76, "has no SSH certificate"),
            ("garbage", 76, "has no SSH certificate"), ("broken", 76, "has no SSH certificate"),
            ("old", 76, "is a certificate that is not valid now"), ("other", 76, "is a certificate for another key"),
            ("host", 76, "is a certificate for a server, not for a user"),
        ])
    func refuses(mode: String, status: Int32, message: String) async throws {
        try await play { play in
            try await play.answers(mode)
            let helper = try await play.helper()
            #expect(helper.status == status && helper.out.isEmpty && helper.err.contains(message), "\(helper)")
            #expect(play.certificate == nil)
            let ssh = try await play.ssh()
            #expect(ssh.status == 255 && ssh.err.contains(message), "\(ssh)")
            #expect(ssh.err.contains("Permission denied"), "\(ssh)")
        }
    }

    @Test("signed out, nothing is requested: ssh reports it and continues without the key")
    func signedOut() async throws {
        try await play { play in
            #expect(try await play.scene.authc(["logout", "-s", "work"]).status == 0)
            let ssh = try await play.ssh()
            #expect(ssh.status == 255 && ssh.err.contains("no session named work"), "\(ssh)")
            let line = "authc helper ssh-cert sign -s work --key \(play.key)"
            let terminal = try await play.scene.terminal(line)
            await terminal.waits(for: "exit ")
            await terminal.ends()
            #expect(terminal.text.contains("exit 64"), "\(terminal.text)")
            #expect(!terminal.text.lowercased().contains("password"), "\(terminal.text)")
            #expect(try await play.requests() == 0)
        }
    }

    @Test("files of others are kept: no certificate, a server's, a link; a missing or invalid key is a usage error")
    func foreignFiles() async throws {
        try await play { play in
            let file = play.key + "-cert.pub"
            let ca = "ssh-keygen -q -s \(play.folder)/ca -I x -n x"
            for make in ["echo mine > \(file)", "\(ca) -h \(play.key).pub", "ln -sf \(play.folder)/host.pub \(file)"] {
                #expect(try await play.run("rm -f \(file); \(make)").status == 0)
                let before = try await play.run("stat -c %F \(file); cat \(file)").out
                let helper = try await play.helper()
                #expect(helper.status == 64 && helper.err.contains("id_work-cert.pub"), "\(make): \(helper)")
                #expect(try await play.run("stat -c %F \(file); cat \(file)").out == before)
            }
            // Another key's certificate is of no use beside this one.
            let other = "rm \(file); \(ca) \(play.folder)/other.pub && mv \(play.folder)/other-cert.pub \(file)"
            #expect(try await play.run(other).status == 0)
            #expect(try await play.ssh().out == "arrived\n")
            let missing = try await play.run("authc helper ssh-cert sign -s work --key \(play.folder)/none")
            #expect(missing.status == 64 && missing.err.contains("ssh-keygen -t ed25519 -f"), "\(missing)")
            let invalid = try await play.run(
                "cp \(file) \(play.folder)/x.pub; authc helper ssh-cert sign -s work --key \(play.folder)/x")
            #expect(invalid.status == 64 && invalid.err.contains("is not a public key"), "\(invalid)")
            // Any certificate would begin like a key that has only the type.
            let short = try await play.run(
                "echo ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 > \(play.folder)/y.pub; "
                    + "authc helper ssh-cert sign -s work --key \(play.folder)/y")
            #expect(short.status == 64 && short.err.contains("is not a public key"), "\(short)")
        }
    }
}
