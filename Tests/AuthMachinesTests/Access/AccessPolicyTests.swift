import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("The access rules")
struct AccessPolicyTests {
    static func rule(
        _ name: String, from source: AccessRule.Source = .root, _ effect: AccessRule.Effect,
        _ change: (inout AccessRule) -> Void = { _ in }
    ) -> AccessRule {
        var rule = AccessRule(name, from: source, effect)
        change(&rule)
        return rule
    }

    /// The pattern of a valid text.
    static func pattern(_ text: String) -> TextPattern {
        guard let pattern = TextPattern(text) else { preconditionFailure(text) }
        return pattern
    }

    static func rules(_ rules: AccessRule..., enforces: Bool = false) -> AccessPolicy.Rules {
        var result = AccessPolicy.Rules()
        (result.rules, result.enforces) = (rules, enforces)
        return result
    }

    /// A program of the user without a terminal, in a unit.
    static func service(_ change: (inout AccessFacts) -> Void = { _ in }) -> AccessFacts {
        var facts = AccessFacts()
        (facts.executable, facts.unit, facts.slice) = (
            .text("/usr/bin/sync"), .text("sync.service"), .text("app.slice")
        )
        (facts.label, facts.terminal, facts.loginSession) = (.absent, .absent, .absent)
        change(&facts)
        return facts
    }

    static func terminal() -> AccessFacts {
        service {
            ($0.unit, $0.terminal, $0.loginSession) = (.text("session-3.scope"), .text("pts/1"), .text("3"))
        }
    }

    static func request(_ method: any AgentMethod.Type, _ session: String? = nil) throws -> AccessRequest {
        var request = AccessRequest(method: method.name, access: method.access)
        if let session { request.target = .named(try SessionName(session)) }
        if method.name == TokenGet.name { request.scopes = .all }
        return request
    }

    static func decide(
        _ policy: AccessPolicy, _ request: AccessRequest, by facts: AccessFacts
    ) -> AccessDecision {
        policy.decision(about: request) { _ in facts }
    }

    @Test("without rules of files each class has a default, which is only recorded")
    func defaults() throws {
        let methods: [any AgentMethod.Type] = [
            SessionListGet.self, TokenGet.self, APICall.self, LoginStart.self, SessionImport.self,
        ]
        var other = Self.terminal()
        other.isOwnUser = false
        let terminalOnly = Self.service { $0.terminal = .text("pts/1") }
        let table: [(AccessFacts, [String])] = [
            (Self.terminal(), ["status", "token", "act", "account", "admin"]),
            (terminalOnly, ["status", "token", "act", "account", "no-login-terminal"]),
            (Self.service(), ["status", "token", "act", "no-terminal", "no-login-terminal"]),
            (other, ["status", "other-user", "other-user", "other-user", "other-user"]),
        ]
        for (facts, names) in table {
            let found = try methods.map { Self.decide(AccessPolicy(), try Self.request($0), by: facts) }
            #expect(found.map(\.rule.id) == names.map { "default." + $0 })
            #expect(found.allSatisfy { $0.isDenied == ($0.rule.effect == .deny) && !$0.isRefused })
        }
    }

    @Test("the first rule that matches decides, and the later ones are not asked")
    func order() throws {
        let policy = AccessPolicy(
            root: Self.rules(
                Self.rule("other", .deny) { $0.caller.units = [Self.pattern("other.service")] },
                Self.rule("tokens", .allow) { $0.request.classes = [.token] }, Self.rule("nothing", .deny),
                enforces: true))
        #expect(Self.decide(policy, try Self.request(TokenGet.self), by: Self.service()).rule.id == "root.tokens")
        let call = Self.decide(policy, try Self.request(APICall.self), by: Self.service())
        #expect(call.rule.id == "root.nothing" && call.isRefused)
        var steps: [String] = []
        _ = policy.decision(
            about: try Self.request(TokenGet.self), by: { _ in Self.service() },
            noting: { steps.append("\($1.name) \($2)") })
        #expect(steps == ["other noMatch(key: \"unit\")", "tokens match"])
    }

