import AgentTestSupport
import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("A reset of the password whose response asks for more")
struct PasswordResetTests {
    private static let code = StepField(name: "code", label: "Code", kind: FieldKind.code)
    private static let fresh = StepField(
        name: "fresh", label: "New password", secret: true, kind: FieldKind.newPassword)

    /// Asks for the code and the new password in a step, and then perhaps for another factor.
    private static func profile(_ change: (inout ProviderProfile) throws -> Void = { _ in }) throws -> ProviderProfile {
        try Sample.profile { profile in
            var reset = SignInMethod(
                name: "reset", label: "Reset",
                fields: [StepField(name: "email", label: "E-mail", kind: FieldKind.email)],
                request: try Sample.request("POST", "/reset"))
            let request = RequestTemplate(method: "POST", path: try Template(parsing: "/next"))
            reset.next = [
                SignInStep(rule: ResponseRule(statuses: [401]), fields: [code, fresh], request: request),
                SignInStep(rule: ResponseRule(statuses: [402]), fields: [code], request: request),
            ]
            profile.password[.reset] = reset
            try change(&profile)
        }
    }

    /// Up to where the session is installed.
    private func installed(
        _ former: SessionStatus? = nil, _ profile: ProviderProfile, then last: Bool = false
    ) throws -> SignInBench {
        var bench = try SignInBench(.reset, at: profile, ["email": "a@b.example"])
        bench.former = former
        bench.begin()
        bench.responded(.own, SignInResponse(step: RequestedStep(index: 0, fields: [Self.code, Self.fresh])))
        bench.answer(["code": "1", "fresh": "New-1"])
        if last {
            bench.responded(.step(0), SignInResponse(step: RequestedStep(index: 1, fields: [Self.code])))
            bench.answer(["code": "2"])
        }
        bench.responded(.step(last ? 1 : 0), SignInResponse(grant: bench.grant("t", user: "a")))
        bench.examined()
        return bench
    }

    private func former(remembered: Bool = false) throws -> SessionStatus {
        var former = try SignInBench.status(user: "a")
        former.needsPassword = true
        former.remembered = remembered
        return former
    }

    @Test("a password that a step asks for is one: the account does not need one any more", arguments: [true, false])
    func needsPassword(asks: Bool) throws {
        var profile = try Self.profile()
        if !asks { profile.password[.reset]?.next[0].fields = [Self.code] }
        var bench = try SignInBench(.reset, at: profile, ["email": "a@b.example"])
        bench.former = try former()
        bench.begin()
        let fields = asks ? [Self.code, Self.fresh] : [Self.code]
        bench.responded(.own, SignInResponse(step: RequestedStep(index: 0, fields: fields)))
        bench.answer(asks ? ["code": "1", "fresh": "New-1"] : ["code": "1"])
        bench.responded(.step(0), SignInResponse(grant: bench.grant("t", user: "a")))
        bench.examined()
        #expect(bench.installed.map(\.needsPassword) == [!asks])
    }

    @Test("a remembered sign-in gets the password of the step, even if another step follows", arguments: [true, false])
    func remembered(then last: Bool) throws {
        let bench = try installed(former(remembered: true), Self.profile(), then: last)
        let reset = try #require(bench.machine.passwordReplacement)
        let record = try #require(bench.installed.first)
        var known = record
        known.remembered = ["email": Secret("a@b.example"), "password": Secret("Old-1"), "device": Secret("d")]
        let completed = reset.completed(record, replacing: known).remembered?.mapValues { $0.reveal() }
        #expect(completed == ["email": "a@b.example", "password": "New-1", "device": "d"])
        // Nothing was remembered: nothing is.
        known.remembered = nil
        #expect(reset.completed(record, replacing: known).remembered == nil)
    }

    @Test("another account's remembered sign-in does not get it; without users, the answers decide")
    func anotherAccount() throws {
        let bench = try installed(nil, Self.profile())
        let reset = try #require(bench.machine.passwordReplacement)
        var record = try #require(bench.installed.first)
        var known = record
        known.remembered = ["email": Secret("a@b.example"), "password": Secret("Old-1")]
        known.user = UserSummary(id: "b")
        #expect(reset.completed(record, replacing: known).remembered == nil)
        known.user = record.user
        known.environment = "local"
        #expect(reset.completed(record, replacing: known).remembered == nil)
        known.environment = record.environment
        record.user = nil
        #expect(reset.completed(record, replacing: known).remembered?["password"]?.reveal() == "New-1")
        // The answer that both have may belong to several accounts.
        known.remembered?["username"] = Secret("b")
        #expect(reset.completed(record, replacing: known).remembered == nil)
        known.remembered?["username"] = nil
        known.remembered?["email"] = Secret("b@b.example")
        #expect(reset.completed(record, replacing: known).remembered == nil)
    }

    @Test("a password that only the provider knows ends what is remembered, with a note, if it is needed")
    func unknownPassword() throws {
        var profile = try Self.profile { $0.password[.reset]?.next = [] }
        for usesPassword in [true, false] {
            if !usesPassword { profile.signIn[0].fields.removeAll { $0.kind == FieldKind.password } }
            var bench = try SignInBench(.reset, at: profile, ["email": "a@b.example"])
            bench.former = try former(remembered: true)
            let caller = bench.begin()
            bench.responded(.own, SignInResponse(grant: bench.grant("t", user: "a")))
            bench.examined()
            let record = try #require(bench.installed.first)
            var known = record
            known.remembered = ["email": Secret("a@b.example"), "password": Secret("Old-1")]
            let completed = try #require(bench.machine.passwordReplacement).completed(record, replacing: known)
            #expect(completed.remembered == (usesPassword ? nil : known.remembered))
            var status = try former()
            status.remembered = completed.remembered != nil
            bench.send(.installed(.success(status)))
            let message = try bench.step(for: caller).message ?? ""
            #expect(message.contains("--remember") == usesPassword, "\(message)")
        }
    }
}
