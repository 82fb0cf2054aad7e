internal import AuthConfiguration
package import AuthModel
internal import AuthWire

/// Reads a file of access rules, authd-policy(5).
package enum PolicyReader {
    /// More rules than this make each request slow.
    package static let mostRules = 256
    /// In bytes. It is part of an error message.
    private static let longestReason = 240
    /// How many values a key may have.
    private static let mostValues = 64

    /// The keys of a rule.
    package static let ruleKeys = [
        "name", "effect", "reason", "executable", "unit", "slice", "sandbox", "label", "listener", "terminal",
        "login_session", "session", "class", "method", "endpoint", "scope",
    ]

    /// - Throws: all problems of the file.
    package static func read(
        _ text: String, from origin: AccessRule.Source, file: String
    ) throws(ProfileProblems) -> AccessPolicy.Rules {
        let root = try TOMLDocument.read(text, file: file)
        let rules = rules(root, origin)
        guard root.problems.problems.isEmpty else { throw ProfileProblems(root.problems.problems) }
        return rules
    }

    private static func rules(_ root: TOMLSection, _ origin: AccessRule.Source) -> AccessPolicy.Rules {
        root.allow("enforce", "rule")
        var rules = AccessPolicy.Rules()
        rules.enforces = root.bool("enforce") ?? false
        let sections = root.list("rule")
        if sections.count > mostRules {
            root.problems.add("rule", expected: "at most \(mostRules) rules", found: "\(sections.count)")
        }
        var names: Set<String> = []
        for section in sections.prefix(mostRules) {
            guard let rule = rule(section, origin) else { continue }
            if !names.insert(rule.name).inserted {
                section.problems.add(
                    section.path("name"), expected: "a name that no other rule has", found: rule.name)
            }
            rules.rules.append(rule)
        }
        return rules
    }

    private static func rule(_ section: TOMLSection, _ origin: AccessRule.Source) -> AccessRule? {
        section.allow(ruleKeys)
        let name = section.required("name", "a name, \(SessionName.rule)")
        if let name, !AccessRule.isName(name) {
            section.problems.add(section.path("name"), expected: "a name, \(SessionName.rule)", found: name)
        }
        let effects = AccessRule.Effect.allCases.map(\.rawValue)
        let effect = section.word("effect", of: effects, isRequired: true).flatMap(AccessRule.Effect.init)
        let (caller, request) = (callerTest(section), requestTest(section))
        guard let name, let effect else { return nil }
        var rule = AccessRule(name, from: origin, effect, reason: reason(section))
        (rule.caller, rule.request) = (caller, request)
        return rule
    }

    private static func reason(_ section: TOMLSection) -> String? {
        guard let reason = section.string("reason") else { return nil }
        if (1...longestReason).contains(reason.utf8.count), reason.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) {
            return reason
        }
        section.problems.add(
            section.path("reason"), expected: "one line of 1 to \(longestReason) bytes", found: "another text")
        return nil
    }

    private static func callerTest(_ section: TOMLSection) -> AccessRule.CallerTest {
        var test = AccessRule.CallerTest()
        test.executables = patterns(section, "executable", "an absolute path, or a pattern such as /usr/lib/*") {
            $0.hasPrefix("/") || $0.hasPrefix("*")
        }
        test.units = patterns(section, "unit", "a unit such as backup.service") { _ in true }
        test.slices = patterns(section, "slice", "a slice such as app.slice") { _ in true }
        test.labels = patterns(section, "label", "a label of a security module") { _ in true }
        let sandboxes = AccessRule.SandboxTest.words
        test.sandboxes = values(section, "sandbox", "one of " + sandboxes.joined(separator: ", ")) {
            AccessRule.SandboxTest($0)
        }
        test.listeners = values(section, "listener", AccessRule.ListenerTest.expected) {
            AccessRule.ListenerTest($0)
        }
        test.terminal = section.bool("terminal")
        test.loginSession = section.bool("login_session")
        return test
    }

    private static func requestTest(_ section: TOMLSection) -> AccessRule.RequestTest {
        var test = AccessRule.RequestTest()
        test.sessions = patterns(section, "session", "a session's name, or a pattern such as work-*") { _ in true }
        let classes = AccessClass.allCases.map(\.rawValue)
        test.classes = values(section, "class", "one of " + classes.joined(separator: ", ")) {
            AccessClass(rawValue: $0)
        }
        test.methods = patterns(section, "method", "a method of the protocol, or a pattern such as session.*") { text in
            let pattern = TextPattern(text)
            return AgentMethods.all.contains { pattern?.matches($0.name) == true }
        }
        test.endpoints = patterns(section, "endpoint", "an endpoint's name") { _ in true }
        test.scopes = patterns(section, "scope", "a scope") { _ in true }
        return test
    }

    private static func patterns(
        _ section: TOMLSection, _ key: String, _ expected: String, _ isAllowed: (String) -> Bool
    ) -> [TextPattern]? {
        values(section, key, expected) { text in isAllowed(text) ? TextPattern(text) : nil }
    }

    /// - Returns: `nil` without the key.
    private static func values<Value>(
        _ section: TOMLSection, _ key: String, _ expected: String, _ read: (String) -> Value?
    ) -> [Value]? {
        guard let texts = section.strings(key) else { return nil }
        guard (1...mostValues).contains(texts.count) else {
            section.problems.add(
                section.path(key), expected: "1 to \(mostValues) texts", found: "a list of \(texts.count)")
            return nil
        }
        return texts.enumerated().compactMap { index, text in
            if let value = read(text) { return value }
            section.problems.add(TOMLPath.element(section.path(key), index), expected: expected, found: text)
            return nil
        }
    }
}
