import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// Backend C, whose users get codes by e-mail, and whose sessions cannot be renewed.
@Suite("Sign-in at the wall", .serialized, .timeLimit(.minutes(2)))
struct WallTests {
    static let grace = "grace@example.org"

    @Test(
        "C: registering with a code that begins with 0; the missing password is reported, even after a restart, and set"
    )
    func register() async throws {
        try await Scene.play { scene in
            try await scene.registerAtWall(Self.grace)
            #expect(try scene.code(Self.grace).hasPrefix("0"))
            #expect(try await scene.agent.status(Scene.wall).needsPassword)
            #expect(try await scene.agent.authc("status").out.contains("authc password set"))
            try await scene.agent.child.end(SIGKILL)
            try await scene.startAgent()
            #expect(try await scene.agent.status(Scene.wall).needsPassword)
            #expect(try await scene.agent.authc("prompt").out == "anonymous-wall:grace@example.org!needs_password\n")

            let terminal = try await scene.terminal("authc password set")
            await terminal.waits(for: "New password: ")
            #expect(!terminal.echoes)
            terminal.mark()
            terminal.type("short\n")
            await terminal.waits(for: "Not accepted:\r\n  at least 8 characters\r\nNew password: ")
            #expect(!terminal.text.contains("again"), "\(terminal.text)")
            #expect(scene.backends.counts[.anonymousWall, "POST /api/v1/auth/password/set"] == 0)
            terminal.mark()
            terminal.type("A long one 7\n")
            await terminal.waits(for: "again: ")
            terminal.type("Another one 7\n")
            await terminal.waits(for: "The two are not the same.\r\nNew password: ")
            terminal.mark()
            terminal.type("A long one 7\n")
            await terminal.waits(for: "again: ")
            terminal.type("A long one 7\n")
            await terminal.waits(for: "exit 0")
            #expect(terminal.text.contains("Password set successfully"), "\(terminal.text)")
            await terminal.ends()
            #expect(try await scene.agent.status(Scene.wall).needsPassword == false)
            #expect(try await scene.agent.authc("prompt").out == "anonymous-wall:grace@example.org\n")
            try await scene.expectNoSecretInLog()
        }
    }

    @Test("C: signing in with a code; a wrong one is asked for again, another is not sent too soon, and ^D cancels")
    func loginByCode() async throws {
        try await Scene.play { scene in
            let terminal = try await scene.terminal(
                "authc login \(Scene.wall) --environment local --method code --field email=ada@example.org")
            await terminal.waits(for: "Sent to ada@example.org, valid until ")
            await terminal.waits(for: "another code): ")
            terminal.mark()
            terminal.type("12a456\n")
            await terminal.waits(for: "Not accepted:\r\n  6 digits")
            #expect(scene.backends.counts[.anonymousWall, "POST /api/v1/auth/login/email"] == 0)
            await terminal.waits(for: "another code): ")
            let code = try scene.code("ada@example.org")
            let wrong = code == "123456" ? "654321" : "123456"
            terminal.mark()
            terminal.type(wrong + "\n")
            await terminal.waits(for: "Invalid verification code")
            await terminal.waits(for: "another code): ")
            terminal.mark()
            terminal.type("\n")
            await terminal.waits(for: "Another one can be sent in ")
            await terminal.waits(for: "another code): ")
            terminal.type(code + "\n")
            await terminal.waits(for: "exit 0")
            await terminal.ends()
            #expect(scene.backends.counts[.anonymousWall, "POST /api/v1/auth/email/send-code"] == 1)

            let abandoned = try await scene.terminal(
                "authc login \(Scene.wall) --environment local --method code -s two --field email=ada@example.org")
            await abandoned.waits(for: "another code): ")
            #expect(try await scene.agent.status("two").state == .signingIn)
            abandoned.type("\u{4}")
            await abandoned.waits(for: "exit 77")
            await abandoned.ends()
            #expect(try await scene.agent.authc("status", "-s", "two").status == 64)
        }
    }

    @Test("C: without a terminal a script learns where the code was sent, and passes it with the next call")
    func codeInScript() async throws {
        try await Scene.play { scene in
            let login = [
                "login", Scene.wall, "--environment", "local", "--method", "code", "--field",
                "email=ada@example.org",
            ]
            let first = try await scene.authc(login)
            #expect(first.status == 64)
            #expect(first.err.contains("sent to ada@example.org"), "\(first.err)")
            let code = try scene.code("ada@example.org")
            let wrong = try await scene.authc(login + ["--field", "code=\(code == "000001" ? "000002" : "000001")"])
            #expect(wrong.status == 65)
            #expect(wrong.err.contains("Invalid verification code"), "\(wrong.err)")
            let done = try await scene.authc(login + ["--field", "code=\(code)"])
            #expect(done.status == 0, "\(done.err)")
            let stranger = try await scene.authc([
                "login", Scene.wall, "--environment", "local", "--method", "code", "-s", "x", "--field",
                "email=nobody@example.org",
            ])
            #expect(stranger.status == 65)
            #expect(stranger.err.contains("No account with this email"), "\(stranger.err)")
        }
    }

