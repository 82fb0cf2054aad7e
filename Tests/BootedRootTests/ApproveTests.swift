import Foundation
import TestSupport
import Testing

@Suite("Questions about programs, answered without a desktop", .timeLimit(.minutes(5)))
struct ApproveTests {
    private static let rules = "enforce = true\n[[rule]]\nname = \"asked\"\neffect = \"ask\"\nclass = \"token\"\n"
    private static let authc = "/usr/lib/authd-built/authc"

    @Test("authc approve shows the question, and is refused on a terminal that is in no login session")
    func refused() async throws {
        try await BootedMachine.play { machine in
            try await machine.signIn()
            try await machine.write(Self.rules, to: ".config/authd/policy.toml")
            let apply = try await machine.terminal("policy", "apply")
            await apply.waits(for: "[y/N]")
            apply.type("y\n")
            await apply.waits(for: "status ")
            #expect(apply.text.contains("status 0"), "\(apply.text)")

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
        }
    }
}
