import AuthModel
import Testing

@Suite("Base URLs")
struct BaseURLTests {
    @Test(
        "have one normal form",
        arguments: [
            ("https://api.example.org", "https://api.example.org"),
            ("HTTPS://API.Example.org/V1/", "https://api.example.org/V1"),
            ("http://localhost:8080//", "http://localhost:8080"),
            ("https://[::1]:8443/a%20b", "https://[::1]:8443/a%20b"),
        ])
    func written(_ text: String, _ expected: String) throws {
        #expect(try BaseURL(text).text == expected)
    }

    @Test(
        "are refused without a host, with a query, fragment or user, or with a path that leads up",
        arguments: [
            "", "api.example.org", "/v1", "ftp://example.org", "https://", "https:///v1", "https://a b.example",
            "https://example.org?x=1", "https://example.org#x", "https://ada:pw@example.org", "https://example.org:0",
            "https://example.org:65536", "https://example.org:", "https://example.org/../v1",
            "https://example.org/%2e%2E",
            "https://example.org/a%2", "https://example.org/a b", "https://exämple.org", "https://[::1", "https://[]",
            "https://example.org\r\nHost: evil.example", "javascript:alert(1)", "https://example.org/<script>",
            "https://.", "https://..", "https://a..example", "https://a.example..", "https://.example.org",
            // Characters that belong to a bracket or a slash.
            "https://[::1]\u{301}", "https://[\u{301}::1]", "https://[::1]\u{301}:80", "https://example.org/a\u{600}/",
        ])
    func refused(_ text: String) {
        #expect(throws: BaseURLError.self) { try BaseURL(text) }
    }

    @Test(
        "know which addresses stay on this machine",
        arguments: [
            ("http://localhost", true), ("http://LOCALHOST:1", true), ("http://127.0.0.1", true),
            ("http://127.255.0.9:80", true), ("http://[::1]", true), ("http://[0:0:0:0:0:0:0:1]:1", true),
            ("http://127.0.0.1.example.org", false), ("http://localhost.example.org", false),
            ("http://128.0.0.1", false), ("http://127.1", false), ("http://127.0.0.256", false),
            ("http://127.0.0.01", false), ("http://0.0.0.0", false), ("http://[::2]", false),
            ("http://10.0.0.1", false), ("http://[::ffff:127.0.0.1]", false),
        ])
    func loopback(_ text: String, _ isLoopback: Bool) throws {
        #expect(try BaseURL(text).isLoopback == isLoopback)
    }
}