    @Test("root's rules can allow what a default denies; the user's rules can only deny")
    func narrowing() throws {
        func allow(_ source: AccessRule.Source) -> AccessPolicy.Rules {
            Self.rules(Self.rule("exports", from: source, .allow) { $0.request.classes = [.admin] }, enforces: true)
        }
        let export = try Self.request(SessionImport.self)
        #expect(!Self.decide(AccessPolicy(root: allow(.root)), export, by: Self.service()).isDenied)
        let user = Self.decide(AccessPolicy(user: allow(.user)), export, by: Self.service())
        #expect(user.check == .consent && user.rule.id == "default.no-login-terminal")

        let deny = Self.rules(Self.rule("no", from: .user, .deny))
        let both = Self.decide(AccessPolicy(root: allow(.root), user: deny), export, by: Self.service())
        #expect(both.isRefused && both.rule.id == "user.no")
        // Root's denial stays.
        let open = Self.rules(Self.rule("yes", from: .user, .allow))
        let closed = Self.rules(Self.rule("no", .deny), enforces: true)
        let denied = Self.decide(AccessPolicy(root: closed, user: open), export, by: Self.terminal())
        #expect(denied.isRefused && denied.rule.id == "root.no")
        // An allowance of the user ends the user's rules only.
        var exception = Self.rules(Self.rule("mine", from: .user, .allow) { $0.request.classes = [.token] })
        exception.rules.append(Self.rule("rest", from: .user, .deny))
        let policy = AccessPolicy(user: exception)
        #expect(Self.decide(policy, try Self.request(TokenGet.self), by: Self.service()).rule.id == "default.token")
        #expect(Self.decide(policy, try Self.request(APICall.self), by: Self.service()).rule.id == "user.rest")
    }

    @Test("either file switches enforcement on, for all rules")
    func enforcement() throws {
        let login = try Self.request(LoginStart.self)
        for (root, user) in [(true, false), (false, true), (true, true), (false, false)] {
            let policy = AccessPolicy(root: Self.rules(enforces: root), user: Self.rules(enforces: user))
            let decision = Self.decide(policy, login, by: Self.service { $0.isOwnUser = false })
            #expect(decision.isDenied && decision.isRefused == (root || user))
            #expect(decision.result == (root || user ? "denied" : "would_be_denied"))
        }
    }

    @Test("a rule that tests what is unknown denies, whatever its effect, unless something else does not match")
    func unknown() throws {
        let token = try Self.request(TokenGet.self)
        let hidden = Self.service { $0.executable = .unknown }
        for effect in AccessRule.Effect.allCases {
            let rule = Self.rule("curl", effect) { $0.caller.executables = [Self.pattern("/usr/bin/curl")] }
            let policy = AccessPolicy(root: Self.rules(rule, enforces: true))
            let decision = Self.decide(policy, token, by: hidden)
            #expect(decision.isRefused && decision.unknown == "executable" && decision.rule.id == "root.curl")
            #expect(decision.error("token.get").message.contains("The rule tests executable, which is unknown"))
            // Known to be another one.
            #expect(Self.decide(policy, token, by: Self.service()).rule.id == "default.token")
            // The class does not match, so nothing has to be known.
            let elsewhere = Self.rule("curl", effect) {
                $0.caller.executables = [Self.pattern("/usr/bin/curl")]
                $0.request.classes = [.act]
            }
            #expect(!Self.decide(AccessPolicy(root: Self.rules(elsewhere)), token, by: hidden).isDenied)
        }
        let tests: [(String, (inout AccessRule) -> Void)] = [
            ("unit", { $0.caller.units = [Self.pattern("*")] }), ("slice", { $0.caller.slices = [Self.pattern("*")] }),
            ("label", { $0.caller.labels = [Self.pattern("*")] }), ("terminal", { $0.caller.terminal = true }),
            ("login_session", { $0.caller.loginSession = true }), ("sandbox", { $0.caller.sandboxes = [.none] }),
        ]
        for (key, change) in tests {
            let policy = AccessPolicy(root: Self.rules(Self.rule("r", .allow, change), enforces: true))
            var facts = AccessFacts()
            facts.sandbox = .unknown
            #expect(Self.decide(policy, token, by: facts).unknown == key)
        }
        // What is known to be absent does not match.
        let labelled = AccessPolicy(root: Self.rules(Self.rule("l", .deny) { $0.caller.labels = [Self.pattern("*")] }))
        #expect(Self.decide(labelled, token, by: Self.service()).rule.id == "default.token")
    }

