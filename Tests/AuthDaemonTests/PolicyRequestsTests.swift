import AuthConcurrency
import AuthModel
import AuthWire
import TestSupport
import Testing

@testable import AuthDaemon

/// `policy.*` without files.
@Suite("Requests about access rules")
struct PolicyRequestsTests {
    /// A program on a terminal of a login session.
    private static func terminal() -> AccessFacts {
        var facts = AccessFacts()
        (facts.executable, facts.unit, facts.slice) = (.text("/usr/bin/authc"), .text("session-3.scope"), .absent)
        (facts.label, facts.terminal, facts.loginSession) = (.absent, .text("pts/1"), .text("3"))
        return facts
    }

    private static func deny(_ method: String) -> AccessPolicy.Rules {
        var rule = AccessRule("no", from: .user, .deny)
        rule.request.methods = [method].compactMap(TextPattern.init)
        var rules = AccessPolicy.Rules()
        (rules.rules, rules.enforces) = ([rule], true)
        return rules
    }

    /// - Parameters:
    ///   - rules: what the user's file says.
    ///   - readText: the other process, which reads what clients send.
    private static func requests(
        _ policy: AccessPolicy = AccessPolicy(), applying rules: AccessPolicy.Rules = AccessPolicy.Rules(),
        behind boundary: ListenerTables = ListenerTables(), audit: AuditLog = AuditLog(clock: BootClock()),
        readText: @escaping PolicyRequests.ReadText = { _ throws(AgentError) in throw .stopping }
    ) -> PolicyRequests {
        let sources = PolicySources(
            rootPath: "/root-policy.toml", userPath: "/policy.toml", stateFolder: nil, readRoot: { policy.root },
            readUser: { _ in "" },
            parseUser: { text, _ in
                if !text.isEmpty { Issue.record("a client's text was parsed in the agent: \(text)") }
                return rules
            })
        return PolicyRequests(
            AccessControl(policy, changes: AccessChanges()), behind: StateBroadcast(boundary), from: sources,
            readText: readText, audit: audit)
    }

    @Test("a broken copy is reported, so that an empty file is something to apply")
    func broken() async throws {
        for (policy, isBroken) in [(AccessPolicy(user: .broken(.user)), true), (AccessPolicy(), false)] {
            let change = try await Self.requests(policy).apply(PolicyApply(), by: Self.terminal())
            #expect(change.isBroken == isBroken && change.text == change.former)
        }
    }

    @Test("rules lock out if they deny another change, or the unlock")
    func locksOut() async throws {
        for (method, locksOut) in [("policy.apply", true), ("agent.unlock", true), ("agent.lock", false)] {
            let change = try await Self.requests(applying: Self.deny(method))
                .apply(PolicyApply(), by: Self.terminal())
            #expect(change.locksOut == locksOut && !change.applied, "\(method)")
        }
    }

    // MARK: Tests of a request

    private static func call(_ endpoint: String, next: Bool? = true) -> PolicyTest {
        var call = PolicyTest(method: "api.call", endpoint: endpoint)
        call.next = next
        return call
    }

    private static func verdict(_ call: PolicyTest, _ requests: PolicyRequests) throws -> PolicyVerdict {
        try requests.test(call, default: nil, confined: { _ in nil }, by: terminal())
    }

