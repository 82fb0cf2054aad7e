package import AuthWire

/// The rules about requests: root's, the user's and the built-in ones.
///
/// Invariant: the user's rules only narrow. A request is allowed if root's rules and the built-in ones allow it and the user's
/// rules do not deny it.
package struct AccessPolicy: Sendable, Equatable {
    /// The rules of one file.
    package struct Rules: Sendable, Equatable {
        /// Requests that a rule denies are refused, not only recorded.
        package var enforces = false
        package var rules: [AccessRule] = []
        /// The file cannot be used. Its replacement is always enforced.
        package private(set) var isBroken = false

        package init() {}

        /// Replaces a file that cannot be used. What the file denies is unknown, so only what programs need every day is
        /// allowed.
        package static func broken(_ source: AccessRule.Source) -> Rules {
            var rules = Rules()
            var denial = AccessRule(
                "broken-file", from: source, .deny, reason: "The file with these rules cannot be used.")
            denial.request.classes = [.account, .admin]
            // These can repair it, and a locked agent serves none of the others.
            var repair = AccessRule("repair", from: source, .allow)
            repair.request.methods = AccessPolicy.lockMethods
            if source == .user {
                repair.request.methods? += [PolicyShow.name, PolicyApply.name].compactMap(TextPattern.init)
            } else {
                // An allowance of root decides instead of the built-in rules.
                AccessPolicy.isOwn(&repair.caller)
            }
            rules.rules += [repair, denial]
            rules.isBroken = true
            return rules
        }
    }

    package var root = Rules()
    package var user = Rules()
    /// Sessions that the settings mark: always in effect, whatever the rules say.
    package var presenceSessions: Set<SessionName> = []

    package init(root: Rules = Rules(), user: Rules = Rules()) {
        (self.root, self.user) = (root, user)
    }

    package var isEnforced: Bool { root.enforces || user.enforces }

    /// All rules, in the order in which they are compared for a client that is not confined.
    package var all: [AccessRule] { root.rules + Self.defaults + user.rules }

    // MARK: Built-in rules

    /// The rule for confined clients of a listener, whose table has allowed the request.
    package static func boundary(of listener: ListenerName) -> AccessRule {
        AccessRule(listener.boundary.rawValue, from: .boundary, .allow)
    }

    /// Decides if no built-in rule matches, so that every request has a rule. Answering questions without a terminal is such a
    /// request: nobody can be asked about it.
    package static let rest = AccessRule("rest", from: .builtIn, .deny, reason: "No other rule allows it.")

    /// The unlock needs the passphrase, so it needs no terminal.
    private static let lockMethods = [AgentLock.name, AgentUnlock.name].compactMap(TextPattern.init)

    private static func isOwn(_ test: inout AccessRule.CallerTest) {
        test.ownUser = true
        test.sandboxes = [.none]
    }

    package static let defaults: [AccessRule] = {
        func rule(
            _ name: String, _ effect: AccessRule.Effect, _ classes: [AccessClass], reason: String? = nil,
            _ change: (inout AccessRule.CallerTest) -> Void = { _ in }
        ) -> AccessRule {
            var rule = AccessRule(name, from: .builtIn, effect, reason: reason)
            rule.request.classes = classes
            change(&rule.caller)
            return rule
        }
        var lock = AccessRule("lock", from: .builtIn, .allow)
        lock.request.methods = lockMethods
        isOwn(&lock.caller)
        // Refresh tokens never leave the agent without presence.
        var export = rule("export", .presence, [.admin], isOwn)
        export.request.methods = PresenceAction.exporting.compactMap(TextPattern.init)
        return [
            lock,
            rule("status", .allow, [.status]),
            rule(
                "other-user", .deny, [.token, .act, .account, .admin], reason: "Other users may only read the status."
            ) { $0.ownUser = false },
            rule("token", .allow, [.token], isOwn),
            rule("act", .allow, [.act], isOwn),
            rule("account", .allow, [.account]) {
                isOwn(&$0)
                $0.terminal = true
            },
            rule(
                "no-terminal", .ask, [.account],
                reason: "Signing in and out, and changes of an account, need a terminal or your consent.", isOwn),
            export,
            rule("admin", .allow, [.admin]) {
                isOwn(&$0)
                $0.terminal = true
                $0.loginSession = true
            },
            rule(
                "no-login-terminal", .ask, [.admin],
                reason: "Changes of the agent need a terminal of a login session or your consent.", isOwn),
        ]
    }()
}
