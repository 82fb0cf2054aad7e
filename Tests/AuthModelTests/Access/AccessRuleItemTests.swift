import AuthModel
import AuthWire
import Testing

@Suite("An access rule as policy.show lists it")
struct AccessRuleItemTests {
    private static func patterns(_ texts: String...) -> [TextPattern] { texts.compactMap(TextPattern.init) }

    /// With every test that a rule can have.
    private static func full(_ effect: AccessRule.Effect = .ask) -> AccessRule {
        var rule = AccessRule("work.mail-1", from: .user, effect, reason: "Only mail.")
        rule.caller.executables = patterns("/usr/bin/mail", "/opt/*")
        rule.caller.units = patterns("mail.service")
        rule.caller.slices = patterns("app.slice")
        rule.caller.labels = patterns("mail (enforce)")
        rule.caller.sandboxes = AccessRule.SandboxTest.words.compactMap { AccessRule.SandboxTest($0) }
        rule.caller.listeners = ["api", "extra", "limited", "dbus", "box"].compactMap { AccessRule.ListenerTest($0) }
        (rule.caller.terminal, rule.caller.loginSession, rule.caller.ownUser) = (true, false, true)
        rule.request.sessions = patterns("work", "work-*")
        rule.request.classes = AccessClass.allCases
        rule.request.methods = patterns("api.*")
        rule.request.endpoints = patterns("items")
        rule.request.scopes = patterns("read")
        return rule
    }

    @Test("gives the same rule, even through JSON", arguments: AccessRule.Effect.allCases)
    func same(effect: AccessRule.Effect) throws {
        let rule = Self.full(effect)
        #expect(AccessRule(rule.item) == rule)
        #expect(try AccessRule(PolicyRuleItem(JSON(parsing: rule.item.json.serialized()))) == rule)
        for rule in AccessPolicy.defaults { #expect(AccessRule(rule.item) == rule) }
    }

    @Test("gives no rule if any part of it is unknown")
    func unknown() {
        let changes: [(inout PolicyRuleItem) -> Void] = [
            { $0.rule = "work" }, { $0.rule = "other.work" }, { $0.rule = "user." }, { $0.effect = "maybe" },
            { $0.executables = [""] }, { $0.units = ["a\n"] }, { $0.sandboxes = ["unknown"] },
            { $0.listeners = ["TCP"] }, { $0.classes = ["status", "all"] },
            { $0.methods = [String(repeating: "*", count: 9)] },
        ]
        for (index, change) in changes.enumerated() {
            var item = Self.full().item
            change(&item)
            #expect(AccessRule(item) == nil, "\(index)")
        }
    }
}