    @Test("a call of another page is tested as the agent decides about it: as this call, then as api.request")
    func next() throws {
        var allowance = AccessRule("items", from: .user, .allow)
        allowance.request.endpoints = ["items"].compactMap(TextPattern.init)
        var denial = AccessRule("paths", from: .user, .deny, reason: "Only known endpoints.")
        denial.request.methods = ["api.request"].compactMap(TextPattern.init)
        var policy = AccessPolicy()
        (policy.user.rules, policy.user.enforces) = ([allowance, denial], true)
        let requests = Self.requests(policy)
        let plain = try Self.verdict(Self.call("items", next: nil), requests)
        #expect(plain.allowed && plain.rule == "default.act" && plain.steps.allSatisfy { $0.method == nil })
        let verdict = try Self.verdict(Self.call("items"), requests)
        #expect(!verdict.allowed && verdict.enforced && verdict.rule == "user.paths")
        #expect(verdict.reason == "Only known endpoints.")
        // The rules of the call come first, down to the ones that allow it.
        let chain = verdict.steps.filter { $0.outcome == "match" }.map { [$0.rule, $0.method ?? ""] }
        #expect(
            chain == [
                ["default.act", ""], ["user.items", ""], ["default.act", "api.request"], ["user.paths", "api.request"],
            ])
        #expect(
            verdict.steps.contains(
                PolicyStep(rule: "user.items", outcome: "no_match", key: "endpoint", method: "api.request")))
    }

    @Test("a call of another page that a rule refuses as this call is not decided about as api.request")
    func nextRefused() throws {
        for isEnforced in [true, false] {
            var rules = Self.deny("api.call")
            rules.enforces = isEnforced
            let verdict = try Self.verdict(Self.call("items"), Self.requests(AccessPolicy(user: rules)))
            #expect(!verdict.allowed && verdict.enforced == isEnforced && verdict.rule == "user.no")
            #expect(verdict.steps.contains { $0.method != nil } == !isEnforced)
        }
    }

    @Test("the result names the check that the agent makes: of presence, or with a question")
    func checks() throws {
        for (effect, check) in [(AccessRule.Effect.presence, "presence"), (.ask, "consent")] {
            var rule = AccessRule("check", from: .user, effect)
            rule.request.methods = ["api.request"].compactMap(TextPattern.init)
            var policy = AccessPolicy()
            (policy.user.rules, policy.user.enforces) = ([rule], true)
            let found = try Self.verdict(Self.call("items"), Self.requests(policy))
            #expect(found.allowed && found.check == check && found.rule == "user.check")
            #expect(try Self.verdict(Self.call("items", next: false), Self.requests(policy)).check == nil)
            policy.user.enforces = false
            #expect(try Self.verdict(Self.call("items"), Self.requests(policy)).check == nil)
        }
    }

    @Test("for a confined program the boundary decides first, with the session that it means")
    func boundary() throws {
        let (shop, work) = (try SessionName("shop"), try SessionName("work"))
        var boundary = ListenerRules()
        (boundary.sessions, boundary.methods) = ([shop], ["api.call", "token.get"])
        (boundary.endpoints, boundary.scopes) = (["items"], ["read"])
        boundary.audiences = ["https://api.example"]
        func tested(_ call: PolicyTest, _ boundary: ListenerRules) throws -> PolicyVerdict {
            var call = call
            call.listener = "extra"
            return try Self.requests(behind: ListenerTables(extra: boundary))
                .test(call, default: work, confined: { _ in shop }, by: Self.terminal())
        }
        #expect(try tested(Self.call("items", next: nil), boundary).rule == "listener.extra")
        #expect(try tested(Self.call("items", next: nil), boundary).allowed)
        var token = PolicyTest(method: "token.get", scopes: ["read"])
        #expect(try !tested(token, boundary).allowed)
        token.audience = "https://api.example"
        #expect(try tested(token, boundary).allowed)
        token.session = work
        let refusals = [
            (Self.call("items"), "`next`"), (Self.call("users", next: nil), "endpoint users"),
            (PolicyTest(method: "session.logout"), "session.logout"), (token, "work"),
        ]
        for (call, text) in refusals {
            let verdict = try tested(call, boundary)
            #expect(!verdict.allowed && verdict.enforced && verdict.rule == "listener.extra")
            #expect(verdict.reason?.contains(text) == true && verdict.steps.isEmpty, "\(verdict.json.text())")
        }
        boundary.methods.insert("api.request")
        #expect(try tested(Self.call("items"), boundary).allowed)
    }

    @Test("a recorded call of another page is replayed as api.request, too")
    func replayed() async throws {
        let audit = Self.twoCalls()
        let requests = Self.requests(applying: Self.deny("api.request"), audit: audit)
        let changes = try await requests.replay(PolicyReplay()).changes
        #expect(changes.map(\.number) == [1] && changes.map(\.rule) == ["user.no"])
    }

    @Test("rules that a client sends are read in another process, and their problems are reported")
    func sentRules() async throws {
        let requests = Self.requests(
            audit: Self.twoCalls(),
            readText: { question throws(AgentError) in
                #expect(question.isPolicy && question.file == "policy.toml")
                // Both travel as JSON.
                let reading =
                    question.text == "good"
                    ? ProfileReading(Self.deny("api.request"))
                    : ProfileReading(
                        check: ProviderCheck(problems: [
                            ProfileProblem(file: "policy.toml", line: 3, key: "rule", expected: "a table")
                        ]))
                return try ProfileReading(reading.json)
            })
        let changes = try await requests.replay(PolicyReplay(text: "good")).changes
        #expect(changes.map(\.number) == [1] && changes.map(\.rule) == ["user.no"])
        let error = await #expect(throws: AgentError.self) {
            try await requests.replay(PolicyReplay(text: "bad"))
        }
        #expect(error?.kind == .validation && error?.details == ["policy.toml:3: rule: expected a table"])
    }

    /// A recorded call of another page, and one without `next`.
    private static func twoCalls() -> AuditLog {
        let audit = AuditLog(clock: BootClock())
        for hasNext in [true, false] {
            var request = AuditedRequest(method: "api.call", endpoint: "items")
            request.hasNext = hasNext
            let caller = CallerIdentity(listener: .api, processID: 1, userID: 0)
            audit.record(request, by: caller, rule: "default.act")
        }
        return audit
    }
}
