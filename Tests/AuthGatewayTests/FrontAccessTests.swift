import AuthModel
import AuthWire
import Testing

@testable import AuthGateway

@Suite("Which requests a front serves")
struct FrontAccessTests {
    private static let text = "0123456789abcdefghijkl"
    private let port = FrontAddress.loopback(host: "127.0.0.1", port: 8080).authorities

    private func access(_ places: [FrontAccess.KeyPlace] = [.path, .header("authd-key")]) throws -> FrontAccess {
        FrontAccess(key: try FrontKey(text: Self.text + "\n"), keyPlaces: places, webOrigins: ["https://app.example"])
    }

    private func head(
        _ target: String, _ fields: [(String, String)] = [], method: String = "GET", host: String? = "127.0.0.1:8080",
        isOld: Bool = false
    ) -> FrontHead {
        let host = host.map { [("Host", $0)] } ?? []
        return FrontHead(method: method, target: target, isOld: isOld, fields: (host + fields).map { ($0.0, $0.1) })
    }

    private func status(_ head: FrontHead, _ access: FrontAccess, at port: Set<String>?) -> Int {
        do throws(FrontProblem) {
            _ = try access.admit(head, at: port)
            return 200
        } catch {
            return error.status
        }
    }

    @Test("the key is in the path or in a header, and is not passed on")
    func key() throws {
        let access = try access()
        let path = try access.admit(head("/\(Self.text)/v1/models?a=b"), at: port)
        #expect(path.target == "/v1/models?a=b" && path.prefix == "/\(Self.text)" && path.keyHeader == nil)
        #expect(try access.admit(head("/\(Self.text)"), at: port).target == "/")
        #expect(try access.admit(head("/\(Self.text)?a"), at: port).target == "/?a")
        let header = try access.admit(head("/v1", [("Authd-Key", Self.text)]), at: port)
        #expect(header.target == "/v1" && header.prefix.isEmpty && header.keyHeader == "authd-key")
        for wrong in ["/", "/v1", "/\(Self.text)x/v1", "/\(Self.text.dropLast())/v1", "//\(Self.text)/v1"] {
            #expect(status(head(wrong), access, at: port) == 403, "\(wrong)")
        }
        #expect(status(head("/v1", [("Authd-Key", Self.text), ("Authd-Key", Self.text)]), access, at: port) == 403)
        let headerOnly = try self.access([.header("authorization")])
        #expect(status(head("/\(Self.text)/v1"), headerOnly, at: port) == 403)
        #expect(status(head("/v1", [("Authorization", Self.text)]), headerOnly, at: port) == 200)
    }

    /// A slash and the mark after it are one character.
    @Test("where the key and the path end does not depend on the mark that follows")
    func marks() throws {
        let access = try access()
        let start = "http://127.0.0.1:8080"
        for (target, path, query) in [
            ("/\(Self.text)/\u{301}a?b", "/\u{301}a", "?b"), ("/\(Self.text)?\u{301}a", "/", "?\u{301}a"),
            (start + "/\(Self.text)/\u{301}a", "/\u{301}a", ""),
        ] {
            let request = try access.admit(head(target), at: port)
            #expect(request.target == path + query && request.path == path, "\(request.target)")
            #expect(request.target(of: start + "/\(Self.text)/\u{301}b") == "/\u{301}b")
            #expect(request.target(of: "/\(Self.text)?\u{301}b") == "/?\u{301}b")
            #expect(request.target(of: "/\(Self.text)\u{301}/b") == nil)
            for text in ["\(Self.text)\u{301}", "\u{600}\(Self.text)", "a\(Self.text)/"] {
                #expect(request.hasKey(text))
            }
        }
        #expect(status(head("/\(Self.text)\u{301}/a"), access, at: port) == 403)
        #expect(status(head("http://evil.example/\u{301}a"), access, at: port) == 421)
    }

