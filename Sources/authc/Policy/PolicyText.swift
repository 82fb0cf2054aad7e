import AuthWire

/// Access rules as text.
enum PolicyText {
    /// The limit of authd.
    static let longestFile = 256 << 10

    /// One line: the rule, its effect and what it tests.
    static func rule(_ rule: PolicyRuleItem) -> String {
        let tests: [(String, [String]?)] = [
            ("executable", rule.executables), ("unit", rule.units), ("slice", rule.slices),
            ("sandbox", rule.sandboxes), ("label", rule.labels), ("listener", rule.listeners),
            ("terminal", rule.terminal.map { ["\($0)"] }), ("login_session", rule.loginSession.map { ["\($0)"] }),
            ("own_user", rule.ownUser.map { ["\($0)"] }), ("session", rule.sessions), ("class", rule.classes),
            ("method", rule.methods), ("endpoint", rule.endpoints), ("scope", rule.scopes),
        ]
        let words = tests.compactMap { key, values in values.map { "\(key)=\($0.joined(separator: ","))" } }
        return Visible.line(([rule.rule, rule.effect] + words).joined(separator: "  "))
    }

    static func notes(_ policy: PolicyInfo) -> [String] {
        let broken = policy.rules.map(\.rule).filter { $0.hasSuffix(".broken-file") }
        var notes: [String] = []
        if policy.enforced {
            notes.append("Requests that a rule denies are refused.")
        } else {
            // These are always enforced.
            if !broken.isEmpty { notes.append("What \(broken.joined(separator: " and ")) denies is refused.") }
            notes.append(
                "\(broken.isEmpty ? "Requests" : "Other requests") that a rule denies are allowed and recorded: "
                    + "`authc log` shows them.")
        }
        notes += policy.problems
        if policy.unapplied {
            notes.append(
                "\(policy.userFile ?? "Your file") has changes that are not in use: `authc policy apply` applies them.")
        }
        return notes
    }

    /// The result first, then each rule that was compared.
    static func verdict(_ verdict: PolicyVerdict) -> String {
        var first = verdict.allowed ? "allowed" : verdict.enforced ? "denied" : "would be denied"
        first += " by \(verdict.rule)"
        switch verdict.check {
        case "presence": first += ", after a check that you are there"
        case "consent": first += ", after you have allowed the program"
        default: break
        }
        if let reason = verdict.reason { first += ": \(reason)" }
        if let unknown = verdict.unknown { first += " (\(unknown) is not known)" }
        let steps = verdict.steps.map { step in
            let rule = step.method.map { "\(step.rule), for \($0)" } ?? step.rule
            return switch step.outcome {
            case "match": "  \(rule): matches"
            case "unknown": "  \(rule): \(step.key ?? "something") is not known"
            default: "  \(rule): does not match (\(step.key ?? "?"))"
            }
        }
        return ([first] + steps).map { Visible.line($0) }.joined(separator: "\n")
    }

    static func difference(_ change: PolicyDifference) -> String {
        func words(_ result: String) -> String { result.replacing("_", with: " ") }
        let who = [change.exe, change.unit].compactMap(\.self).joined(separator: ", ")
        let count = change.count > 1 ? " \(change.count)x" : ""
        return Visible.line(
            "\(WallClock.utc(change.at))  \(change.method)  \(change.session?.text ?? "-")\(count)  "
                + "\(words(change.formerResult)) (\(change.formerRule)) -> \(words(change.result)) (\(change.rule))  \(who)"
        )
    }
}
