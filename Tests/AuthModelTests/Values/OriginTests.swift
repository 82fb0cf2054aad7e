import AuthModel
import AuthWire
import Testing

@Suite("Origins")
struct OriginTests {
    @Test(
        "two origins are the same if scheme, host and port are, however they are written",
        arguments: [
            ("https://a.example", "HTTPS://A.example:443/x?y#z"), ("http://a.example", "http://a.example:80"),
            ("https://a.example", "https://a.example./"), ("https://a.example", "https://A.EXAMPLE.:0443?x=:1"),
            ("http://[::1]:8080/a", "http://[::1]:8080"), ("https://[2001:DB8::A]:443/", "https://[2001:db8::a]"),
            ("https://a.example:08443", "https://a.example:8443"), ("https://a.example/b://c:1", "https://a.example"),
            ("http://localhost.", "http://LOCALHOST"), ("http://127.0.0.1.:80", "http://127.0.0.1"),
        ])
    func same(one: String, other: String) throws {
        let (one, other) = (try #require(Origin(of: one)), try #require(Origin(of: other)))
        #expect(one == other && one.hashValue == other.hashValue && one.text == other.text)
        #expect(one.isLoopback == other.isLoopback)
        #expect(Origin(of: one.text) == one)
    }

    @Test(
        "and different if one of them is",
        arguments: [
            ("https://a.example", "http://a.example"), ("https://a.example", "https://b.example"),
            ("https://a.example", "https://a.example:8443"), ("https://a.example", "https://a.example.evil.example"),
            ("http://[::1]", "http://[::1]:81"), ("http://a.example:443", "https://a.example:443"),
            ("http://127.0.0.1", "http://localhost"),
            // Unusual spellings of an address are refused.
            ("http://127.0.0.1", "http://127.1"), ("http://127.0.0.1", "http://2130706433"),
            ("http://[::1]", "http://[0:0:0:0:0:0:0:1]"), ("http://[::ffff:10.0.0.1]", "http://10.0.0.1"),
        ])
    func different(one: String, other: String) throws {
        let (one, other) = (try #require(Origin(of: one)), try #require(Origin(of: other)))
        #expect(one != other && one.text != other.text)
    }

    @Test(
        "what is not an address of a web server has none",
        arguments: [
            "", "a.example", "ftp://a.example", "https://", "://a", "https:///x", "https://.:1@a.example",
            "https://a@b.example", "https://a:b@b.example", "https://@b.example", "https://a.example@evil.example/x",
            "https://a.example:0", "https://a.example:", "https://a.example:65536", "https://a.example:4 43",
            "https://a.example:+443", "https://a.example\\@evil.example", "https://a.example\\.evil.example",
            "https://%61.example", "https://exämple.org", "https://[::1", "https://::1", "https://[a.example]",
            "https://[fe80::1%25eth0]", "https://a.example\r\n", " https://a.example", "https:/a.example",
        ])
    func none(text: String) {
        #expect(Origin(of: text) == nil)
    }

    @Test("what is written after the port is the path")
    func path() {
        #expect(Origin.path(of: "https://a.example:443/x?y=://z") == "/x?y=://z")
        #expect(Origin.path(of: "https://a.example.?y") == "?y")
        #expect(Origin.path(of: "https://a.example/\u{301}") == "/\u{301}")
        #expect(Origin.path(of: "https://a.example") == "")
        #expect(Origin.path(of: "a.example/x") == "")
    }

    @Test("of a stored record are read in any spelling, and written in one")
    func stored() throws {
        let stored: JSON = [
            "uses": [
                "https://a.example": ["access_token"], "HTTPS://A.example:443/": ["refresh_token"],
                "http://[2001:DB8::1]:80": ["credentials", "later_than_this_version"], "http://localhost:8080": [],
            ]
        ]
        let origins = try #require(TokenOrigins(stored: stored))
        let (a, six) = (try Origin("https://a.example."), try Origin("http://[2001:db8::1]"))
        #expect(origins.allows([.accessToken, .refreshToken], at: a) && !origins.allows(.credentials, at: a))
        #expect(origins.allows(.credentials, at: six) && !origins.allows(.accessToken, at: six))
        #expect(!origins.allows(.accessToken, at: try Origin("http://localhost:8080")))
        let written: JSON = [
            "uses": [
                "http://[2001:db8::1]": ["credentials"], "http://localhost:8080": [],
                "https://a.example": ["refresh_token", "access_token"],
            ]
        ]
        #expect(origins.json == written)
        #expect(TokenOrigins(stored: written) == origins)
        #expect(TokenOrigins(stored: ["uses": ["https://a@b.example": ["access_token"]]]) == nil)
    }

    @Test("an environment's origin is that of its base URL, and of any other address what that has")
    func environment() throws {
        var environment = ProviderEnvironment(name: "production", baseURL: "https://a.example/v1")
        #expect(environment.origin == (try Origin("https://a.example")))
        #expect(environment.origin(of: "https://a.example/v1") == environment.origin)
        #expect(environment.origin(of: "https://b.example/v1") == (try Origin("https://b.example")))
        environment.baseURL = "http://localhost:8080"
        #expect(environment.origin == (try Origin("http://localhost:8080")))
        #expect(environment.origin(of: "https://a.example/v1") == (try Origin("https://a.example")))
        environment.baseURL = "nowhere"
        #expect(environment.origin == nil && environment.origin(of: "nowhere") == nil)
    }
}
