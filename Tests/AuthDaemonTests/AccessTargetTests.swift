import AuthModel
import AuthWire
import TestSupport
import Testing

@testable import AuthDaemon

/// Which session the rules decide about.
@Suite("The session that a request is about", .timeLimit(.minutes(1)))
struct AccessTargetTests {
    private static let work = try? SessionName("work")
    private static let chosen = try? SessionName("chosen")

    private static func request<Method: AgentMethod>(
        _: Method.Type, session: String? = nil, _ more: JSONObject = [:]
    ) throws -> Method {
        var params: JSONObject = [
            "provider": "shop", "access_token": "t", "method": "GET", "path": "/", "url": "https://a",
            "endpoint": "e", "fields": [:], "until": "active", "parcel_base64": "", "login": "l", "stream": "s",
            "offset": 0, "address": "a", "to": "memory", "passphrase": "a passphrase", "text": "",
            "question": 1, "allowed": true, "code": "c", "host": "h", "client_id": "c", "issuer": "i", "device": true,
        ]
        if let session { params["session"] = .string(session) }
        // A sign-in is to a provider or to a URL, and only some methods are about a provider.
        if Method.name == LoginStart.name { params["url"] = nil }
        if Method.name.hasPrefix("password.") { params["provider"] = nil }
        if Method.name == SessionUse.name, session == nil { params["session"] = "other" }
        for key in more.keys { params[key] = more[key] }
        let known = Set(Method.memberList.map(\.name))
        for key in params.keys where !known.contains(key) { params[key] = nil }
        return try Method(params: .object(params))
    }

    private static func target<Method: AgentMethod>(
        of method: Method.Type, session: String? = nil, _ more: JSONObject = [:]
    ) throws -> AccessRequest.Target {
        let related: (String) -> SessionName? = { ["l", "s"].contains($0) ? Self.work : nil }
        return AccessRequest(
            try Self.request(method, session: session, more), default: Self.chosen, streamSession: related,
            signInSession: related
        ).target
    }

    @Test("each method that has a session is decided by it")
    func named() throws {
        let work = try #require(Self.work)
        for method in AgentMethods.all where method.memberList.contains(where: { $0.name == "session" }) {
            // Its param is of the request that is tested.
            if method.name == PolicyTest.name { continue }
            #expect(try Self.target(of: method, session: "work") == .named(work), "\(method.name)")
        }
    }

    @Test("without a session it is the default one, all, none, or that of the sign-in or stream that is named")
    func unnamed() throws {
        let (work, chosen) = (try #require(Self.work), try #require(Self.chosen))
        let table: [(AccessRequest.Target, [any AgentMethod.Type])] = [
            (
                .named(chosen),
                [
                    TokenGet.self, SessionStatusGet.self, APICall.self, SessionLogout.self, PasswordSet.self,
                    PasswordChange.self, PasswordRequestReset.self, PasswordReset.self,
                ]
            ),
            (.any, [LoginStart.self, SessionExport.self, SessionImport.self, OutboxListGet.self, OutboxDrop.self]),
            (.any, [StoreMigrate.self, StoreRekey.self, ClusterAdmit.self]),
            (.none, [EventsSubscribe.self, AgentReload.self, PolicyApply.self, SessionListGet.self]),
            (
                .named(work),
                [
                    APIWrite.self, APIRead.self, APIClose.self, LoginAnswer.self, LoginCheck.self, LoginWait.self,
                    LoginCancel.self, LoginResend.self,
                ]
            ),
        ]
        for (target, methods) in table {
            for method in methods { #expect(try Self.target(of: method) == target, "\(method.name)") }
        }
        // It only renews the key inside.
        #expect(AccessRequest(StoreRekey(), default: chosen).target == .none)
        #expect(AccessRequest(StoreRekey(key: [1]), default: chosen).target == .any)
        #expect(try Self.target(of: TokenGet.self, ["origin": "https://a.example"]) == .later)
        #expect(try Self.target(of: TokenGet.self, session: "work", ["origin": "https://a.example"]) == .named(work))
        #expect(try Self.target(of: PasswordReset.self, ["provider": "shop"]) == .any)
        #expect(try Self.target(of: PasswordChange.self, ["provider": "shop"]) == .named(chosen))
        #expect(try Self.target(of: LoginWait.self, ["login": "unknown"]) == .any)
        #expect(try Self.target(of: APIRead.self, ["stream": "unknown"]) == .later)
    }

    @Test("a request that is tested or replayed is about the same session as the request itself")
    func described() throws {
        for method in AgentMethods.all where method.name != PolicyTest.name {
            for session in [nil, "work"] {
                let names = method.memberList.map(\.name)
                if session == nil, names.contains("login") || names.contains("stream") { continue }
                // What names the session cannot be described.
                if session == nil, method.name == SessionUse.name { continue }
                let isNamed = session != nil && names.contains("session")
                if session != nil, !isNamed { continue }
                let found = AccessRequest(
                    method: method.name, session: isNamed ? Self.work : nil, endpoint: "e", scopes: nil,
                    default: Self.chosen)
                let real = try Self.target(of: method, session: session)
                #expect(found?.target == real, "\(method.name) \(session ?? "-")")
            }
        }
        #expect(AccessRequest(method: "no.method", session: nil, endpoint: nil, scopes: nil, default: nil) == nil)
        // It moves every session, whichever is named.
        let move = AccessRequest(
            method: StoreMigrate.name, session: Self.work, endpoint: nil, scopes: nil, default: Self.chosen)
        #expect(move?.target == .any)
        let token = AccessRequest(
            method: TokenGet.name, session: nil, endpoint: nil, scopes: ["a"], hasOrigin: true, default: nil)
        #expect(token?.target == .later && token?.scopes == .listed(["a"]))
        // The audit log does not have the default session of every request.
        let replayed = AccessRequest(
            method: SessionLogout.name, session: nil, endpoint: nil, scopes: nil, default: nil)
        #expect(replayed?.target == .any)
    }

    @Test("what a rule about the session of a token for an origin would deny is recorded with that rule")
    func recorded() async throws {
        var rule = AccessRule("no-shop", from: .user, .deny)
        rule.request.sessions = ["shop"].compactMap(TextPattern.init)
        var policy = AccessPolicy()
        policy.user.rules = [rule]
        let catalog = ProfileCatalog(["shop", "work"].map(AuditRecordTests.profile))
        try await TestServer.run(names: ["shop", "work"], catalog: catalog, accessPolicy: policy) { rig in
            try await onThread {
                let client = try rig.dial()
                for name in ["shop", "work"] {
                    let answer = try client.ask("token.get", ["origin": .string("https://\(name).example")])
                    #expect(answer["result"]?["session"] == .string(name), "\(answer.text())")
                }
                let entries = try AuditLogTests.list(rig)
                #expect(entries.map(\.rule) == ["user.no-shop", "default.token"])
                #expect(entries.map(\.enforced) == [false, nil])
            }
        }
    }

    @Test("the default session that was decided about is the one whose password is changed")
    func pinned() throws {
        var request = try Self.request(PasswordChange.self)
        let scoped = try #require(request as any AgentMethod as? any SessionScoped)
        #expect(scoped.session == nil)
        request.session = Self.work
        #expect(request.params.session == Self.work)
    }
}
