import AuthModel
import AuthWire
import Testing

@Suite("The cookies of a session")
struct CookieJarTests {
    private static let now = WallTime(unixSeconds: 1_800_000_000)

    private static func reply(_ cookies: [String]) -> HTTPResponse {
        HTTPResponse(status: 200, headers: cookies.map { (name: "set-cookie", value: $0) }, body: [])
    }

    private static func jar(_ cookies: String..., from url: String = "https://api.example.org/auth/login") -> CookieJar
    {
        var jar = CookieJar()
        jar.store(reply(cookies), from: url, sentAt: now)
        return jar
    }

    /// The one `Cookie` header of a request; `nil` if there is none.
    private static func sent(
        _ jar: CookieJar, to url: String, at now: WallTime = Self.now, given: [HTTPField] = []
    ) -> String? {
        var request = HTTPRequest(method: "GET", url: url, headers: given)
        jar.add(to: &request, at: now)
        let fields = request.headers.filter { $0.name.lowercased() == "cookie" }
        #expect(fields.count <= 1)
        return fields.first?.value.reveal()
    }

    @Test(
        "a cookie is sent to its host, its path and below, and to no other",
        arguments: [
            ("sid=1", "https://api.example.org/auth/me", "sid=1"), ("sid=1", "https://api.example.org/auth", "sid=1"),
            ("sid=1", "https://api.example.org/authors", nil), ("sid=1", "https://api.example.org/", nil),
            ("sid=1; Path=/", "https://api.example.org/x?y=/auth", "sid=1"),
            ("sid=1; Path=/", "https://api.example.org", "sid=1"),
            ("sid=1; Path=/", "https://API.example.org:8443/x", "sid=1"),
            ("sid=1; Path=/", "https://example.org/", nil), ("sid=1; Path=/", "https://sub.api.example.org/", nil),
            ("sid=1; Path=/", "https://evil-api.example.org/", nil),
            ("sid=1; Path=/; Domain=example.org", "https://www.example.org/", "sid=1"),
            ("sid=1; Path=/; Domain=.Example.ORG", "https://example.org/", "sid=1"),
            ("sid=1; Path=/; Domain=example.org", "https://badexample.org/", nil),
            ("sid=1; Path=/; Domain=api.example.org", "https://v2.api.example.org/", "sid=1"),
            ("sid=1; Path=/auth/", "https://api.example.org/auth/x", "sid=1"),
            ("sid=1; Path=/auth/", "https://api.example.org/auth", nil),
            ("sid=1; Path=/x", "https://api.example.org/x/y", "sid=1"),
            ("sid=1; Path=x", "https://api.example.org/auth/y", "sid=1"),
        ])
    func matching(cookie: String, url: String, sent: String?) {
        #expect(Self.sent(Self.jar(cookie), to: url) == sent)
    }

    @Test(
        "a cookie of another host, or of a whole top-level domain, is dropped",
        arguments: [
            ("Domain=other.example", "https://api.example.org/"), ("Domain=org", "https://api.example.org/"),
            ("Domain=sub.api.example.org", "https://api.example.org/"),
            ("Domain=..example.org", "https://example.org/"),
            ("Domain=pi.example.org", "https://api.example.org/"), ("Domain=0.0.1", "http://127.0.0.1:8080/"),
            ("Domain=.", "https://api.example.org/"), ("Domain=example.org.", "https://api.example.org/"),
        ])
    func otherHosts(domain: String, url: String) {
        #expect(Self.jar("sid=1; Path=/; \(domain)", from: url).isEmpty)
    }

    @Test("a cookie for an address, or for a name without a dot, is for that host alone")
    func hostOnly() {
        for (host, other) in [("localhost", "sub.localhost"), ("127.0.0.1", "1.127.0.0.1"), ("[::1]", "localhost")] {
            let name = host.filter { !"[]".contains($0) }
            let jar = Self.jar("sid=1; Path=/; Domain=\(name)", from: "http://\(host):80/")
            #expect(Self.sent(jar, to: "http://\(host)/x") == "sid=1")
            #expect(Self.sent(jar, to: "http://\(other)/x") == nil)
        }
    }

    @Test("a secure cookie is sent over TLS or to this machine, and accepted from there")
    func secure() {
        let jar = Self.jar("sid=1; Secure; Path=/; Domain=example.org")
        #expect(Self.sent(jar, to: "https://api.example.org/") == "sid=1")
        #expect(Self.sent(jar, to: "http://api.example.org/") == nil)
        #expect(Self.jar("sid=1; Secure", from: "http://api.example.org/").isEmpty)
        let local = Self.jar("sid=1; Secure; Path=/", from: "http://127.0.0.1:8080/")
        #expect(Self.sent(local, to: "http://127.0.0.1:8080/") == "sid=1")
    }

