import Foundation
import TestSupport
import Testing

@Suite("Questions about programs, answered without a desktop", .timeLimit(.minutes(5)))
struct ApproveTests {
    private static let rules = "enforce = true\n[[rule]]\nname = \"asked\"\neffect = \"ask\"\nclass = \"token\"\n"
    private static let authc = "/usr/lib/authd-built/authc"

    private static func apply(_ rules: String, on machine: BootedMachine) async throws {
        try await machine.write(rules, to: ".config/authd/policy.toml")
        let apply = try await machine.terminal("policy", "apply")
        await apply.waits(for: "[y/N]")
        apply.type("y\n")
        await apply.waits(for: "status ")
        #expect(apply.text.contains("status 0"), "\(apply.text)")
    }

    /// Answers the open question on a terminal of a login session.
    private static func approve(_ answer: String, on machine: BootedMachine) async throws -> String {
        let terminal = try await machine.loginTerminal("approve")
        await terminal.waits(for: "[y/N]")
        terminal.type(answer + "\n")
        await terminal.waits(for: "status ")
        return terminal.text
    }

    @Test("authc approve is refused on a terminal that is in no login session, and no answer is a refusal")
    func refused() async throws {
        try await BootedMachine.play { machine in
            try await machine.signIn()
            try await Self.apply(Self.rules, on: machine)
            let login = try await machine.login()
            let waiting = try await machine.start(BootedMachine.asAda + [Self.authc, "token"])
            _ = try #require(try await machine.journal(until: "A program waits for your answer"))
            // The terminal of a test is in no login session.
            let elsewhere = try await machine.terminal("approve")
            await elsewhere.waits(for: "[y/N]")
            #expect(elsewhere.text.contains("Program: ") && elsewhere.text.contains("session app-template"))
            elsewhere.type("y\n")
            await elsewhere.waits(for: "status ")
            #expect(elsewhere.text.contains("terminal of a login session"), "\(elsewhere.text)")
            #expect(elsewhere.text.contains("status 77"), "\(elsewhere.text)")

            // Nobody has answered: the program goes without a token, and that is a refusal.
            await waiting.end(SIGTERM)
            #expect(await waiting.output().out.isEmpty)
            let paused = try await machine.authc("token")
            #expect(paused.status == 77 && paused.err.contains("not asked about it again"), "\(paused)")
            await login.end(SIGTERM)
        }
    }

    @Test("authc approve on a terminal of a login session gives the program what it waits for, or refuses it")
    func answered() async throws {
        try await BootedMachine.play { machine in
            try await machine.signIn()
            let token = try await machine.authc("token").out
            try await Self.apply(Self.rules, on: machine)
            let login = try await machine.login()
            let waiting = try await machine.start(BootedMachine.asAda + [Self.authc, "token"])
            _ = try #require(try await machine.journal(until: "A program waits for your answer"))
            let allowed = try await Self.approve("y", on: machine)
            #expect(allowed.contains("Request: token.get for the session app-template"), "\(allowed)")
            #expect(allowed.contains("The program is allowed.") && allowed.contains("status 0"), "\(allowed)")
            let output = await waiting.output()
            #expect(output.status == 0 && output.out == token && !token.isEmpty, "\(output)")

            // That answer was for one request.
            let second = try await machine.start(BootedMachine.asAda + [Self.authc, "token"])
            #expect(try await machine.hasAsked(2))
            let refused = try await Self.approve("n", on: machine)
            #expect(refused.contains("The program is refused.") && refused.contains("status 0"), "\(refused)")
            let denied = await second.output()
            #expect(denied.status == 77 && denied.out.isEmpty && denied.err.contains("and refused"), "\(denied)")
            await login.end(SIGTERM)
        }
    }

    @Test("without a terminal a sign-out is asked about; if nobody is logged in, it is refused at once")
    func account() async throws {
        try await BootedMachine.play { machine in
            try await machine.signIn()
            try await Self.apply("enforce = true\n", on: machine)
            let alone = try await machine.authc("logout", "--no-input")
            #expect(alone.status == 77 && alone.err.contains("default.no-terminal"), "\(alone)")
            #expect(alone.err.contains("no login session"), "\(alone)")
            #expect(try await machine.authc("token").status == 0)

            let login = try await machine.login()
            let waiting = try await machine.start(BootedMachine.asAda + [Self.authc, "logout", "--no-input"])
            _ = try #require(try await machine.journal(until: "session.logout for the session app-template"))
            let allowed = try await Self.approve("y", on: machine)
            #expect(allowed.contains("The program is allowed."), "\(allowed)")
            #expect(await waiting.output().status == 0)
            #expect(try await machine.authc("token").status != 0)
            await login.end(SIGTERM)
        }
    }
}

extension BootedMachine {
    /// Begins a login session of the user, as login(1) does. It lasts as long as the child.
    fileprivate func login() async throws -> Child {
        let session = try await start(Self.loggedIn("--pipe") + ["sh", "-c", "echo begun; exec sleep infinity"])
        guard await session.out.wait(for: "begun") else { throw Failure("no login session: \(session.err.text)") }
        return session
    }

    /// Whether so many questions are in the journal within a minute.
    fileprivate func hasAsked(_ count: Int) async throws -> Bool {
        let follow = """
            grep -m"$0" -F 'A program waits for your answer' < <(exec timeout 60 journalctl -o cat -n all -f \
                _SYSTEMD_USER_UNIT=authd.service 2>/dev/null) | wc -l
            """
        return try await asRoot("bash", "-c", follow, "\(count)").out.hasPrefix("\(count)")
    }
}