    @Test("a name that was made to lead here is refused (DNS rebinding)")
    func hosts() throws {
        let access = try access()
        for host in ["127.0.0.1:8080", "localhost:8080", "LOCALHOST:8080"] {
            #expect(status(head("/\(Self.text)/", host: host), access, at: port) == 200, "\(host)")
        }
        for host in [
            "evil.example:8080", "evil.example", "127.0.0.1", "127.0.0.1:80", "[::1]:8080", "localhost.:8080", "",
        ] {
            #expect(status(head("/\(Self.text)/", host: host), access, at: port) == 421, "\(host)")
        }
        #expect(status(head("/", host: "anything"), FrontAccess(), at: nil) == 200)
        func authorities(_ host: String, _ port: Int) -> Set<String>? {
            FrontAddress.loopback(host: host, port: port).authorities
        }
        #expect(authorities("::1", 80) == ["[::1]:80", "localhost:80", "[::1]", "localhost"])
        #expect(authorities("127.0.0.2", 8080) == ["127.0.0.2:8080"])
        #expect(FrontAddress.unix(path: "/run/p").authorities == nil)
    }

    @Test("a web page is refused, unless it is the front's own or was allowed")
    func pages() throws {
        let access = try access()
        func page(_ fields: [(String, String)]) -> Int { status(head("/\(Self.text)/", fields), access, at: port) }
        #expect(page([("Origin", "https://evil.example")]) == 403)
        #expect(page([("Origin", "null")]) == 403)
        #expect(page([("Origin", "http://localhost:8080")]) == 200)
        #expect(page([("Origin", "https://app.example"), ("Sec-Fetch-Site", "cross-site")]) == 200)
        #expect(page([("Sec-Fetch-Site", "cross-site")]) == 403)
        #expect(page([("Sec-Fetch-Site", "none")]) == 200)
        #expect(status(head("/", [("Origin", "https://evil.example")]), FrontAccess(), at: nil) == 403)
    }

    @Test("an absolute URL must lead here, and CONNECT and TRACE are refused")
    func targets() throws {
        let access = try access()
        let here = try access.admit(head("http://localhost:8080/\(Self.text)/v1"), at: port)
        #expect(here.target == "/v1")
        #expect(status(head("http://other.example/\(Self.text)/v1"), access, at: port) == 421)
        #expect(status(head("https://localhost:8080/\(Self.text)/v1"), access, at: port) == 421)
        #expect(status(head("http://other.example/v1"), FrontAccess(), at: nil) == 421)
        #expect(status(head("v1"), access, at: port) == 400)
        #expect(status(head("other.example:443", method: "CONNECT"), access, at: port) == 405)
        #expect(status(head("/\(Self.text)/", method: "TRACE"), access, at: port) == 405)
        #expect(try FrontAccess().admit(head("*", method: "OPTIONS"), at: nil).target == "*")
    }

    @Test("an address of the front is known by its authority, and loses its key")
    func addressesOfTheFront() throws {
        let request = try access().admit(head("/\(Self.text)/v1"), at: port)
        #expect(request.target(of: "http://LOCALHOST:8080/\(Self.text)/a?b") == "/a?b")
        #expect(request.target(of: "http://127.0.0.1:8080") == "/")
        for other in [
            "http://127.0.0.1:8081/", "https://127.0.0.1:8080/", "http://127.0.0.1:8080@other.example/", "/a",
        ] {
            #expect(request.target(of: other) == nil, "\(other)")
        }
        let local = try FrontAccess().admit(head("/", host: "api"), at: nil)
        #expect(local.target(of: "http://api/a") == "/a" && local.target(of: "http://other/a") == nil)
    }

    @Test(
        "a request whose end two programs could see in different places is refused",
        arguments: [
            [("Content-Length", "5"), ("Transfer-Encoding", "chunked")],
            [("Content-Length", "5"), ("Content-Length", "5")], [("Content-Length", "5, 5")],
            [("Content-Length", "+5")], [("Content-Length", "")], [("Content-Length", "99999999999999999999")],
            [("Transfer-Encoding", "gzip, chunked")],
            [("Transfer-Encoding", "chunked"), ("Transfer-Encoding", "chunked")],
            [("Transfer-Encoding", "identity")], [("Host", "127.0.0.1:8080")], [("Content Length", "5")],
        ])
    func smuggling(fields: [(String, String)]) throws {
        #expect(status(head("/", fields, method: "POST"), FrontAccess(), at: nil) == 400)
    }

