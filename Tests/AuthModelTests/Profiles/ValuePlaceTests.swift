import AgentTestSupport
import AuthModel
import AuthWire
import Testing

@Suite("Places of values in a response")
struct ValuePlaceTests {
    private func reply(_ headers: [(String, String)], _ body: String = #"{"a":{"b":"in the body"},"n":7}"#)
        -> HTTPResponse
    {
        HTTPResponse(
            status: 200, headers: [("Content-Type", "application/json")] + headers.map { (name: $0.0, value: $0.1) },
            body: Array(body.utf8))
    }

    private func find(_ place: ValuePlace, in reply: HTTPResponse) -> JSON? {
        place.find(in: reply, ResponseBody(reply))
    }

    @Test("a pointer finds JSON of any type, a header and a cookie are strings")
    func places() throws {
        let reply = reply([("X-CSRF", "one"), ("x-csrf", "two"), ("Set-Cookie", "sid=abc=; Path=/")])
        #expect(find(.pointer(try JSONPointer("/a/b")), in: reply) == "in the body")
        #expect(find(.pointer(try JSONPointer("/n")), in: reply) == 7)
        #expect(find(.pointer(try JSONPointer("/none")), in: reply) == nil)
        #expect(find(.header("x-CSRF"), in: reply) == "one")
        #expect(find(.header("sid"), in: reply) == nil)
        #expect(find(.cookie("sid"), in: reply) == "abc=")
        #expect(find(.cookie("SID"), in: reply) == nil)
    }

    @Test("a header and a cookie are found beside a body that is empty or a page")
    func otherBodies() {
        for body in ["", "<html></html>"] {
            let reply = reply([("X-Token", "t"), ("Set-Cookie", "sid=s")], body)
            #expect(find(.header("X-Token"), in: reply) == "t" && find(.cookie("sid"), in: reply) == "s")
            #expect(find(.pointer(.whole), in: reply) == nil)
        }
    }

    @Test(
        "the last cookie of a name counts, and one that has ended is none",
        arguments: [
            (["sid=a", "sid=b"], "b"), (["sid=a", "other=b"], "a"), (["sid=a", "sid=; Max-Age=0"], nil),
            (["sid=a", "sid=x; Max-Age=-1"], nil), (["sid=a; Max-Age=0", "sid=b"], "b"),
            (["sid=a; Expires=Thu, 01 Jan 1970 00:00:00 GMT"], nil),
            (["sid=a; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=60"], "a"),
            (["sid=a; Expires=Mon, 01 Jan 2024 00:00:00 GMT"], nil),
            (["sid=a; Expires=Wed, 01 Jan 2098 00:00:00 GMT"], "a"), (["sid=\"quoted\""], "quoted"), (["sid=\""], "\""),
            (["sid"], nil), (["=a"], nil), (["sid=a\u{1}b"], nil), (["sid=a\0"], nil), (["sid=ä€"], "ä€"),
            (["  sid =  a b  ;HttpOnly"], "a b"), (["sid=a&b=c,d"], "a&b=c,d"), ([""], nil), ([";;;"], nil),
        ] as [([String], String?)])
    func cookies(fields: [String], value: String?) {
        let reply = reply(fields.map { ("set-cookie", $0) } + [("Date", "Tue, 01 Jan 2026 00:00:00 GMT")])
        #expect(find(.cookie("sid"), in: reply) == value.map(JSON.string))
    }

    @Test("attributes are read in any case, and invalid ones are ignored")
    func attributes() throws {
        let whole = try #require(
            SetCookie("a=b; EXPIRES=Sun, 06 Nov 1994 08:49:37 GMT; max-AGE=60; Domain=.Example.ORG; path=/x; SECURE"))
        #expect(whole.expires?.unixSeconds == 784_111_777 && whole.maxAge == 60)
        #expect(whole.domain == "example.org" && whole.path == "/x" && whole.isSecure)
        let odd = try #require(SetCookie("a=b; Expires=soon; Max-Age=1h; Domain=; Path=x; SameSite=Odd; ; =; Secured"))
        #expect(odd == SetCookie("a=b"))
        #expect(SetCookie("a=b; Path=/x; Path=")?.path == nil)
        #expect(SetCookie("a=b; Max-Age=99999999999999999999999999")?.maxAge == 1e11)
    }

    @Test(
        "a cookie's date is read in the forms that servers write",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "Sun, 6-Nov-1994 8:49:37 GMT", "06 november 94 08:49:37", "08:49:37 6 NOV 1994 UTC",
        ])
    func dates(text: String) {
        #expect(SetCookie("a=b; Expires=\(text)")?.expires?.unixSeconds == 784_111_777)
    }

    @Test(
        "a date that does not exist is ignored",
        arguments: [
            "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 24:00:00 GMT",
            "06 Nov 1600 00:00:00",
            "Sun, 06 Nov 19940 08:49:37 GMT", "784111777", "",
        ])
    func noDates(text: String) { #expect(SetCookie("a=b; Expires=\(text)")?.expires == nil) }

    private func grant(_ map: ResponseMap, _ headers: [(String, String)]) throws -> Result<Grant, ProviderFailure> {
        let profile = try Sample.profile { $0.reply = map }
        return profile.signInResult(reply(headers), method: try Sample.password(), sentAt: Sample.sentAt)
    }

    @Test("tokens are read from headers and cookies, even from an HttpOnly one")
    func tokens() throws {
        let map = ResponseMap(
            accessToken: .header("Authorization"), refreshToken: .cookie("refresh"), expiresIn: .header("X-Lifetime"))
        let grant = try grant(
            map,
            [
                ("authorization", "bearer t-1"), ("Set-Cookie", "refresh=r-1; HttpOnly; Secure; Path=/refresh"),
                ("X-Lifetime", "60"),
            ]
        ).get()
        #expect(grant.accessToken == Secret("t-1") && grant.refreshToken == Secret("r-1"))
        #expect(grant.expiresAt == Sample.sentAt + .seconds(60))
    }

    @Test(
        "a token in a cookie ends with it, unless the profile names its end",
        arguments: [
            ("; Max-Age=60", nil, 60), ("; Expires=Fri, 15 Jan 2027 09:00:00 GMT", nil, 3600), ("", nil, nil),
            ("; Expires=Fri, 15 Jan 2027 09:00:00 GMT; Max-Age=60", nil, 60), ("; Max-Age=60", "7", 7),
        ] as [(String, String?, Double?)])
    func cookieEnd(attributes: String, lifetime: String?, seconds: Double?) throws {
        let map = ResponseMap(accessToken: .cookie("sid"), expiresIn: .header("X-Lifetime"))
        let grant = try grant(
            map, [("Set-Cookie", "sid=t-1" + attributes)] + (lifetime.map { [("X-Lifetime", $0)] } ?? [])
        ).get()
        #expect(grant.accessToken == Secret("t-1"))
        #expect(grant.expiresAt == seconds.map { Sample.sentAt + .seconds($0) })
    }

    @Test("a token that is missing or invalid is a bad reply that names the place")
    func noToken() throws {
        let missing = try grant(ResponseMap(accessToken: .cookie("sid")), []).failure?.error
        #expect(missing?.cause == "no_token" && missing?.message.contains("the cookie sid") == true)
        let odd = try grant(ResponseMap(accessToken: .header("X-Token")), [("X-Token", "a b")]).failure?.error
        #expect(odd?.cause == "bad_token")
    }
}
