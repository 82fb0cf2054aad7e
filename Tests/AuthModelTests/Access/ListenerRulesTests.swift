import AgentTestSupport
import AuthModel
import AuthWire
import Testing

@Suite("The rules for confined clients")
struct ListenerRulesTests {
    private static func rules(_ change: (inout ListenerRules) -> Void) throws -> ListenerRules {
        var rules = ListenerRules()
        rules.sessions = [try SessionName("work")]
        change(&rules)
        return rules
    }

    private static func allowed(by rules: ListenerRules) -> Set<String> {
        Set(AgentMethods.all.filter { rules.allows($0.name, $0.access) }.map { $0.name })
    }

    private static func tokenGet(_ scopes: [String]? = nil, _ audience: String? = nil) -> ConfinedRequest {
        var request = ConfinedRequest(method: "token.get", access: .token)
        (request.scopes, request.audience) = (scopes, audience)
        return request
    }

    @Test("without rules only the agent itself answers")
    func none() throws {
        #expect(Self.allowed(by: ListenerRules()) == ["agent.ping", "agent.info", "rpc.discover"])
    }

    @Test("a class allows its filtered methods, and neither a token, a queue nor anything of account and admin")
    func classes() throws {
        let all = Self.allowed(by: try Self.rules { $0.classes = [.status, .token, .act] })
        #expect(
            all == [
                "agent.ping", "agent.info", "rpc.discover", "session.list", "session.status", "session.wait",
                "provider.list", "provider.show", "network.status", "events.subscribe", "events.unsubscribe",
                "session.refresh", "session.validate", "token.reject", "api.call", "api.write", "api.read", "api.close",
            ])
        // Even if they got past the settings' reader.
        let forced = try Self.rules {
            $0.classes = Set(AccessClass.allCases)
            $0.methods = Set(AgentMethods.all.map { $0.name })
        }
        let more = Self.allowed(by: forced).subtracting(all)
        #expect(more == ["token.get", "token.proof", "user.get", "api.request"])
        for method in AgentMethods.all where method.access == .account || method.access == .admin {
            #expect(!forced.allows(method.name, method.access), "\(method.name)")
        }
    }

    @Test("the browser is lent if the settings list providers for that, and in no other way")
    func lending() throws {
        var rules = ListenerRules()
        rules.signInScopes = ["openid"]
        let request = ConfinedRequest(method: "login.lend", access: .account, at: .extra)
        let refusal = try #require(request.refusal(by: rules))
        #expect(refusal.kind == .denied && refusal.message.contains("sign_in_providers"))
        rules.signInProviders = ["corp"]
        #expect(request.refusal(by: rules) == nil)
        let more = Self.allowed(by: rules).subtracting(Self.allowed(by: ListenerRules()))
        #expect(more == ["login.lend"])
    }

    @Test("only listed endpoints may be called; what chooses its own address needs api.request by name")
    func endpoints() throws {
        let rules = try Self.rules {
            $0.classes = [.act]
            $0.endpoints = ["me"]
        }
        #expect(!rules.allows("api.request", .act) && !rules.allows("user.get", .act))
        var call = ConfinedRequest(method: "api.call", access: .act)
        (call.session, call.endpoint) = (try SessionName("work"), "me")
        #expect(call.refusal(by: rules) == nil)
        call.hasAddress = true
        #expect(call.refusal(by: rules)?.kind == .denied)
        call.hasAddress = false
        call.endpoint = "delete-user"
        #expect(call.refusal(by: rules)?.kind == .denied)
        call.endpoint = "me"
        let without = try Self.rules { $0.classes = [.act] }
        #expect(call.refusal(by: without)?.kind == .denied)
        call.hasAddress = true
        let byName = try Self.rules {
            $0.methods = ["api.call", "api.request"]
            $0.endpoints = ["me"]
        }
        #expect(byName.allows("api.request", .act) && call.refusal(by: byName) == nil)
    }

    @Test("a queued write is refused, because the rules may change before it is sent")
    func queue() throws {
        let rules = try Self.rules { $0.methods = ["api.request"] }
        var call = ConfinedRequest(method: "api.request", access: .act)
        call.session = try SessionName("work")
        #expect(call.refusal(by: rules) == nil)
        call.isQueued = true
        #expect(call.refusal(by: rules)?.kind == .denied)
    }

    @Test("token.get needs its name in the settings, and a scope and an audience of the lists")
    func tokens() throws {
        let off = try Self.rules { $0.classes = [.token] }
        #expect(Self.tokenGet(["read"]).refusal(by: off)?.kind == .denied)
        let unlimited = try Self.rules { $0.methods = ["token.get"] }
        #expect(Self.tokenGet(["read"]).refusal(by: unlimited)?.kind == .denied)
        let scopes = try Self.rules {
            $0.methods = ["token.get"]
            $0.scopes = ["read", "list"]
        }
        #expect(Self.tokenGet(["read"]).refusal(by: scopes) == nil)
        #expect(Self.tokenGet(["read", "list"]).refusal(by: scopes) == nil)
        for wrong in [nil, [], ["write"], ["read", "write"], ["read list"]] as [[String]?] {
            let refusal = Self.tokenGet(wrong).refusal(by: scopes)
            #expect(refusal?.kind == .denied && refusal?.details == ["list", "read"], "\(wrong ?? [])")
        }
        #expect(Self.tokenGet(["read"], "https://other.example").refusal(by: scopes)?.kind == .denied)
        let both = try Self.rules {
            $0.methods = ["token.get"]
            $0.scopes = ["read"]
            $0.audiences = ["https://api.example"]
        }
        #expect(Self.tokenGet(["read"], "https://api.example").refusal(by: both) == nil)
        #expect(Self.tokenGet(["read"]).refusal(by: both)?.kind == .denied)
        #expect(Self.tokenGet(nil, "https://api.example").refusal(by: both)?.kind == .denied)
    }

    private static func token(_ text: String = "opaque", granted: [String]? = nil) throws -> TokenResult {
        var token = TokenResult(accessToken: text, tokenType: "Bearer", session: try SessionName("work"))
        token.granted = granted
        return token
    }

    @Test("a token with more scopes than were requested, or the session's own token, is not returned")
    func granted() throws {
        let rules = try Self.rules { $0.scopes = ["read", "write"] }
        let request = Self.tokenGet(["read"])
        for narrow in [nil, ["read"], []] as [[String]?] {
            #expect(request.refusal(of: try Self.token(granted: narrow), by: rules) == nil)
        }
        #expect(request.refusal(of: try Self.token(granted: ["read", "write"]), by: rules)?.kind == .denied)
        for claim in [#""scope":"read write""#, #""scp":["read","write"]"#] {
            let token = try Self.token(Sample.jwt("{\(claim)}"))
            #expect(request.refusal(of: token, by: rules)?.kind == .denied, "\(claim)")
        }
        #expect(request.refusal(of: try Self.token(Sample.jwt(#"{"scope":"read"}"#)), by: rules) == nil)
        var own = try Self.token(granted: ["read"])
        own.isOwn = true
        #expect(request.refusal(of: own, by: rules)?.kind == .denied)
    }

    @Test(
        "a token for another audience is not returned, as far as the token says for which one it is",
        arguments: [
            (#"{"aud":"https://a.example"}"#, true), (#"{"aud":["https://a.example","https://b.example"]}"#, true),
            (#"{"aud":"https://other.example"}"#, false), ("{}", false),
            (#"{"aud":["https://a.example","https://other.example"]}"#, false),
        ])
    func audience(claims: String, isAllowed: Bool) throws {
        let rules = try Self.rules { $0.audiences = ["https://a.example", "https://b.example"] }
        let request = Self.tokenGet(nil, "https://a.example")
        #expect((request.refusal(of: try Self.token(Sample.jwt(claims)), by: rules) == nil) == isAllowed)
        #expect(request.refusal(of: try Self.token("opaque"), by: rules) == nil)
    }

    @Test("a session that is not listed gets the same error whether it exists or not")
    func hiddenSession() throws {
        let rules = try Self.rules { $0.classes = [.status] }
        var request = ConfinedRequest(method: "session.status", access: .status)
        request.session = try SessionName("private")
        #expect(request.refusal(by: rules) == .unknownSession(try SessionName("private")))
    }
}