    @Test("each key of a rule compares its part of the request or the caller")
    func keys() throws {
        var scoped = try Self.request(TokenGet.self, "work")
        scoped.scopes = .listed(["read", "write"])
        var call = try Self.request(APICall.self, "work")
        call.endpoint = "items.list"
        var sandboxed = Self.service { $0.sandbox = .text("flatpak") }
        sandboxed.isConfined = true
        let bus = Self.service { $0.listener = .dbus }
        let table: [(Bool, AccessRequest, AccessFacts, (inout AccessRule) -> Void)] = [
            (true, scoped, Self.service(), { $0.caller.executables = [Self.pattern("/usr/*")] }),
            (false, scoped, Self.service(), { $0.caller.executables = [Self.pattern("/bin/*")] }),
            (true, scoped, Self.service(), { $0.caller.units = [Self.pattern("a"), Self.pattern("sync.*")] }),
            (true, scoped, Self.service(), { $0.caller.slices = [Self.pattern("app.slice")] }),
            (true, scoped, Self.service(), { $0.caller.terminal = false }),
            (false, scoped, Self.service(), { $0.caller.terminal = true }),
            (true, scoped, sandboxed, { $0.caller.sandboxes = [.any] }),
            (true, scoped, sandboxed, { $0.caller.sandboxes = [.kind(.flatpak)] }),
            (false, scoped, sandboxed, { $0.caller.sandboxes = [.kind(.snap), .none] }),
            (true, scoped, bus, { $0.caller.listeners = [.name(.dbus)] }),
            (false, scoped, Self.service(), { $0.caller.listeners = [.name(.dbus), .limited] }),
            (true, scoped, Self.service(), { $0.request.sessions = [Self.pattern("w*k")] }),
            (false, scoped, Self.service(), { $0.request.sessions = [Self.pattern("home")] }),
            (true, scoped, Self.service(), { $0.request.methods = [Self.pattern("token.*")] }),
            (false, scoped, Self.service(), { $0.request.classes = [.act] }),
            (true, scoped, Self.service(), { $0.request.scopes = [Self.pattern("write")] }),
            (false, scoped, Self.service(), { $0.request.scopes = [Self.pattern("admin")] }),
            (false, call, Self.service(), { $0.request.scopes = [Self.pattern("*")] }),
            (true, call, Self.service(), { $0.request.endpoints = [Self.pattern("items.*")] }),
            (false, scoped, Self.service(), { $0.request.endpoints = [Self.pattern("*")] }),
        ]
        for (index, (matches, request, facts, change)) in table.enumerated() {
            let policy = AccessPolicy(user: Self.rules(Self.rule("r", from: .user, .deny, change)))
            #expect(Self.decide(policy, request, by: facts).isDenied == matches, "row \(index)")
        }
    }

    @Test("a token with all scopes, or a request about any session, is denied like one with those of a rule")
    func wide() throws {
        var token = try Self.request(TokenGet.self)
        func outcome(_ effect: AccessRule.Effect, _ change: (inout AccessRule) -> Void) -> String {
            Self.decide(AccessPolicy(root: Self.rules(Self.rule("r", effect, change))), token, by: Self.service()).rule
                .id
        }
        let scope: (inout AccessRule) -> Void = { $0.request.scopes = [Self.pattern("admin")] }
        #expect(outcome(.deny, scope) == "root.r" && outcome(.allow, scope) == "default.token")
        token.scopes = .listed(["admin", "read"])
        #expect(outcome(.deny, scope) == "root.r" && outcome(.allow, scope) == "default.token")
        token.scopes = .listed(["admin"])
        #expect(outcome(.allow, scope) == "root.r")
        // As `token.get` treats it: an empty list requests all.
        for none in [nil, []] as [[String]?] {
            token.scopes = .init(none)
            #expect(outcome(.deny, scope) == "root.r" && outcome(.allow, scope) == "default.token")
        }
        #expect(AccessRequest.Scopes(["admin"]) == .listed(["admin"]))

        let session: (inout AccessRule) -> Void = { $0.request.sessions = [Self.pattern("work")] }
        token.target = .any
        #expect(outcome(.deny, session) == "root.r" && outcome(.allow, session) == "default.token")
        token.target = .none
        #expect(outcome(.deny, session) == "default.token")
        // It is decided again when the session is known.
        token.target = .later
        #expect(outcome(.deny, session) == "default.token" && outcome(.allow, session) == "root.r")
    }