    @Test("C: the password is changed, a wrong old one is refused, and the new one signs in")
    func changePassword() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.anonymousWall)
            func change(_ old: String) async throws -> Child.Output {
                let file = try scene.desktop.folder.write(old, to: "old")
                return try await scene.shell(
                    "printf 'Better-horse2' | \"$0\" password change --secret-fd oldPassword=3 --password-stdin 3<\(file)"
                )
            }
            let refused = try await change("Wrong-horse1")
            #expect(refused.status == 65)
            #expect(refused.err.contains("Old password is incorrect"), "\(refused.err)")
            let done = try await change("Correct-horse1")
            #expect(done.status == 0, "\(done.err)")
            #expect(done.err.contains("Password changed successfully"), "\(done.err)")
            #expect(try await scene.login(.anonymousWall).status == 65)
            #expect(try await scene.login(.anonymousWall, password: "Better-horse2").status == 0)
        }
    }

    @Test("C: a forgotten password is reset with a code, which signs in")
    func resetPassword() async throws {
        try await Scene.play { scene in
            let asked = try await scene.agent.authc(
                "password", "request-reset", Scene.wall, "--environment", "local", "--field", "email=ada@example.org")
            #expect(asked.status == 0)
            #expect(asked.err.contains("a code was sent"), "\(asked.err)")
            #expect(try await scene.agent.authc("status").status == 3)

            let terminal = try await scene.terminal("authc password reset \(Scene.wall) --environment local")
            await terminal.waits(for: "E-mail: ")
            terminal.type("ada@example.org\n")
            await terminal.waits(for: "another code): ")
            terminal.type(try scene.code("ada@example.org") + "\n")
            await terminal.waits(for: "New password: ")
            terminal.type("Better-horse2\n")
            await terminal.waits(for: "again: ")
            terminal.type("Better-horse2\n")
            await terminal.waits(for: "exit 0")
            await terminal.ends()
            #expect(try await scene.agent.status(Scene.wall).state == .active)
            #expect(try await scene.agent.authc("logout").status == 0)
            #expect(try await scene.login(.anonymousWall, password: "Better-horse2").status == 0)
        }
    }

    // MARK: What renews it

    @Test("C: it cannot be renewed: the status shows the end, and an event precedes it")
    func ends() async throws {
        try await Scene.play(tokenSeconds: 8) { scene in
            let watch = try await Child(
                [Programs.authc, "watch", "--json"], environment: scene.desktop.environment)
            #expect(await watch.out.wait(for: "snapshot"))
            _ = try await scene.login(.anonymousWall)
            let status = try await scene.agent.status(Scene.wall)
            #expect(!status.renews && !status.remembered && status.refreshAt == nil)
            #expect(try await scene.agent.authc("status").out.contains("none: sign in again after "))
            #expect(await watch.out.wait(for: #""event":"ending""#))
            #expect(await watch.out.wait(for: #""state":"sign_in_required""#))
            await watch.end()
        }
    }

    @Test(
        "C: a remembered sign-in is repeated without the user, is reported, follows a change of password, and ends at sign-out"
    )
    func remembered() async throws {
        try await Scene.play { scene in
            let login = [
                "login", Scene.wall, "--environment", "local", "--field", "email=ada@example.org",
                "--password-stdin", "--remember",
            ]
            #expect(try await scene.authc(login, input: "Correct-horse1").status == 0)
            #expect(try await scene.agent.status(Scene.wall).remembered)
            #expect(try await scene.agent.authc("status").out.contains("authc logout"))
            let first = try await scene.agent.authc("token").out
            #expect(try await scene.agent.authc("refresh").status == 0)
            let second = try await scene.agent.authc("token").out
            #expect(second != first)

            let file = try scene.desktop.folder.write("Correct-horse1", to: "old")
            let changed = try await scene.shell(
                "printf 'Better-horse2' | \"$0\" password change --secret-fd oldPassword=3 --password-stdin 3<\(file)")
            #expect(changed.status == 0, "\(changed.err)")
            try await scene.agent.child.end(SIGKILL)
            try await scene.startAgent()
            #expect(try await scene.agent.authc("refresh").status == 0)

            let code = try await scene.authc([
                "login", Scene.wall, "--environment", "local", "--method", "code", "-s", "two", "--remember",
            ])
            #expect(code.status == 65)
            #expect(code.err.contains("cannot be remembered"), "\(code.err)")
            #expect(scene.backends.counts[.anonymousWall, "POST /api/v1/auth/email/send-code"] == 0)

            #expect(try await scene.agent.authc("logout").status == 0)
            #expect(try await scene.desktop.keyringItems() == [])
            #expect(try await scene.login(.anonymousWall, password: "Better-horse2").status == 0)
            #expect(try await scene.agent.status(Scene.wall).remembered == false)
        }
    }
}