    @Test("an ended cookie is not sent, and a cookie that has ended removes the one of its name, domain and path")
    func ends() {
        let jar = Self.jar(
            "a=1; Max-Age=60; Path=/", "b=2; Expires=Fri, 15 Jan 2027 08:01:00 GMT; Path=/", "c=3; Path=/")
        let url = "https://api.example.org/"
        #expect(Self.sent(jar, to: url, at: Self.now + .seconds(59)) == "a=1; b=2; c=3")
        #expect(Self.sent(jar, to: url, at: Self.now + .seconds(60)) == "c=3")
        var later = jar
        later.store(
            Self.reply(["a=; Max-Age=0; Path=/", "b=x; Max-Age=0; Path=/other", "c=4; Path=/"]), from: url,
            sentAt: Self.now)
        #expect(Self.sent(later, to: url) == "b=2; c=4")
        #expect(Self.jar("a=1; Max-Age=0").isEmpty)
    }

    @Test("a date of a clock that is ahead is corrected")
    func skew() {
        var jar = CookieJar()
        var reply = Self.reply(["a=1; Path=/; Expires=Fri, 15 Jan 2027 09:00:00 GMT"])
        reply.skew = .seconds(3000)
        jar.store(reply, from: "https://api.example.org/", sentAt: Self.now)
        #expect(Self.sent(jar, to: "https://api.example.org/", at: Self.now + .seconds(599)) == "a=1")
        #expect(Self.sent(jar, to: "https://api.example.org/", at: Self.now + .seconds(600)) == nil)
    }

    @Test("longer paths are first, then older cookies; a new value keeps its place")
    func order() {
        var jar = Self.jar("a=1; Path=/", "b=2; Path=/auth/login", "c=3; Path=/auth", "d=4; Path=/")
        jar.store(Self.reply(["a=5; Path=/"]), from: "https://api.example.org/", sentAt: Self.now)
        #expect(Self.sent(jar, to: "https://api.example.org/auth/login") == "b=2; c=3; a=5; d=4")
    }

    @Test("there is one Cookie header, and a cookie that the request has already stays")
    func oneHeader() {
        let jar = Self.jar("sid=jar; Path=/", "csrf=1; Path=/")
        let given = [HTTPField("cookie", "sid=own"), HTTPField("Cookie", " x=y")]
        #expect(Self.sent(jar, to: "https://api.example.org/", given: given) == "sid=own;  x=y; csrf=1")
        let all = [HTTPField("Cookie", "sid=own; csrf=own")]
        #expect(Self.sent(jar, to: "https://api.example.org/", given: all) == "sid=own; csrf=own")
        #expect(Self.sent(CookieJar(), to: "https://api.example.org/") == nil)
    }

    @Test("values are sent unchanged", arguments: ["a&b=c", "\"quoted\"", "ä€", "", "a,b c", "%3B"])
    func values(text: String) {
        #expect(Self.sent(Self.jar("sid=\(text); Path=/"), to: "https://api.example.org/") == "sid=\(text)")
    }

    @Test("it has at most 50 cookies and 32 KiB, and the oldest ones go")
    func limits() {
        var jar = CookieJar()
        let many = (0..<60).map { "c\($0)=x; Path=/" }
        jar.store(Self.reply(many), from: "https://api.example.org/", sentAt: Self.now)
        let names = Self.sent(jar, to: "https://api.example.org/")?.split(separator: "; ").map(String.init)
        #expect(names == (10..<60).map { "c\($0)=x" })
        let long = (0..<20).map { "l\($0)=\(String(repeating: "y", count: 4000)); Path=/" }
        jar.store(Self.reply(long), from: "https://api.example.org/", sentAt: Self.now)
        #expect((28_000...32 << 10).contains(Self.sent(jar, to: "https://api.example.org/")?.utf8.count ?? 0))
        #expect(Self.jar("big=\(String(repeating: "y", count: 4096))").isEmpty)
    }

    @Test("its stored form is read back, and a damaged one is refused")
    func stored() throws {
        let jar = Self.jar("a=1; Max-Age=60; Secure; Path=/", "b=\"ü\"; Domain=example.org", "c=")
        #expect(CookieJar(stored: jar.json) == jar)
        #expect(CookieJar(stored: []) == CookieJar())
        for damaged in ["x", [7], [["name": "a"]], [["name": "a", "value": 1, "domain": "d", "path": "/"]]] as [JSON] {
            #expect(CookieJar(stored: damaged) == nil)
        }
        #expect(!String(reflecting: Self.jar("sid=tell-nobody")).contains("tell-nobody"))
    }
}
