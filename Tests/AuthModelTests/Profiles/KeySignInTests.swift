import AgentTestSupport
import AuthModel
import AuthWire
import Testing

@Suite("A key is a token")
struct KeySignInTests {
    private func profile(
        _ token: String = "{key}", fields: [String] = ["key"], check: String? = "/check",
        _ change: (inout ProviderProfile) throws -> Void = { _ in }
    ) throws -> ProviderProfile {
        try Sample.profile { profile in
            var method = SignInMethod(
                name: "key", label: "Key",
                fields: fields.map { StepField(name: $0, label: $0, secret: true, optional: $0 == "note") })
            method.key = SignInKey(
                token: try Template(parsing: token), check: try check.map { try Sample.request("GET", $0) })
            profile.signIn.append(method)
            try change(&profile)
        }
    }

    private func request(_ profile: ProviderProfile, _ fields: [String: String]) throws -> HTTPRequest {
        try profile.request(
            .check, of: profile.method(named: "key"),
            SignInValues(environment: "production", fields: fields.mapValues { Secret($0) }))
    }

    private func grant(
        _ profile: ProviderProfile, _ fields: [String: String], _ reply: HTTPResponse
    ) throws -> Grant? {
        let method = try profile.method(named: "key")
        let values = SignInValues(environment: "production", fields: fields.mapValues { Secret($0) })
        return try profile.read(reply, to: .check, of: method, values, sentAt: Sample.sentAt).grant
    }

    @Test(
        "every text that fits into a header is a key, whatever characters it has",
        arguments: ["k", "a b", "a&b=c", "\"quoted\"", "päss", "x:y{z}", String(repeating: "k", count: 32 << 10)])
    func kept(key: String) throws {
        let profile = try profile()
        let sent = try request(profile, ["key": key])
        #expect(sent.url == "https://api.sample.example/v1/check")
        #expect(sent.headers.first { $0.name == "Authorization" }?.value.reveal() == "Bearer " + key)
        let grant = try #require(try grant(profile, ["key": key], Sample.reply(200, "{}")))
        #expect(grant.accessToken?.reveal() == key && grant.refreshToken == nil && grant.expiresAt == nil)
    }

    @Test(
        "a line break, a NUL or too long a text is refused, and nothing is sent",
        arguments: ["a\nb", "a\r\nX-Evil: 1", "a\0b", String(repeating: "k", count: (32 << 10) + 1)])
    func refused(key: String) throws {
        let profile = try profile()
        let error = #expect(throws: AgentError.self) { try request(profile, ["key": key]) }
        #expect(error?.kind == .validation)
        #expect(error?.message.contains(key) == false)
    }

    @Test("an empty or a missing answer is requested, not sent")
    func missing() throws {
        let profile = try profile()
        for fields in [[:], ["key": ""]] {
            #expect(throws: AgentError.self) { try request(profile, fields) }
        }
    }

    @Test("a token can consist of several answers")
    func pair() throws {
        let profile = try profile("{user}:{password}", fields: ["user", "password"])
        let fields = ["user": "ada", "password": "p:w"]
        #expect(try grant(profile, fields, Sample.reply(200, "{}"))?.accessToken?.reveal() == "ada:p:w")
    }

    @Test("it ends when the response or the key itself says so, and the user is that of the user request")
    func dates() throws {
        let lasting = try profile()
        let lifetime = try #require(try grant(lasting, ["key": "k"], Sample.reply(200, #"{"expiresIn":60}"#)))
        #expect(lifetime.expiresAt == Sample.sentAt + .seconds(60))
        let key = Sample.jwt(#"{"exp":1800009000}"#)
        let own = try #require(try grant(lasting, ["key": key], Sample.reply(200, "{}")))
        #expect(own.expiresAt?.unixSeconds == 1_800_009_000)
        let user = try profile(check: nil) { $0.userRequest?.request = try Sample.request("GET", "/me") }
        #expect(try request(user, ["key": "k"]).url.hasSuffix("/me"))
        let grant = try #require(try grant(user, ["key": "k"], Sample.reply(200, #"{"id":7,"email":"a@b.example"}"#)))
        #expect(grant.user?.id == "7" && grant.rawUser?["email"] == "a@b.example")
    }

    @Test("a refusal has the provider's words; a page or a failure says nothing about the key")
    func answers() throws {
        let profile = try profile()
        for (status, kind) in [(401, ErrorKind.refused), (403, .forbidden), (500, .providerError)] {
            let failure = #expect(throws: ProviderFailure.self) {
                try grant(profile, ["key": "k"], Sample.reply(status, #"{"message":"No such key"}"#))
            }
            #expect(failure?.error.kind == kind && failure?.error.providerMessage == "No such key")
        }
        let page = #expect(throws: ProviderFailure.self) {
            try grant(profile, ["key": "k"], Sample.reply(200, "<html>", type: "text/html"))
        }
        #expect(page?.error.kind == .badReply)
    }

    @Test("nothing renews the session, whatever renews the others of its profile")
    func notRenewed() throws {
        let profile = try profile()
        var record = try Sample.record(refreshToken: "r", remembered: ["key": "k"])
        #expect(profile.serving(record) == profile)
        record.method = "key"
        let own = profile.serving(record)
        #expect(try own.renewal.kind == .none && own.renewalRequest(record) == nil && own.repeatedMethod == nil)
        // Without a renewal, a refusal of the token is final.
        let failure = own.validationResult(Sample.reply(401), record: record, sentAt: Sample.sentAt)
        guard case .failure(.final(let error)) = failure else {
            Issue.record("not final: \(failure)")
            return
        }
        #expect(error.kind == .signInRequired)
    }
}
