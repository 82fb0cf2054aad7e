import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("Access rules that need the user")
struct AccessCheckTests {
    private typealias Rules = AccessPolicyTests

    @Test("a rule for presence asks only if rules are enforced, in either list, and never about a status")
    func presence() throws {
        let token = try Rules.request(TokenGet.self, "work")
        func policy(_ source: AccessRule.Source, enforces: Bool, _ effect: AccessRule.Effect = .presence)
            -> AccessPolicy
        {
            let rules = Rules.rules(Rules.rule("there", from: source, effect), enforces: enforces)
            return source == .root ? AccessPolicy(root: rules) : AccessPolicy(user: rules)
        }
        for source in [AccessRule.Source.root, .user] {
            let asked = Rules.decide(policy(source, enforces: true), token, by: Rules.service())
            #expect(asked.presence == .release && !asked.isDenied && asked.enforced == true)
            #expect(asked.result == "needs_presence")
            let recorded = Rules.decide(policy(source, enforces: false), token, by: Rules.service())
            #expect(recorded.presence == nil && recorded.enforced == false && recorded.result == "would_need_presence")
            let status = Rules.decide(
                policy(source, enforces: true), try Rules.request(SessionStatusGet.self, "work"), by: Rules.service())
            #expect(status.presence == nil && status.rule.id == "default.status")
        }
        // Either list may deny, and the user's allowance does not undo root's rule.
        var both = policy(.root, enforces: true)
        both.user.rules = [Rules.rule("no", from: .user, .deny)]
        #expect(Rules.decide(both, token, by: Rules.service()).isRefused)
        both.user.rules = [Rules.rule("yes", from: .user, .allow)]
        #expect(Rules.decide(both, token, by: Rules.service()).presence == .release)
        both = policy(.root, enforces: true, .deny)
        both.user.rules = [Rules.rule("there", from: .user, .presence)]
        let denied = Rules.decide(both, token, by: Rules.service())
        #expect(denied.isRefused && denied.presence == nil && denied.rule.id == "root.there")
    }

    @Test("a rule that asks is stronger than an allowance and weaker than presence, and lets the user answer")
    func asking() throws {
        let token = try Rules.request(TokenGet.self, "work")
        func check(_ root: AccessRule.Effect, _ user: AccessRule.Effect, _ request: AccessRequest) -> AccessCheck? {
            let policy = AccessPolicy(
                root: Rules.rules(Rules.rule("r", root), enforces: true),
                user: Rules.rules(Rules.rule("u", from: .user, user)))
            return Rules.decide(policy, request, by: Rules.terminal()).check
        }
        #expect(check(.allow, .ask, token) == .consent && check(.ask, .allow, token) == .consent)
        #expect(check(.presence, .ask, token) == .presence(.release))
        #expect(check(.ask, .presence, token) == .presence(.release))
        #expect(check(.deny, .ask, token) == nil && check(.ask, .deny, token) == nil)
        for method in [ConsentListGet.self, ConsentAnswerCall.self, SessionListGet.self] as [any AgentMethod.Type] {
            #expect(check(.ask, .ask, try Rules.request(method)) == nil)
        }
        let recorded = Rules.decide(
            AccessPolicy(user: Rules.rules(Rules.rule("u", from: .user, .ask))), token, by: Rules.terminal())
        #expect(recorded.check == nil && recorded.enforced == false && recorded.result == "would_need_consent")
    }

    @Test("without a terminal the user is asked about account and admin; other users and sandboxes are refused")
    func withoutTerminal() throws {
        var enforced = AccessPolicy()
        enforced.user.enforces = true
        let table: [(any AgentMethod.Type, String)] = [
            (LoginStart.self, "default.no-terminal"), (SessionLogout.self, "default.no-terminal"),
            (AgentReload.self, "default.no-login-terminal"), (AuditListGet.self, "default.no-login-terminal"),
        ]
        for (method, rule) in table {
            let request = try Rules.request(method)
            let asked = Rules.decide(enforced, request, by: Rules.service())
            #expect(asked.check == .consent && asked.rule.id == rule && !asked.isDenied, "\(method)")
            #expect(asked.result == "needs_consent" && asked.enforced == true, "\(method)")
            let recorded = Rules.decide(AccessPolicy(), request, by: Rules.service())
            #expect(recorded.check == nil && recorded.enforced == false, "\(method)")
            #expect(recorded.result == "would_need_consent", "\(method)")
            let terminal = Rules.decide(enforced, request, by: Rules.terminal())
            #expect(terminal.check == nil && terminal.enforced == nil, "\(method)")
            for facts in [Rules.service { $0.isOwnUser = false }, Rules.service { $0.sandbox = .text("flatpak") }] {
                #expect(Rules.decide(enforced, request, by: facts).isRefused, "\(method)")
            }
        }
        for method in [ConsentListGet.self, ConsentAnswerCall.self] as [any AgentMethod.Type] {
            let answer = Rules.decide(enforced, try Rules.request(method), by: Rules.service())
            #expect(answer.isRefused && answer.rule.id == "default.rest", "\(method)")
        }
        let unasked = Rules.decide(enforced, try Rules.request(SessionLogout.self), by: Rules.service())
            .unaskedError("session.logout")
        #expect(unasked.kind == .denied && unasked.cause == "consent_unavailable")
        #expect(unasked.details == ["default.no-terminal"] && unasked.message.contains("default.no-terminal"))
    }

