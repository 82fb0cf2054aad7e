import AuthWire
import StandInBackends
import TestSupport
import Testing

/// A sign-in at a terminal whose first answers are wrong, at real backends.
@Suite("Wrong answers at a terminal", .serialized, .timeLimit(.minutes(2)))
struct TriesTests {
    @Test("a wrong password is asked for again, and the right one signs in")
    func wrongPassword() async throws {
        try await Scene.play { scene in
            let terminal = try await scene.terminal("authc login app-template --environment local")
            await terminal.waits(for: "E-mail: ")
            terminal.type("ada@example.org\n")
            await terminal.waits(for: "Password: ")
            terminal.mark()
            terminal.type("Correct-horse2\n")
            await terminal.waits(for: "E-mail [ada@example.org]: ")
            #expect(terminal.text.contains("HTTP 401, it says: "), "\(terminal.text)")
            terminal.type("\n")
            await terminal.waits(for: "Password: ")
            terminal.type("Correct-horse1\n")
            await terminal.waits(for: "exit 0")
            await terminal.ends()
            #expect(scene.backends.counts[.appTemplate, "POST /auth/login"] == 2)
            #expect(try await scene.agent.status("app-template").user?.email == "ada@example.org")
        }
    }

    @Test("a backend that limits attempts gets no further one")
    func limited() async throws {
        try await Scene.play { scene in
            await scene.backends.misbehave(
                .appTemplate, Misbehaviour(path: "/auth/login", .status(429, retryAfter: "30")))
            let terminal = try await scene.terminal(
                "authc login app-template --environment local --field email=ada@example.org")
            await terminal.waits(for: "Password: ")
            terminal.type("Correct-horse1\n")
            await terminal.waits(for: "exit ")
            #expect(terminal.text.contains("exit 75"), "\(terminal.text)")
            #expect(terminal.text.contains("received too many requests"), "\(terminal.text)")
            #expect(terminal.text.contains("try again in 30 s"), "\(terminal.text)")
            await terminal.ends()
            #expect(scene.backends.counts[.appTemplate, "POST /auth/login"] == 1)
        }
    }

    @Test("each broken rule of a new password is reported before it is typed again, and before the next field")
    func brokenRule() async throws {
        try await Scene.play { scene in
            let terminal = try await scene.terminal("authc register aws-lambda --environment local")
            await terminal.waits(for: "E-mail: ")
            terminal.type("grace@example.org\n")
            await terminal.waits(for: "Password: ")
            terminal.mark()
            terminal.type("Short1!\n")
            await terminal.waits(for: "Not accepted:\r\n  at least 8 characters\r\nPassword: ")
            #expect(!terminal.text.contains("again") && !terminal.text.contains("Name"), "\(terminal.text)")
            terminal.mark()
            terminal.type("Correct-horse1!\n")
            await terminal.waits(for: "again: ")
            terminal.type("Correct-horse1!\n")
            await terminal.waits(for: "Name to show")
            terminal.type("Grace\n")
            await terminal.waits(for: "exit 0")
            await terminal.ends()
            #expect(scene.backends.counts[.awsLambda, "POST /auth/register"] == 1)
        }
    }
}
