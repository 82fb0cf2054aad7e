import AuthModel
import AuthWire
import Testing

@testable import AuthGateway

@Suite("What the proxy passes on")
struct ProxyFieldsTests {
    private let target: ProxyTarget
    private let secret = Secret("token-1")

    init() throws {
        target = try ProxyTarget("https://api.example.org/v1/")
    }

    private static let key = "KEY-0123456789abcdefghij"

    private func sent(
        _ fields: [(String, String)], target path: String = "/v1/a?b=c", prefix: String = "", key: FrontKey? = nil,
        _ token: ProxyToken
    ) throws -> (url: String, fields: [String]) {
        let head = FrontHead(method: "GET", target: path, fields: fields.map { ($0.0, $0.1) })
        let request = FrontRequest(
            head: head, target: path, prefix: prefix, authorities: ["127.0.0.1:8080", "localhost:8080"], key: key)
        let found = try ProxyFields.request(request, to: target, with: token)
        return (found.url, found.fields.map { "\($0.name): \($0.value)" })
    }

    @Test("exactly one token is sent, in the session's place, whatever the client sends there")
    func token() throws {
        let own = [("Authorization", "Bearer mine"), ("DPoP", "proof"), ("Accept", "*/*")]
        let bearer = try sent(own, ProxyToken(secret))
        #expect(bearer.url == "https://api.example.org/v1/a?b=c")
        #expect(bearer.fields == ["Accept: */*", "Authorization: Bearer token-1"])
        let bound = try sent(own, ProxyToken(secret, isBound: true, proof: Secret("p")))
        #expect(bound.fields == ["Accept: */*", "Authorization: DPoP token-1", "DPoP: p"])

        let header = try TokenPlace(TokenPlaceInfo(kind: "header", name: "X-Key", value: "Key {access_token}"))
        let inHeader = try sent(own + [("x-key", "mine")], ProxyToken(secret, place: header))
        #expect(inHeader.fields == ["Accept: */*", "X-Key: Key token-1"])

        let cookie = try TokenPlace(TokenPlaceInfo(kind: "cookie", name: "sid", value: "{access_token}"))
        let cookies = [("Cookie", "a=b; sid=mine"), ("Cookie", "sid=other")]
        let inCookie = try sent(own + cookies, ProxyToken(secret, place: cookie))
        #expect(inCookie.fields == ["Accept: */*", "Cookie: a=b; sid=token-1"])
        // An equals sign and the mark after it are one character, and so are U+0600 and the semicolon.
        for other in ["sid=\u{301}mine", "a=\u{600}; sid=mine", "sid=\u{301}; sid=\u{301}"] {
            let left = other.hasPrefix("a") ? "a=\u{600}; " : ""
            #expect(
                try sent([("Cookie", other)], ProxyToken(secret, place: cookie)).fields == [
                    "Cookie: \(left)sid=token-1"
                ])
        }

