import AuthModel
import AuthWire
import Testing

/// Each text is one that a released authd wrote, byte for byte.
@Suite("A stored format stays the same")
struct StoredFormatTests {
    private static let client = #"""
        {"issuer":"https://as.example","id":"c","authentication":"basic","secret":"s","secret_ends_at":1900000000.0,\#
        "place":"https://as.example/c","place_token":"t","redirect":"http://127.0.0.1/callback","scopes":["a","b"],\#
        "requested_authentication":"post","binds_tokens":true}
        """#

    private static let fullRecord = #"""
        {"format":2,"session":"work","provider":"p","environment":"e","method":"m","access_token":"a",\#
        "token_type":"bearer","issued_at":1800000000.125,"needs_password":true,"signed_in_at":1799999999.0,\#
        "sign_in":"s1-2","generation":9,"corrections":3,"changes":7,"revision":19,"refresh_token":"r\"\n",\#
        "expires_at":1800003600.0,"refresh_issued_at":1799000000.0,"refresh_expires_at":1900000000.0,\#
        "proof_key":"k","granted_scopes":["read","write"],"scopes":["read"],"token_is_suspect":true,\#
        "client_secret":"cs","client":\#(client),"user":{"id":"7","email":"ada@example.org","verified":false},\#
        "raw_user":{"id":7,"tags":["a",null]},"user_received_at":1799999998.0,"default_since":1799999998.5,\#
        "origins":{"uses":{"https://a.example":["credentials","access_token"]},"issuer":"https://as.example",\#
        "incomplete":true},"default_implied":true,"remembered":{"name":"n","password":"pw"}}
        """#

    private static let leastRecord = #"""
        {"format":1,"session":"work","provider":"p","environment":"e","method":"m","access_token":"",\#
        "token_type":"Bearer","issued_at":0.0,"needs_password":false,"signed_in_at":0.0,"sign_in":"at0",\#
        "generation":1,"corrections":0,"changes":1,"revision":2}
        """#

    private static let recordWithCookies = #"""
        {"format":3,"session":"work","provider":"p","environment":"e","method":"m","access_token":"",\#
        "token_type":"Bearer","issued_at":0.0,"needs_password":false,"signed_in_at":0.0,"sign_in":"at0",\#
        "generation":1,"corrections":0,"changes":1,"revision":2,\#
        "cookies":[{"name":"sid","value":"s","domain":"a.example","path":"/","host_only":true,"secure":true,\#
        "expires_at":60.0},{"name":"b","value":"","domain":"example","path":"/x"}]}
        """#

    private func registeredClient() throws -> RegisteredClient {
        var oauth = OAuthProfile(issuer: nil, clientID: "", scopes: ["a", "b"])
        oauth.clientAuthentication = .post
        oauth.bindsTokens = true
        var client = try RegisteredClient(
            [
                "client_id": "c", "client_secret": "s", "client_secret_expires_at": 1_900_000_000,
                "registration_client_uri": "https://as.example/c", "registration_access_token": "t",
            ], issuer: "https://as.example", mayBeInsecure: false)
        client.request = RegisteredClient.Request(oauth)
        return client
    }

    private func record() throws -> SessionRecord {
        var origins = TokenOrigins(issuer: "https://as.example", isComplete: false)
        origins.allow([.accessToken, .credentials], at: "https://a.example/path")
        return SessionRecord(
            session: try SessionName("work"), provider: "p", environment: "e", method: "m",
            tokens: TokenSet(
                accessToken: Secret("a"), tokenType: "bearer", refreshToken: Secret("r\"\n"),
                issuedAt: WallTime(unixSeconds: 1_800_000_000.125), expiresAt: WallTime(unixSeconds: 1_800_003_600),
                refreshLife: TokenLife(
                    issuedAt: WallTime(unixSeconds: 1_799_000_000), expiresAt: WallTime(unixSeconds: 1_900_000_000)),
                proofKey: Secret("k"), scopes: TokenScopes(granted: ["read", "write"], present: ["read"]),
                isSuspect: true),
            user: UserSummary(id: "7", email: "ada@example.org", verified: false),
            rawUser: ["id": 7, "tags": ["a", nil]], userReceivedAt: WallTime(unixSeconds: 1_799_999_998),
            needsPassword: true, signedInAt: WallTime(unixSeconds: 1_799_999_999), signIn: SignInID("s1-2"),
            remembered: ["password": Secret("pw"), "name": Secret("n")], clientSecret: Secret("cs"),
            client: try registeredClient(), generation: 9, corrections: 3, revision: 7,
            defaultSince: WallTime(unixSeconds: 1_799_999_998.5), isDefaultImplied: true, origins: origins)
    }

    @Test("of a session with all members")
    func wholeRecord() throws {
        let record = try record()
        #expect(record.encoded().reveal() == Self.fullRecord)
        #expect(try SessionRecord(decoding: Secret(Self.fullRecord)) == record)
    }

    @Test("of a session with the fewest members")
    func leastRecord() throws {
        let record = SessionRecord(
            session: try SessionName("work"), provider: "p", environment: "e", method: "m",
            tokens: TokenSet(accessToken: Secret(""), issuedAt: WallTime(unixSeconds: 0)), user: nil, rawUser: nil,
            signedInAt: WallTime(unixSeconds: 0))
        #expect(record.encoded().reveal() == Self.leastRecord)
        #expect(try SessionRecord(decoding: Secret(Self.leastRecord)) == record)
    }

    @Test("of a session with cookies")
    func recordWithCookies() throws {
        var record = SessionRecord(
            session: try SessionName("work"), provider: "p", environment: "e", method: "m",
            tokens: TokenSet(accessToken: Secret(""), issuedAt: WallTime(unixSeconds: 0)), user: nil, rawUser: nil,
            signedInAt: WallTime(unixSeconds: 0))
        record.tokens.cookies = try #require(
            CookieJar(
                stored: [
                    [
                        "name": "sid", "value": "s", "domain": "a.example", "path": "/", "host_only": true,
                        "secure": true, "expires_at": 60,
                    ], ["name": "b", "value": "", "domain": "example", "path": "/x"],
                ]))
        #expect(record.encoded().reveal() == Self.recordWithCookies)
        #expect(try SessionRecord(decoding: Secret(Self.recordWithCookies)) == record)
    }

    @Test("of sessions that are handed over")
    func handedOver() throws {
        let text = "authd-sessions 1 secret-service 2\nk- \(Self.fullRecord)\nmu \(Self.fullRecord)\n"
        let sessions = [
            HandedOverSession(record: try record(), isStored: true, isUnsaved: false),
            HandedOverSession(record: try record(), isStored: false, mayBeStored: true, isUnsaved: true),
        ]
        #expect(Handover(sessions).encoded(of: .secretService).reveal() == text)
        #expect(try Handover.decode(Secret(text), of: .secretService) == Handover(sessions))
        let partial = text.replacing("secret-service 2", with: "secret-service 2 partial")
        let handover = Handover(sessions, isPartial: true)
        #expect(handover.encoded(of: .secretService).reveal() == partial)
        #expect(try Handover.decode(Secret(partial), of: .secretService) == handover)
    }

    @Test(
        "of sessions that are handed over, with another number of lines than they have",
        arguments: [0, 1, Int.max, .min])
    func wrongCount(count: Int) {
        let text = "authd-sessions 1 secret-service \(count)\nk- \(Self.fullRecord)\nmu \(Self.fullRecord)\n"
        #expect(throws: DamagedRecord.self) { try Handover.decode(Secret(text), of: .secretService) }
    }

    @Test("of a registered client")
    func client() throws {
        let client = try registeredClient()
        #expect(String(decoding: client.json.serialized(), as: UTF8.self) == Self.client)
        #expect(try RegisteredClient.decode(stored: JSON(parsing: Array(Self.client.utf8))) == client)
    }

    @Test("of an outbox entry, with all members and with the fewest")
    func outboxEntry() throws {
        let session = try SessionName("work")
        var owner = OutboxEntry.Owner(provider: "p", environment: "e", userID: "7")
        let queuedAt = WallTime(unixSeconds: 1_800_000_000)
        var caller = AccessFacts(listener: .extra, isConfined: true, sandbox: .text("flatpak"))
        (caller.executable, caller.unit) = (.text("/usr/bin/app"), .absent)
        let full = OutboxEntry(
            id: "a", session: session, owner: owner, signIn: SignInID("s1-2"), title: "POST /x", idempotencyKey: "k",
            boundary: "b", queuedAt: queuedAt, caller: caller)
        owner.userID = nil
        let least = OutboxEntry(
            id: "a", session: session, owner: owner, title: "POST /x", idempotencyKey: "k", queuedAt: queuedAt)
        let common = #"{"provider":"p","environment":"e","title":"POST /x","key":"k","queued_at":1800000000.0"#
        let known =
            #","caller":{"listener":"extra","own_user":true,"confined":true,"sandbox":"flatpak","exe":"/usr/bin/app""#
            + #","unit":false}}"#
        let texts = [common + #","user":"7","sign_in":"s1-2","boundary":"b""# + known, common + "}"]
        for (entry, text) in zip([full, least], texts) {
            #expect(String(decoding: entry.encoded(), as: UTF8.self) == text)
            #expect(OutboxEntry(id: "a", session: session, encoded: Array(text.utf8), finalRefusal: nil) == entry)
        }
    }

    @Test("of a queued request")
    func outboxRequest() throws {
        let request = OutboxRequest.call(
            APICall(session: try SessionName("work"), endpoint: "vote", args: ["id": "1"], queue: true))
        let text =
            #"{"method":"api.call","params":{"session":"work","endpoint":"vote","args":{"id":"1"},"queue":true}}"#
        #expect(String(decoding: request.encoded(), as: UTF8.self) == text)
        #expect(OutboxRequest(encoded: Array(text.utf8)) == request)
    }

    @Test("of renewal pauses; an invalid one is ignored")
    func pauses() throws {
        func pause(_ text: String) -> String { #"{"failures":2,"from":1800000000.0,\#(text)}"# }
        let from = WallTime(unixSeconds: 1_800_000_000)
        let pauses = [
            try SessionName("a"): RenewalPause(
                failures: 2, from: from, until: from + .seconds(4), isRequestedByProvider: true),
            try SessionName("b"): RenewalPause(
                failures: 2, from: from, until: from, isRequestedByProvider: false),
        ]
        let a = #""a":\#(pause(#""until":1800000004.0,"wanted":true"#))"#
        let b = #""b":\#(pause(#""until":1800000000.0,"wanted":false"#))"#
        #expect(String(decoding: RenewalPause.encode(pauses), as: UTF8.self) == "{\(a),\(b)}")
        let invalid = [
            #""C":\#(pause(#""until":1800000004.0"#))"#, #""c":\#(pause(#""until":1799999999"#))"#,
            #""d":\#(pause(#""until":1800003601"#))"#, #""e":{"failures":0,"from":1800000000,"until":1800000004}"#,
            #""f":{"failures":1000001,"from":1800000000,"until":1800000004}"#, #""g":{"failures":1,"from":1800000000}"#,
            #""h":7"#, #""i":\#(pause(#""until":1e300"#))"#,
        ]
        let text = "{\(([a, b] + invalid).joined(separator: ",")),\"b\":\(pause(#""until":1800000000"#))}"
        #expect(RenewalPause.decode(Array(text.utf8)) == pauses)
        #expect(RenewalPause.decode(Array("[]".utf8)).isEmpty)
    }
}
