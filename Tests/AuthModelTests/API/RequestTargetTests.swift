import AuthWire
import Testing

@testable import AuthModel

@Suite("The URL of a request")
struct RequestTargetTests {
    static let base = "https://api.example.org/prod"

    private func url(_ path: String, _ query: JSONObject = [:], base: String = base) throws(AgentError) -> String {
        try RequestTarget(path: path, query: query, base: base).url
    }

    @Test("a path is appended to the base, and its query is kept and extended")
    func joins() throws {
        #expect(try url("/users") == "https://api.example.org/prod/users")
        #expect(try url("/users?page=2&q=a%20b") == "https://api.example.org/prod/users?page=2&q=a%20b")
        #expect(
            try url("/users?page=2", ["q": "a&b c", "n": 1.5, "on": true, "tag": ["x", "y"]])
                == "https://api.example.org/prod/users?page=2&q=a%26b%20c&n=1.5&on=true&tag=x&tag=y")
        #expect(try url("/", base: "http://localhost:8080") == "http://localhost:8080/")
    }

    @Test("an empty path is the base URL, without a trailing slash")
    func baseItself() throws {
        #expect(try url("", base: "https://api.example.org/mcp") == "https://api.example.org/mcp")
        #expect(try url("?page=2", ["q": "a"]) == "https://api.example.org/prod?page=2&q=a")
        #expect(try url("", base: "http://localhost:8080") == "http://localhost:8080")
    }

    @Test("an absolute URL of the same origin is accepted, in any spelling")
    func sameOrigin() throws {
        #expect(try url("https://api.example.org/other?x=1") == "https://api.example.org/other?x=1")
        #expect(try url("HTTPS://API.example.org:443/other") == "https://api.example.org/other")
        #expect(try url("http://[::1]:80/x", base: "http://[::1]/a") == "http://[::1]/x")
    }

    @Test(
        "the token is not sent to another origin",
        arguments: [
            "https://elsewhere.example/users", "http://api.example.org/users", "https://api.example.org:8443/users",
            "https://api.example.org.evil.example/users", "https://api.example.org@evil.example/users",
            "https://evil.example/https://api.example.org/users", "ftp://api.example.org/users", "https://",
        ])
    func otherOrigin(path: String) {
        let error = #expect(throws: AgentError.self) { try url(path) }
        #expect(error?.kind == .denied && error?.cause == "other_origin")
    }

    @Test(
        "a path that leads elsewhere, or would have to be changed, is refused",
        arguments: [
            "users", "//evil.example/users", "/../admin", "/a/%2e%2e/b", "/a b", "/ü", "/a%2", "/a#b", "/a\r\nX: y",
            "/a?q=a b", "/a?q=\r\nX: y", "/a\\b", "https://api.example.org/../x",
            "/a/..%2fb", "/a/%252e%252e/b", "/a/..%5cb", "/a%00", "/a/..;b/c", "https://api.example.org/%252e%252e/x",
            "https://api.example.org/\u{301}a/b",
        ])
    func badPath(path: String) {
        let error = #expect(throws: AgentError.self) { try url(path) }
        #expect(error?.kind == .validation && error?.message.hasSuffix("Nothing was sent.") == true)
    }

    @Test("a query with values other than plain ones is refused")
    func badQuery() {
        for value: JSON in [nil, [:], [[1]], [nil]] {
            #expect(throws: AgentError.self) { try url("/a", ["q": value]) }
        }
    }
}
