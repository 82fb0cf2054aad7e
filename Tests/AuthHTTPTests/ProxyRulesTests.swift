import AuthModel
import Testing

@testable import AuthHTTP

@Suite struct ProxyRulesTests {
    private static func way(
        _ url: String, setting: String? = nil, noProxy: [String] = [], _ environment: [String: String]
    ) throws -> String {
        let rules = try ProxyRules(setting: setting, noProxy: noProxy, environment: environment)
        switch try rules.route(to: Origin(url)) {
        case .direct: return "direct"
        case .proxy(let proxy): return "\(proxy.kind) \(proxy)"
        }
    }

    @Test func `each scheme has its variable, and all_proxy covers both`() throws {
        let variables = ["http_proxy": "http://one:8080", "HTTPS_PROXY": "two:3128", "all_proxy": "socks5h://three"]
        #expect(try Self.way("http://example.org/", variables) == "http one:8080")
        #expect(try Self.way("https://example.org/", variables) == "http two:3128")
        #expect(try Self.way("https://example.org/", ["all_proxy": "socks5h://three"]) == "socks5 three:1080")
        #expect(try Self.way("https://example.org/", ["http_proxy": "http://one:8080"]) == "direct")
        #expect(try Self.way("https://example.org/", ["https_proxy": "", "ALL_PROXY": "three"]) == "http three:80")
    }

    @Test func `HTTP_PROXY in upper case is not read, since a CGI visitor can set it`() throws {
        #expect(try Self.way("http://example.org/", ["HTTP_PROXY": "http://evil:1"]) == "direct")
    }

    @Test func `the setting overrides the environment, and none means none`() throws {
        let variables = ["https_proxy": "http://one:8080"]
        #expect(try Self.way("https://example.org/", setting: "http://two:1", variables) == "http two:1")
        #expect(try Self.way("https://example.org/", setting: "none", variables) == "direct")
        #expect(try Self.way("https://example.org/", setting: "", variables) == "direct")
    }

    @Test(arguments: [
        ("https://example.org/", "example.org", true), ("https://api.example.org/", "example.org", true),
        ("https://api.example.org/", ".example.org", true), ("https://example.org/", "*.example.org", true),
        ("https://notexample.org/", "example.org", false), ("https://example.org/", "api.example.org", false),
        ("https://EXAMPLE.org./", "other.net, Example.ORG", true), ("https://example.org/", "*", true),
        ("https://example.org/", "example.org:443", true), ("https://example.org:8443/", "example.org:443", false),
        ("https://10.1.2.3/", "10.0.0.0/8", true), ("https://11.1.2.3/", "10.0.0.0/8", false),
        ("https://10.1.2.3/", "10.1.2.3", true), ("https://10.1.2.3/", "2.3", false),
        ("https://[2001:db8::1]/", "2001:db8::/32", true), ("https://[2001:db8::1]/", "[2001:db8::1]:443", true),
        ("https://[2001:db9::1]/", "2001:db8::/32", false), ("https://example.org/", "10.0.0.0/99, ,:", false),
    ])
    func `no_proxy names hosts, domains, addresses and networks`(url: String, list: String, direct: Bool) throws {
        let proxy = ["https_proxy": "http://one:8080"]
        let expected = direct ? "direct" : "http one:8080"
        #expect(try Self.way(url, proxy.merging(["no_proxy": list]) { $1 }) == expected)
        #expect(try Self.way(url, noProxy: [list], proxy.merging(["no_proxy": "x"]) { $1 }) == expected)
    }

    @Test(arguments: ["http://localhost:1/", "http://127.8.9.1/", "http://[::1]/", "http://app.localhost/"])
    func `the machine itself is never reached by a proxy`(url: String) throws {
        #expect(try Self.way(url, setting: "http://one:8080", [:]) == "direct")
    }

    @Test(arguments: [
        "https://one:1", "gopher://one", "socks5://ada:secret@one", "http://", "http://ada:secret@one:99999",
    ])
    func `a setting that names no usable proxy is refused without repeating a password`(text: String) throws {
        let error = try #require(throws: TransportSettingsError.self) {
            try ProxyRules(setting: text, noProxy: [], environment: [:])
        }
        #expect(error.setting == "http.proxy")
        #expect(!"\(error)".contains("secret"))
    }

    @Test func `an unusable variable fails requests instead of letting them go around`() throws {
        #expect(throws: TransportError.self) { try Self.way("https://a.org/", ["https_proxy": "gopher://one"]) }
        #expect(try Self.way("http://a.org/", ["https_proxy": "gopher://one"]) == "direct")
    }
}