    @Test("a call with an address needs to be allowed as a call of its endpoint and as api.request")
    func address() throws {
        var call = try Self.request(APICall.self, "work")
        (call.endpoint, call.reachesAnyPath) = ("user", true)
        #expect(!Self.decide(AccessPolicy(), call, by: Self.service()).isDenied)
        let tests: [(String, Bool, (inout AccessRule) -> Void)] = [
            ("paths", true, { $0.request.methods = [Self.pattern("api.request")] }),
            ("call", true, { $0.request.endpoints = [Self.pattern("user")] }),
            ("other", false, { $0.request.endpoints = [Self.pattern("users")] }),
            ("token", false, { $0.request.methods = [Self.pattern("token.get")] }),
        ]
        for (name, isDenied, change) in tests {
            for enforces in [true, false] {
                let rule = Self.rule(name, from: .user, .deny, change)
                let policy = AccessPolicy(user: Self.rules(rule, enforces: enforces))
                let decision = Self.decide(policy, call, by: Self.service())
                #expect(decision.isDenied == isDenied && decision.isRefused == (isDenied && enforces), "\(name)")
                #expect(isDenied == (decision.rule.id == "user." + name))
            }
        }
        // Only the endpoint is allowed.
        let allowed = Self.rule("user", .allow) { $0.request.endpoints = [Self.pattern("user")] }
        let calls = Self.rule("calls", .deny) { $0.request.classes = [.act] }
        let policy = AccessPolicy(root: Self.rules(allowed, calls, enforces: true))
        #expect(Self.decide(policy, call, by: Self.service()).rule.id == "root.calls")
        call.reachesAnyPath = false
        #expect(Self.decide(policy, call, by: Self.service()).rule.id == "root.user")
    }

    @Test("a confined client is decided by its boundary and the rules of files, not by the defaults")
    func confined() throws {
        var facts = Self.service { $0.sandbox = .text("user-namespace") }
        facts.isConfined = true
        let token = try Self.request(TokenGet.self)
        for (listener, rule) in [("api", "extra"), ("dbus", "extra"), ("extra", "extra"), ("box", "box")] {
            facts.listener = try #require(ListenerName(rawValue: listener))
            #expect(Self.decide(AccessPolicy(), token, by: facts).rule.id == "listener.\(rule)")
        }
        let rule = Self.rule("boxes", from: .user, .deny) { $0.caller.sandboxes = [.any] }
        let policy = AccessPolicy(user: Self.rules(rule, enforces: true))
        #expect(Self.decide(policy, token, by: facts).isRefused)
        #expect(!Self.decide(policy, token, by: Self.service()).isDenied)
    }

    @Test("a rule can name all sockets for limited access, whatever their names are")
    func limitedListeners() throws {
        var facts = Self.service()
        facts.isConfined = true
        let token = try Self.request(TokenGet.self)
        let rule = Self.rule("remote", .deny) { $0.caller.listeners = [.limited] }
        let policy = AccessPolicy(root: Self.rules(rule, enforces: true))
        for (listener, isDenied) in [("extra", true), ("box", true), ("api", false), ("dbus", false)] {
            facts.listener = try #require(ListenerName(rawValue: listener))
            #expect(Self.decide(policy, token, by: facts).isDenied == isDenied, "\(listener)")
        }
    }

    @Test("a file that cannot be used denies account and admin, even if rules are not enforced")
    func broken() throws {
        for policy in [AccessPolicy(root: .broken(.root)), AccessPolicy(user: .broken(.user))] {
            let source = policy.root.isBroken ? "root" : "user"
            for method in [LoginStart.self, SessionExport.self] as [any AgentMethod.Type] {
                let decision = Self.decide(policy, try Self.request(method), by: Self.terminal())
                #expect(decision.isRefused && decision.rule.id == "\(source).broken-file")
                // The default, which would ask the user, is not enforced.
                let other = Self.decide(policy, try Self.request(method), by: Self.service())
                #expect(other.isRefused && other.rule.id == "\(source).broken-file")
            }
            for method in [TokenGet.self, SessionListGet.self, APICall.self] as [any AgentMethod.Type] {
                #expect(!Self.decide(policy, try Self.request(method), by: Self.service()).isDenied)
            }
        }
        let repair = Self.decide(
            AccessPolicy(user: .broken(.user)), try Self.request(PolicyApply.self), by: Self.terminal())
        #expect(!repair.isDenied)
    }