        let query = try TokenPlace(TokenPlaceInfo(kind: "query", name: "key", value: "{access_token}"))
        let inQuery = try sent(own, target: "/v1/a?key=mine&b=c&%6Bey=x", ProxyToken(secret, place: query))
        #expect(inQuery.url == "https://api.example.org/v1/a?b=c&key=token-1")
        #expect(inQuery.fields == ["Accept: */*"])
    }

    @Test("the server gets neither the key nor an address of the proxy, and the Origin of any other page as it is")
    func ownAddresses() throws {
        func field(_ name: String, _ value: String) throws -> [String] {
            try sent([(name, value)], prefix: "/KEY", ProxyToken(secret)).fields.dropLast()
        }
        #expect(try field("Authd-Key", "KEY").isEmpty)
        #expect(try field("Origin", "http://localhost:8080") == ["Origin: https://api.example.org"])
        #expect(try field("Referer", "http://127.0.0.1:8080/KEY/a?b") == ["Referer: https://api.example.org/"])
        #expect(
            try field("Destination", "http://127.0.0.1:8080/KEY/v1/b") == ["Destination: https://api.example.org/v1/b"])
        for other in ["http://localhost:3000", "https://app.example"] {
            for name in ["Origin", "Referer", "Destination"] {
                #expect(try field(name, other) == ["\(name): \(other)"])
            }
        }
    }

    @Test("WebDAV's addresses become those of the server, even as paths; names of locks and versions stay")
    func webDAV() throws {
        func field(_ name: String, _ value: String, prefix: String = "/KEY") throws -> String? {
            let fields = try sent([(name, value)], prefix: prefix, ProxyToken(secret)).fields
            return fields.first { $0.hasPrefix(name + ": ") }.map { String($0.dropFirst(name.count + 2)) }
        }
        let (front, server) = ("http://127.0.0.1:8080/KEY", "https://api.example.org")
        #expect(try field("Destination", "/KEY/v1/b") == server + "/v1/b")
        #expect(try field("Destination", "/KEY") == server + "/")
        #expect(try field("Destination", "/KEYS/b") == "/KEYS/b")
        #expect(try field("Destination", "/v1/b", prefix: "") == "/v1/b")
        #expect(try field("Referer", "/KEY/page") == server + "/")
        for (sent, expected) in [
            ("<\(front)/a> (<urn:uuid:1>)", "<\(server)/a> (<urn:uuid:1>)"),
            ("</KEY/a b> ([W/\"1\"])", "<\(server)/a%20b> ([W/\"1\"])"),
            (
                "<\(front)/a> (Not <urn:uuid:1> [\"<x>\"]) (<urn:uuid:2>)\t<http://localhost:8080/KEY/b?c>([\"2\"])",
                "<\(server)/a> (Not <urn:uuid:1> [\"<x>\"]) (<urn:uuid:2>)\t<\(server)/b?c>([\"2\"])"
            ),
            // In a list it is the name of a lock, and another host's is as it was.
            ("(<http://127.0.0.1:8080/lock>)", "(<http://127.0.0.1:8080/lock>)"),
            ("<http://other.example/a> (<urn:uuid:1>)", "<http://other.example/a> (<urn:uuid:1>)"),
            ("<\(front)/a> (<urn", "<\(server)/a> (<urn"), ("", ""), ("<", "<"), ("[\"]", "[\"]"),
            ("\u{600}<\(front)/a>\u{301} (\u{301}<a>)", "\u{600}<\(server)/a>\u{301} (\u{301}<a>)"),
        ] {
            #expect(try field("If", sent) == expected)
        }
        #expect(try field("If", "<http://localhost:8080/a> ([\"1\"])", prefix: "") == "<\(server)/a> ([\"1\"])")
    }

    @Test("a request that would show the key to the server is refused, wherever the key is")
    func keys() throws {
        let key = try FrontKey(text: Self.key)
        let prefix = "/" + Self.key
        func problem(_ fields: [(String, String)], target: String = "/a", prefix: String) -> FrontProblem? {
            do {
                _ = try sent(fields, target: target, prefix: prefix, key: key, ProxyToken(secret))
                return nil
            } catch {
                return error as? FrontProblem
            }
        }
        for prefix in [prefix, ""] {
            for fields in [
                [("X-Callback", "http://127.0.0.1:8080/\(Self.key)/a")], [("Cookie", "a=\(Self.key)")],
                [("If", "(<http://127.0.0.1:8080/\(Self.key)/a>)")],
                [("Link", "<http://a@localhost:8080/\(Self.key)>")],
                [("If", "<http://127.0.0.1:8080/\(Self.key)/a")],
            ] {
                let found = problem(fields, prefix: prefix)
                #expect(found?.status == 400 && found?.detail.contains(fields[0].0) == true, "\(fields)")
                #expect(found?.detail.contains(Self.key) == false)
            }
            #expect(problem([], target: "/\(Self.key)/a", prefix: prefix)?.status == 400)
            #expect(problem([], target: "/a?b=\(Self.key)", prefix: prefix)?.status == 400)
            #expect(problem([("Authd-Key", Self.key), ("X-Own", "KEY")], prefix: prefix) == nil)
        }
        // With the key in a header, no address has it.
        let address = [("Destination", "http://127.0.0.1:8080/\(Self.key)/a")]
        #expect(problem(address, prefix: "")?.status == 400 && problem(address, prefix: prefix) == nil)
    }

    @Test("a token that cannot be the value of a header is not sent")
    func badToken() {
        #expect(throws: FrontProblem.self) { try sent([], ProxyToken(Secret("a\r\nX-Evil: b"))) }
    }

    @Test("a place that needs more than the token is an error, and so is one of a newer agent")
    func unknownPlace() throws {
        let place = try TokenPlace(TokenPlaceInfo(kind: "header", name: "X", value: "{user.id}:{access_token}"))
        #expect(throws: FrontProblem.self) { try sent([], ProxyToken(secret, place: place)) }
        #expect(throws: AgentError.self) { try TokenPlace(TokenPlaceInfo(kind: "body", name: "X", value: "")) }
    }

    @Test("fields of the connection, and those that Connection names, stay behind (RFC 9110 §7.6.1)")
    func hopByHop() throws {
        let fields = [
            ("Host", "127.0.0.1:8080"), ("Connection", "keep-alive, X-Own"), ("X-Own", "1"), ("Keep-Alive", "5"),
            ("TE", "trailers"), ("Transfer-Encoding", "chunked"), ("Upgrade", "h2c"), ("Expect", "100-continue"),
            ("Proxy-Authorization", "Basic x"), ("X-Kept", "2"), ("X-Kept", "3"),
        ]
        let found = try sent(fields, ProxyToken(secret))
        #expect(found.fields == ["X-Kept: 2", "X-Kept: 3", "Authorization: Bearer token-1"])
        let response = ProxyFields.response(
            [
                ("Connection", "close, X-Own"), ("X-Own", "1"), ("Trailer", "a"), ("Set-Cookie", "a"),
                ("Set-Cookie", "b"),
            ],
            of: target, prefix: "")
        #expect(response.map(\.value) == ["a", "b"])
    }

    @Test("an address of the server becomes one of the proxy, any other stays")
    func locations() {
        func place(_ text: String) -> String { target.location(text, prefix: "/KEY") }
        #expect(place("/v1/b?c") == "/KEY/v1/b?c")
        #expect(place("https://API.example.org:443/v1/b") == "/KEY/v1/b")
        #expect(place("https://api.example.org") == "/KEY/")
        for other in ["https://other.example/v1", "//other.example/v1", "http://api.example.org/v1", "b"] {
            #expect(place(other) == other)
        }
    }

    @Test("the server is one origin: https, or http on this machine")
    func targets() throws {
        let origin = "https://api.example.org"
        #expect(target.basePath == "/v1" && target.origin.text == "https://api.example.org")
        #expect(target.url(for: "//other.example/") == "https://api.example.org//other.example/")
        // What no URL has is encoded, and nothing else is changed.
        let encoded = origin + "/a%2Fb%7C%7Bc%7D%5E?d=%7C&e=%7C%5B%25%5D%C3%A4"
        #expect(target.url(for: "/a%2Fb|{c}^?d=%7C&e=|[%]ä") == encoded)
        #expect(try ProxyTarget("http://127.0.0.1:8080").basePath == "")
        for url in ["http://api.example.org", "https://api.example.org?a=b", "ftp://a", "api.example.org"] {
            #expect(throws: AgentError.self) { try ProxyTarget(url) }
        }
    }

    @Test("a 401 is one renewal and one more attempt, if the body allows it")
    func attempts() {
        let refused = HTTPResponse(status: 401, headers: [], body: [])
        let fine = HTTPResponse(status: 200, headers: [], body: [])
        var short = ProxyAttempts(method: "POST", isReplayable: true)
        #expect([fine, refused, refused].map { short.decide($0, with: ProxyToken(secret)) } == [.pass, .renew, .pass])
        var long = ProxyAttempts(method: "POST", isReplayable: false)
        #expect([refused, refused].map { long.decide($0, with: ProxyToken(secret)) } == [.passAndRenew, .pass])
        var fixed = ProxyAttempts(method: "POST", isReplayable: true)
        #expect(fixed.decide(refused, with: ProxyToken(secret, isRenewable: false)) == .passAndRenew)
    }

    @Test("a nonce is used for one more attempt, and the token stays")
    func nonces() {
        let fields = [("WWW-Authenticate", #"DPoP error="use_dpop_nonce""#), ("DPoP-Nonce", "n1")]
        let wanted = HTTPResponse(status: 401, headers: fields.map { ($0.0, $0.1) }, body: [])
        let bound = ProxyToken(secret, isBound: true, proof: Secret("p"))
        var attempts = ProxyAttempts(method: "GET", isReplayable: true)
        #expect([wanted, wanted].map { attempts.decide($0, with: bound) } == [.prove, .pass])
        #expect(ProxyAttempts.nonce(wanted) == "n1")
        let long = HTTPResponse(
            status: 200, headers: [("DPoP-Nonce", String(repeating: "n", count: 2000))], body: [])
        #expect(ProxyAttempts.nonce(long) == nil)
    }

    @Test("a lost connection is tried again only for a request that changes nothing")
    func reconnect() {
        let lost = TransportError.connectionLost(host: "a", reason: "b")
        let refused = TransportError.connectionRefused(host: "a")
        var get = ProxyAttempts(method: "GET", isReplayable: true)
        #expect([refused, lost, lost].map { get.mayReconnect(after: $0) } == [false, true, false])
        var post = ProxyAttempts(method: "POST", isReplayable: true)
        #expect([lost].map { post.mayReconnect(after: $0) } == [false])
    }

    @Test("each reason without a response has its own status")
    func problems() {
        func problem(_ kind: ErrorKind) -> FrontProblem {
            FrontProblem(AgentError(kind, "Why."), login: "authc login a -s work")
        }
        let signedOut = problem(.notSignedIn)
        #expect(signedOut.status == 401 && signedOut.command == "authc login a -s work")
        #expect(signedOut.detail == "Why. Run `authc login a -s work`, then try again.")
        // The agent's own advice is not repeated.
        let nobody = FrontProblem(AgentError.noSession)
        #expect(nobody.detail == AgentError.noSession.message && nobody.command == "authc login")
        #expect(problem(.signInRequired).status == 401 && problem(.denied).status == 403)
        #expect(problem(.offline).status == 503 && problem(.timeout).status == 504)
        #expect(FrontProblem(TransportError.connectionRefused(host: "a")).status == 502)
        #expect(FrontProblem(TransportError.timedOut(host: "a", after: .seconds(1))).status == 504)
    }
}
