import AuthModel
import AuthWire
import Foundation
import TestSupport
import Testing

@testable import AuthDaemon

@Suite("The limit of sign-ins", .timeLimit(.minutes(1)))
struct SignInLimitTests {
    @Test("too many are refused as busy, with the time to wait, on every connection; other requests are not")
    func refused() async throws {
        // Without a unit, the allowance is the user's, which is four times as large.
        let group = try ControlGroup(String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8))
        let most = group?.unit == nil ? 2 * 4 : 2
        try await TestServer.run(signInsPerHour: 2) { rig in
            try await onThread {
                for number in 0..<most + 2 {
                    let answer = try rig.dial().ask("login.start", ["provider": "missing"])
                    #expect((answer.errorKind == "busy") == (number >= most), "\(answer.text())")
                    guard number >= most else { continue }
                    let data = answer["error"]?["data"]
                    #expect(data?["cause"] == "sign_in_limit")
                    #expect((data?["retry_after_ms"]?.integerValue).map { (1...3_600_000).contains($0) } == true)
                }
                for method in [
                    "login.resend", "password.request_reset", "password.reset", "password.change", "password.set",
                ] {
                    #expect(try rig.dial().ask(method, ["login": "x"]).errorKind == "busy", "\(method)")
                }
                #expect(try rig.dial().ask("token.get")["result"] != nil)
                #expect(try rig.dial().ask("login.wait", ["login": "x"]).errorKind != "busy")
            }
        }
    }

    @Test("answers of sign-ins have a separate allowance, four for each sign-in")
    func answers() throws {
        let limit = SignInLimit(clock: BootClock(), perHour: 1)
        var caller = CallerIdentity(listener: .api, processID: 7, userID: 1000)
        caller.unit = "a.service"
        for _ in 0..<4 { try limit.spend(caller, for: "login.answer") }
        let refusal = #expect(throws: AgentError.self) { try limit.spend(caller, for: "login.answer") }
        #expect(refusal?.message.contains("Too many steps of sign-ins were answered") == true)
        try limit.spend(caller)
        #expect(throws: AgentError.self) { try limit.spend(caller, for: "password.change") }
        #expect(SignInLimit.methods.contains("login.answer"))
    }

    @Test("a client of the extra socket cannot use up what others may begin")
    func confined() async throws {
        try await TestServer.run(signInsPerHour: 1) { rig in
            try await onThread {
                let (extra, own) = (try rig.dialExtra(), try rig.dial())
                for _ in 0..<10 { #expect(try extra.ask("login.start").errorKind == "denied") }
                #expect(try own.ask("login.start", ["provider": "missing"]).errorKind != "busy")
            }
        }
    }

    @Test("what a rule denies does not count")
    func denied() async throws {
        var rule = AccessRule("no-sign-ins", from: .user, .deny)
        rule.request.classes = [.account]
        var policy = AccessPolicy()
        (policy.user.rules, policy.user.enforces) = ([rule], true)
        try await TestServer.run(accessPolicy: policy, signInsPerHour: 1) { rig in
            try await onThread {
                let client = try rig.dial()
                for _ in 0..<10 {
                    #expect(try client.ask("login.start", ["provider": "missing"]).errorKind == "denied")
                }
                rig.access.change { $0 = AccessPolicy() }
                #expect(try client.ask("login.start", ["provider": "missing"]).errorKind == "unknown_provider")
            }
        }
    }

    @Test("a reload changes the limit")
    func changed() throws {
        let limit = SignInLimit(clock: BootClock(), perHour: 1)
        let caller = CallerIdentity(listener: .api, processID: 7, userID: 1000)
        for _ in 0..<4 { try limit.spend(caller) }
        #expect(throws: AgentError.self) { try limit.spend(caller) }
        limit.change(perHour: 100)
        try limit.spend(caller)
    }
}