    @Test("HTTP/1.0 needs no Host on a Unix socket, and has no chunks")
    func old() {
        #expect(status(head("/", host: nil, isOld: true), FrontAccess(), at: nil) == 200)
        #expect(status(head("/", host: nil), FrontAccess(), at: nil) == 400)
        #expect(status(head("/", [("Transfer-Encoding", "chunked")], isOld: true), FrontAccess(), at: nil) == 400)
    }

    @Test("a key has the length of a random one, and nothing that a path changes")
    func keys() throws {
        var source = SystemRandomNumberGenerator()
        let random = FrontKey(using: &source).reveal()
        #expect(random.utf8.count == 43 && FrontKey(using: &source).reveal() != random)
        #expect(try FrontKey(text: random).matches(random))
        for text in ["", "short", Self.text + "/", Self.text + "%41", "\(Self.text) \(Self.text)", Self.text + "ä"] {
            #expect(throws: AgentError.self) { try FrontKey(text: text) }
        }
    }

    @Test("addresses of this machine only")
    func addresses() throws {
        #expect(try FrontAddress("unix:/run/p/socket") == .unix(path: "/run/p/socket"))
        #expect(try FrontAddress("127.0.0.1:0") == .loopback(host: "127.0.0.1", port: 0))
        #expect(try FrontAddress("localhost:80").description == "127.0.0.1:80")
        #expect(try FrontAddress("[::1]:443").description == "[::1]:443")
        for text in [
            "", "unix:p", "unix:/run/", "0.0.0.0:1", "10.0.0.1:1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:+1",
        ] {
            #expect(throws: AgentError.self) { try FrontAddress(text) }
        }
    }

    @Test("the variables of the service manager count for one process only")
    func listenVariables() {
        let variables = ["LISTEN_PID": "7", "LISTEN_FDS": "2", "LISTEN_FDNAMES": "api"]
        let here = ListenVariables(processID: 7) { variables[$0] }
        #expect(here.sockets.map(\.number) == [3, 4] && here.sockets.map(\.name) == ["api", "unknown"])
        #expect(ListenVariables(processID: 8) { variables[$0] }.sockets.isEmpty)
        #expect(ListenVariables(processID: 7) { $0 == "LISTEN_FDS" ? "-1" : variables[$0] }.sockets.isEmpty)
    }

    @Test("each wait for a client ends")
    func times() {
        var times = FrontTimes(FrontLimits(), now: .seconds(100))
        #expect(
            times.deadline == .seconds(110) && !times.isOver(now: .seconds(109)) && times.isOver(now: .seconds(110)))
        times.begin(.client, now: .seconds(105))
        #expect(times.deadline == .seconds(165))
        times.begin(.other, now: .seconds(200))
        #expect(times.deadline == nil && !times.isOver(now: .seconds(100_000)))
        times.begin(.next, now: .seconds(300))
        #expect(times.deadline == .seconds(375))
        times.begin(.end, now: .seconds(300))
        #expect(times.deadline == .seconds(302))
    }

    @Test("the end of a response is marked as its client understands it")
    func framing() {
        let new = head("/")
        let old = head("/", isOld: true)
        #expect(FrontFraming(new, status: 200, hasLength: false).isChunked)
        #expect(!FrontFraming(new, status: 200, hasLength: true).isChunked)
        #expect(!FrontFraming(new, status: 304, hasLength: false).isChunked)
        #expect(!FrontFraming(head("/", method: "HEAD"), status: 200, hasLength: false).hasBody)
        #expect(FrontFraming(old, status: 200, hasLength: false).endsWithConnection)
        #expect(!FrontFraming(old, status: 200, hasLength: false).isChunked)
    }
}
