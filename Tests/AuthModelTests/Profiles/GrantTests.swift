import AgentTestSupport
import AuthModel
import AuthWire
import Testing

@Suite("The content of a provider's response")
struct GrantTests {
    private func signIn(_ body: String, type: String? = "application/json") throws -> Result<Grant, ProviderFailure> {
        try Sample.profile().signInResult(
            Sample.reply(200, body, type: type), method: Sample.password(), sentAt: Sample.sentAt)
    }

    @Test("tokens, lifetime and user are found at the profile's pointers")
    func whole() throws {
        let grant = try signIn(
            #"""
            {"token":"t-1","refreshToken":"r-1","expiresIn":3600,
             "user":{"id":7,"email":"ada@example.org","first":" Ada ","last":"Lovelace","verified":true,"extra":[1]}}
            """#
        ).get()
        #expect(grant.accessToken == Secret("t-1"))
        #expect(grant.refreshToken == Secret("r-1"))
        #expect(grant.issuedAt == Sample.sentAt)
        #expect(grant.expiresAt == Sample.sentAt + .seconds(3600))
        #expect(grant.user == UserSummary(id: "7", email: "ada@example.org", name: "Ada Lovelace", verified: true))
        #expect(grant.rawUser?["extra"] == [1])
    }

    @Test("the first alternative with a text is the name")
    func names() throws {
        #expect(try signIn(#"{"token":"t","user":{"nick":"ada"}}"#).get().user?.name == "ada")
        #expect(try signIn(#"{"token":"t","user":{"last":"L","nick":"ada"}}"#).get().user?.name == "L")
        #expect(try signIn(#"{"token":"t","user":{"first":" ","nick":null}}"#).get().user?.name == nil)
    }

    @Test(
        "a lifetime is a number or a string, an expiry is in seconds or milliseconds, or a date",
        arguments: [
            (#""expiresIn":10"#, 1_800_000_010), (#""expiresIn":"10""#, 1_800_000_010),
            (#""expiresIn":0.5"#, 1_800_000_000.5),
            (#""expiresIn":-5"#, 1_800_000_000), (#""expiresAt":1800000010.25"#, 1_800_000_010.25),
            (#""expiresAt":"1800000010""#, 1_800_000_010), (#""expiresAt":1800000010250"#, 1_800_000_010.25),
            (#""expiresAt":"2026-01-30T15:17:41-08:00[America/Los_Angeles]""#, 1_769_815_061),
            (#""expiresIn":"soon","expiresAt":1800000010"#, 1_800_000_010),
            (#""expiresIn":10,"expiresAt":1800000099"#, 1_800_000_010), (#""expiresIn":1e300"#, 253_402_300_799),
            (#""expiresIn":"1e5""#, 1_800_100_000),
        ])
    func ends(_ member: String, _ seconds: Double) throws {
        #expect(try signIn(#"{"token":"t",\#(member)}"#).get().expiresAt?.unixSeconds == seconds)
    }

    @Test(
        "an unreadable expiry counts as missing, and the response is used",
        arguments: [
            #""expiresIn":null"#, #""expiresIn":true"#, #""expiresAt":"tomorrow""#, #""expiresAt":{}"#,
            #""expiresAt":-1"#, #""expiresAt":1e400"#, #""expiresIn":"1 e5""#, #""expiresIn":"1e400""#,
            #""expiresIn":"""#,
        ])
    func unreadableEnds(_ member: String) throws {
        guard let grant = try? signIn(#"{"token":"t",\#(member)}"#).get() else {
            // A number beyond the range of a double is not a JSON value here.
            #expect(member.contains("1e400"))
            return
        }
        #expect(grant.expiresAt == nil)
    }