    @Test("a token is guarded if the settings mark its session, or if an enforced rule requires presence for it")
    func guarded() throws {
        let (work, home) = (try SessionName("work"), try SessionName("home"))
        var marked = AccessPolicy()
        marked.presenceSessions = [work]
        #expect(marked.needsPresence(toRelease: work) && !marked.needsPresence(toRelease: home))
        func policy(
            _ classes: [AccessClass]?, enforces: Bool = true, effect: AccessRule.Effect = .presence
        ) -> AccessPolicy {
            let rule = Rules.rule("there", effect) {
                $0.request.sessions = [Rules.pattern("w*")]
                $0.request.classes = classes
            }
            return AccessPolicy(root: Rules.rules(rule, enforces: enforces))
        }
        for classes in [nil, [.token]] as [[AccessClass]?] {
            #expect(policy(classes).needsPresence(toRelease: work))
            #expect(!policy(classes).needsPresence(toRelease: home))
            #expect(!policy(classes, enforces: false).needsPresence(toRelease: work))
            #expect(!policy(classes, effect: .ask).needsPresence(toRelease: work))
        }
        #expect(!policy([.admin]).needsPresence(toRelease: work))
    }

    @Test("an export needs presence where rules are enforced, and requests for a marked session everywhere")
    func marked() throws {
        var enforced = AccessPolicy()
        enforced.root.enforces = true
        var policy = AccessPolicy()
        policy.presenceSessions = [try SessionName("work")]
        let table: [(any AgentMethod.Type, PresenceAction?)] = [
            (TokenGet.self, .release), (TokenProof.self, .release), (APICall.self, .release),
            (SessionExport.self, .export), (SessionTrust.self, .trust), (TokenReject.self, nil),
            (StoreMigrate.self, .export), (StoreRekey.self, .export), (ClusterAdmit.self, .export),
            (StoreUnlock.self, nil), (ClusterForget.self, nil),
            (SessionStatusGet.self, nil), (SessionLogout.self, nil), (SessionRefresh.self, nil),
        ]
        for (method, action) in table {
            let request = try Rules.request(method, "work")
            #expect(Rules.decide(policy, request, by: Rules.service()).presence == action, "\(method)")
            let other = try Rules.request(method, "home")
            #expect(Rules.decide(policy, other, by: Rules.service()).presence == nil, "\(method)")
        }
        // Each of these is about all sessions.
        let exports: [any AgentMethod.Type] = [
            SessionExport.self, StoreMigrate.self, StoreRekey.self, ClusterAdmit.self,
        ]
        for method in exports {
            var all = try Rules.request(method)
            all.target = .any
            #expect(Rules.decide(policy, all, by: Rules.service()).presence == .export, "\(method)")
            for caller in [Rules.service(), Rules.terminal()] {
                let asked = Rules.decide(enforced, all, by: caller)
                #expect(asked.presence == .export && asked.rule.id == "default.export", "\(method)")
                #expect(!asked.isDenied, "\(method)")
            }
            #expect(Rules.decide(AccessPolicy(), all, by: Rules.service()).presence == nil, "\(method)")
            let boxed = Rules.service { $0.sandbox = .text("flatpak") }
            #expect(Rules.decide(enforced, all, by: boxed).isRefused, "\(method)")
            // A rule about one of the sessions applies, too.
            let rule = Rules.rule("there", .presence) { $0.request.sessions = [Rules.pattern("work")] }
            let ruled = Rules.decide(AccessPolicy(root: Rules.rules(rule, enforces: true)), all, by: Rules.terminal())
            #expect(ruled.presence == .export && ruled.rule.id == "root.there", "\(method)")
        }
        // A denial that is only recorded does not end the mark.
        policy.user = Rules.rules(Rules.rule("no", from: .user, .deny))
        #expect(
            Rules.decide(policy, try Rules.request(TokenGet.self, "work"), by: Rules.service()).presence == .release)
    }
}
