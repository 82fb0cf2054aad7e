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

    /// - Parameter rules: what the user's file says.
    private static func requests(
        _ policy: AccessPolicy = AccessPolicy(), applying rules: AccessPolicy.Rules = AccessPolicy.Rules()
    ) -> PolicyRequests {
        let sources = PolicySources(
            rootPath: "/root-policy.toml", userPath: "/policy.toml", stateFolder: nil, readRoot: { policy.root },
            readUser: { _ in "" }, parseUser: { _, _ in rules })
        return PolicyRequests(
            AccessControl(policy, changes: AccessChanges()), from: sources, audit: AuditLog(clock: BootClock()))
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
}