    @Test("the user's programs may lock and unlock, even without a terminal or with a broken file; others may not")
    func lock() throws {
        let policies = [
            AccessPolicy(), AccessPolicy(user: Self.rules(enforces: true)), AccessPolicy(root: .broken(.root)),
            AccessPolicy(user: .broken(.user)), AccessPolicy(root: .broken(.root), user: .broken(.user)),
        ]
        let other = Self.service { $0.isOwnUser = false }
        let boxed = Self.service { $0.sandbox = .text("flatpak") }
        for policy in policies {
            for method in [AgentLock.self, AgentUnlock.self] as [any AgentMethod.Type] {
                let request = try Self.request(method)
                #expect(!Self.decide(policy, request, by: Self.service()).isDenied)
                for facts in [other, boxed] { #expect(Self.decide(policy, request, by: facts).isDenied) }
            }
            let passphrase = Self.decide(policy, try Self.request(AgentPassphrase.self), by: Self.service())
            #expect(passphrase.isDenied || passphrase.rule.effect == .ask)
        }
        // A rule of a file may still deny it.
        let deny = Self.rule("no-unlock", from: .user, .deny) { $0.request.methods = [Self.pattern("agent.unlock")] }
        let narrowed = AccessPolicy(user: Self.rules(deny, enforces: true))
        #expect(Self.decide(narrowed, try Self.request(AgentUnlock.self), by: Self.terminal()).isRefused)
    }

    @Test("nothing is read of a caller that no rule needs, and the executable last")
    func reading() throws {
        var read: [AccessFacts.Need] = []
        func decide(_ policy: AccessPolicy, _ request: AccessRequest) -> AccessDecision {
            read = []
            return policy.decision(about: request) {
                read.append($0)
                return Self.service()
            }
        }
        let token = try Self.request(TokenGet.self)
        #expect(!decide(AccessPolicy(), token).testsProgram)
        #expect(Set(read) == [.connection])
        #expect(decide(AccessPolicy(), try Self.request(LoginStart.self)).rule.id == "default.no-terminal")
        #expect(Set(read) == [.connection, .process])
        let rule = Self.rule("r", .deny) {
            $0.caller.units = [Self.pattern("other.service")]
            $0.caller.executables = [Self.pattern("/usr/bin/curl")]
        }
        #expect(!decide(AccessPolicy(root: Self.rules(rule)), token).testsProgram)
        #expect(!read.contains(.program))
        let program = Self.rule("r", .deny) { $0.caller.executables = [Self.pattern("/usr/bin/curl")] }
        #expect(decide(AccessPolicy(root: Self.rules(program, program)), token).testsProgram)
        #expect(read.count { $0 == .program } == 1)
    }

    @Test("a pattern matches the whole text, and its stars any part of it")
    func patterns() throws {
        let table: [(String, String, Bool)] = [
            ("a", "a", true), ("a", "ab", false), ("a", "ba", false), ("a*", "a", true), ("a*", "abc", true),
            ("*c", "abc", true), ("*b", "abc", false), ("a*c", "abbc", true), ("a*b*c", "aXbYbZc", true),
            ("*", "", true), ("**a", "ba", true), ("a?", "ab", false), ("[a]", "a", false), ("é*", "école", true),
            ("/usr/*/x", "/usr/a/b/x", true), ("*a*a*a*b", String(repeating: "a", count: 3000), false),
        ]
        for (pattern, text, matches) in table {
            #expect(try #require(TextPattern(pattern)).matches(text) == matches, "\(pattern) \(text.prefix(20))")
        }
        for bad in ["", "a\nb", String(repeating: "a", count: 513), String(repeating: "*", count: 9), "a\u{7F}"] {
            #expect(TextPattern(bad) == nil)
        }
    }
}