    @Test("the token's own expiry is used if the response has none")
    func jwtEnd() throws {
        let token = Sample.jwt(#"{"exp":1800000300}"#)
        #expect(try signIn(#"{"token":"\#(token)"}"#).get().expiresAt?.unixSeconds == 1_800_000_300)
        #expect(try signIn(#"{"token":"\#(token)","expiresIn":5}"#).get().expiresAt?.unixSeconds == 1_800_000_005)
    }

    @Test("the refresh token's lifetime is read where the profile says, and an unreadable one is ignored")
    func refreshEnd() throws {
        let profile = try Sample.profile {
            $0.reply = ResponseMap(
                accessToken: try .pointer(JSONPointer("/token")),
                refreshExpiresIn: try .pointer(JSONPointer("/refresh/seconds")))
        }
        for (value, end) in [("60", 60.0), (#""60""#, 60), ("-5", 0), (#""soon""#, nil), ("null", nil), ("[]", nil)] {
            let body = #"{"token":"t","refresh":{"seconds":\#(value)}}"#
            let grant = try profile.readSignIn(
                Sample.reply(200, body), method: Sample.password(), sentAt: Sample.sentAt
            )
            #expect(grant.refreshEndsAt == end.map { Sample.sentAt + .seconds($0) }, "\(value)")
        }
    }

    @Test("the body can be the token itself")
    func bareToken() throws {
        let profile = try Sample.profile { $0.reply = ResponseMap(accessToken: try .pointer(JSONPointer(""))) }
        for (body, type) in [("t-1", "text/plain"), (#""t-1""#, "application/json"), ("t-1", nil)] {
            let grant = try profile.readSignIn(
                Sample.reply(200, body, type: type), method: Sample.password(), sentAt: Sample.sentAt
            )
            #expect(grant.accessToken == Secret("t-1"))
        }
    }

    @Test(
        "a sign-in without a usable token is a bad reply",
        arguments: [
            "", "null", "{}", "[]", #"{"token":null}"#, #"{"token":""}"#, #"{"token":7}"#, #"{"token":{"a":1}}"#,
            #"{"token":"a b"}"#, #"{"token":"a\r\nX: 1"}"#, #"{"token":"ü"}"#,
        ])
    func noToken(_ body: String) throws {
        let failure = try #require(try signIn(body).failure)
        #expect(failure.weight == "temporary")
        #expect(failure.error.kind == .badReply)
    }

    @Test("a token that is too long for a header is rejected")
    func longToken() throws {
        let failure = try signIn(#"{"token":"\#(String(repeating: "a", count: 40_000))"}"#).failure
        #expect(failure?.error.kind == .badReply)
    }

    @Test("a user that is not an object, or members that are not strings, are left out")
    func oddUsers() throws {
        #expect(try signIn(#"{"token":"t","user":"ada"}"#).get().user == nil)
        #expect(try signIn(#"{"token":"t","user":{"id":true,"email":7,"verified":"yes"}}"#).get().user == UserSummary())
        #expect(try signIn(#"{"token":"t","user":{"id":"a\nb"}}"#).get().user?.id == nil)
    }

    @Test("the first address with a text is used, and the first object that identifies a user")
    func fallbacks() throws {
        let profile = try Sample.profile {
            $0.reply.user = [try JSONPointer("/data/user"), try JSONPointer("/user"), .whole]
            $0.user.email = [try JSONPointer("/email"), try JSONPointer("/mail")]
        }
        func user(_ body: String) throws -> UserSummary? {
            try profile.readSignIn(Sample.reply(200, body), method: Sample.password(), sentAt: Sample.sentAt).user
        }
        #expect(try user(#"{"token":"t","user":{"mail":"a@b.example"}}"#)?.email == "a@b.example")
        #expect(try user(#"{"token":"t","data":{"user":{"x":1}},"user":{"email":null,"mail":"a@b"}}"#)?.email == "a@b")
        #expect(try user(#"{"token":"t","id":9,"user":[]}"#)?.id == "9")
        #expect(try user(#"{"token":"t"}"#) == nil)
    }

    @Test(
        "a sign-in that requires a user and an expiry is refused without one of them",
        arguments: [
            (#"{"token":"t","expiresIn":5,"user":{"id":1}}"#, nil), (#"{"token":"t","expiresIn":5}"#, "user"),
            (#"{"token":"t","user":{"id":1}}"#, "expires_at"), (#"{"token":"t"}"#, "user, expires_at"),
            (#"{"token":"t","expiresIn":"soon","user":"ada"}"#, "user, expires_at"),
        ] as [(String, String?)])
    func required(body: String, missing: String?) throws {
        let profile = try Sample.profile { $0.reply.required = [.user, .expiresAt] }
        let reply = Sample.reply(200, body)
        let failure = profile.signInResult(reply, method: try Sample.password(), sentAt: Sample.sentAt).failure
        #expect((failure == nil) == (missing == nil))
        if let missing {
            #expect(failure?.error.cause == "incomplete" && failure?.error.message.contains(": \(missing).") == true)
        }
        // A renewal may return less.
        #expect(profile.renewalResult(reply, record: try Sample.record(), sentAt: Sample.sentAt).failure == nil)
    }

    @Test("a validation may return nothing, a later expiry, or another token")
    func validation() throws {
        let profile = try Sample.profile()
        let record = try Sample.record()
        func read(_ body: String) throws -> Grant {
            try profile.readValidation(Sample.reply(200, body), record: record, sentAt: Sample.sentAt)
        }
        #expect(try read("") == Grant(issuedAt: Sample.sentAt))
        #expect(try read(#"{"expiresAt":1800000500}"#).expiresAt?.unixSeconds == 1_800_000_500)
        #expect(try read(#"{"token":"t-2"}"#).accessToken == Secret("t-2"))
    }

    @Test("a renewal without a new token is a bad reply, and a rotated refresh token is read")
    func renewal() throws {
        let profile = try Sample.profile()
        let record = try Sample.record()
        let good = profile.renewalResult(
            Sample.reply(200, #"{"token":"t-2","refreshToken":"r-2"}"#), record: record, sentAt: Sample.sentAt)
        #expect(try good.get().refreshToken == Secret("r-2"))
        let bad = profile.renewalResult(Sample.reply(200, "{}"), record: record, sentAt: Sample.sentAt)
        #expect(bad.failure?.error.kind == .badReply)
        #expect(bad.failure?.weight == "temporary")
    }

    @Test("the pointers of a method or renewal precede the profile's")
    func overriding() throws {
        let profile = try Sample.profile {
            $0.renewal.reply = ResponseMap(accessToken: try .pointer(JSONPointer("/data/0/jwt")))
        }
        let grant = try profile.readRenewal(
            Sample.reply(200, #"{"data":[{"jwt":"t-2"}],"expiresIn":9}"#), record: Sample.record(),
            sentAt: Sample.sentAt
        )
        #expect(grant.accessToken == Secret("t-2"))
        #expect(grant.expiresAt == Sample.sentAt + .seconds(9))
    }

    @Test("the user object and its common part are read, and a response without one is a bad reply")
    func user() throws {
        let profile = try Sample.profile()
        let (raw, summary) = try profile.readUser(Sample.reply(200, #"{"id":"7","plan":"gold"}"#))
        #expect(summary.id == "7")
        #expect(raw["plan"] == "gold")
        #expect(profile.userResult(Sample.reply(200, "[]")).failure?.error.kind == .badReply)
        #expect(profile.userResult(Sample.reply(204)).failure?.error.kind == .badReply)
    }
}
