import AgentTestSupport
import AuthWire

@testable import AuthModel

extension FuzzTarget {
    /// `WWW-Authenticate`, one field in each line.
    static let challenge = FuzzTarget("challenge", longest: 2048) { bytes throws(Violation) in
        var input = InputReader(bytes)
        let fields = input.lines().map { (name: "WWW-Authenticate", value: $0) }
        guard let challenge = TokenChallenge(HTTPResponse(status: 401, headers: fields, body: [])) else { return }
        for text in [challenge.error, challenge.description].compactMap(\.self) {
            try require(VisibleText.line(text) == text, "hidden characters in '\(text)'")
        }
        if let url = challenge.resourceMetadata {
            try require(Origin(of: url) != nil, "'\(url)' is accepted as an address")
            try require(VisibleText.line(url) == url, "hidden characters in '\(url)'")
        }
        try require(challenge.scopes?.allSatisfy(OAuthScope.isOne) ?? true, "a scope that is none is accepted")
    }

    /// `Set-Cookie`, one field in each line, after the path of the request.
    static let cookie = FuzzTarget("cookie", longest: 2048) { bytes throws(Violation) in
        var input = InputReader(bytes)
        let path = String(decoding: (input.line() ?? []).filter(\.isVisible), as: UTF8.self)
        let fields = input.lines().map { (name: "Set-Cookie", value: $0) }
        let reply = HTTPResponse(status: 200, headers: fields, body: [])
        let now = Sample.sentAt
        let host = ["api.shop.example.org", "127.0.0.1", "localhost"][bytes.count % 3]
        var jar = CookieJar()
        jar.store(reply, from: "https://\(host)/\(path)", sentAt: now)
        try check(jar, of: host, path, at: now)
        // The same again replaces what is there.
        var again = jar
        again.store(reply, from: "https://\(host)/\(path)", sentAt: now)
        try require(
            (again.json.arrayValue ?? []).count <= (jar.json.arrayValue ?? []).count, "a cookie is stored twice")
    }

    private static func check(_ jar: CookieJar, of host: String, _ path: String, at now: WallTime) throws(Violation) {
        let stored = jar.json
        let read = (try? JSON(parsing: stored.serialized())).flatMap(CookieJar.init(stored:))
        try require(read == jar, "stored cookies are read as others")
        let cookies = stored.arrayValue ?? []
        try require(cookies.count <= 50, "\(cookies.count) cookies are kept")
        try require(stored.serialized().count <= 128 << 10, "the cookies take \(stored.serialized().count) bytes")
        for cookie in cookies {
            let domain = cookie["domain"]?.stringValue ?? ""
            try require(host == domain || host.hasSuffix("." + domain), "a cookie for \(domain) is kept from \(host)")
        }
        let others = [
            "https://evil.example/", "https://org/", "https://example.org.evil.example/",
            "https://10.127.0.0.1.example/",
        ]
        for other in others {
            try require(sent(jar, to: other + path, at: now) == nil, "a cookie of \(host) is sent to \(other)")
        }
        if let cookies = sent(jar, to: "https://\(host)/\(path)", at: now) {
            try require(HeaderRules.isValue(cookies), "cookies do not fit into a header")
        }
        for secure in cookies where secure["secure"] == true && host == "api.shop.example.org" {
            let text = sent(jar, to: "http://\(host)/\(path)", at: now) ?? ""
            let pair = "\(secure["name"]?.stringValue ?? "")=\(secure["value"]?.stringValue ?? "")"
            let isOpenToo = cookies.contains {
                $0["secure"] != true && $0["name"] == secure["name"] && $0["value"] == secure["value"]
            }
            try require(
                isOpenToo || !text.split(separator: "; ").contains(Substring(pair)),
                "a secure cookie is sent in the clear")
        }
    }

    private static func sent(_ jar: CookieJar, to url: String, at now: WallTime) -> String? {
        var request = HTTPRequest(method: "GET", url: url)
        jar.add(to: &request, at: now)
        return request.header("Cookie")
    }
}
