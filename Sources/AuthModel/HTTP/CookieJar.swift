package import AuthWire

/// The cookies of one session (RFC 6265 §5.3, §5.4), or of one sign-in.
///
/// A cookie without an end lasts as long as the session. There is no list of public suffixes: a cookie for a parent domain is
/// accepted if the domain has two labels, because the profile's hosts are the only ones that get any.
package struct CookieJar: Sendable, Equatable {
    fileprivate struct Cookie: Sendable, Equatable {
        var name: String
        var value: Secret
        var domain: String
        var isHostOnly: Bool
        var path: String
        var isSecure: Bool
        var expiresAt: WallTime?

        var size: Int { name.utf8.count + value.count }

        /// Replaces a cookie with the same three (§5.3, step 11).
        func isSame(as other: Cookie) -> Bool {
            name == other.name && domain == other.domain && path == other.path
        }

        func hasEnded(at now: WallTime) -> Bool { expiresAt.map { $0 <= now } ?? false }
    }

    /// Browsers keep 50 or more for a domain (§6.1).
    private static let mostCookies = 50
    /// Name and value of one; browsers refuse a larger one.
    private static let largestCookie = 4096
    /// The limit for all names and values: a record is one secret of a keyring.
    private static let mostBytes = 32 << 10

    /// In the order in which they were first set.
    private var cookies: [Cookie] = []

    package init() {}

    package var isEmpty: Bool { cookies.isEmpty }

    // MARK: Responses

    /// Stores the cookies of a response. Those that belong to other hosts are ignored.
    /// - Parameter url: where the request was sent.
    package mutating func store(_ reply: HTTPResponse, from url: String, sentAt: WallTime) {
        guard let origin = Origin(of: url) else { return }
        let path = Self.path(of: url)
        for received in SetCookie.all(of: reply) {
            guard let cookie = Self.cookie(received, origin, path, sentAt: sentAt, skew: reply.skew) else { continue }
            let known = cookies.firstIndex { $0.isSame(as: cookie) }
            switch (known, cookie.hasEnded(at: sentAt)) {
            case (let index?, true): cookies.remove(at: index)
            case (let index?, false): cookies[index] = cookie
            case (nil, true): break
            case (nil, false): cookies.append(cookie)
            }
        }
        removeExcess(at: sentAt)
    }

    private mutating func removeExcess(at now: WallTime) {
        cookies.removeAll { $0.hasEnded(at: now) }
        while cookies.count > Self.mostCookies || cookies.reduce(0, { $0 + $1.size }) > Self.mostBytes {
            cookies.removeFirst()
        }
    }

    /// `nil` if the cookie has to be ignored.
    private static func cookie(
        _ received: SetCookie, _ origin: Origin, _ path: String, sentAt: WallTime, skew: Duration
    ) -> Cookie? {
        let isSafe = origin.isSecure || origin.isLoopback
        guard let (domain, isHostOnly) = domain(received.domain, of: origin.host), isSafe || !received.isSecure,
            received.name.utf8.count + received.value.utf8.count <= largestCookie
        else { return nil }
        let end = received.maxAge.map { sentAt + .seconds($0) } ?? received.expires.map { $0 + (.zero - skew) }
        return Cookie(
            name: received.name, value: Secret(received.value), domain: domain, isHostOnly: isHostOnly,
            path: received.path ?? defaultPath(path), isSecure: received.isSecure, expiresAt: end)
    }

    private static func domain(_ domain: String?, of host: String) -> (String, isHostOnly: Bool)? {
        guard let domain else { return (host, true) }
        // A name without a dot is a public suffix, or one machine.
        let labels = domain.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        if domain == host { return (host, labels.count < 2 || isAddress(host)) }
        guard labels.count >= 2, labels.allSatisfy({ !$0.isEmpty }), host.hasSuffix("." + domain), !isAddress(host)
        else { return nil }
        return (domain, false)
    }

    private static func isAddress(_ host: String) -> Bool {
        host.utf8.contains(UInt8(ascii: ":"))
            || host.utf8.reversed().prefix { $0 != UInt8(ascii: ".") }.allSatisfy(\.isDigit)
    }

    /// §5.1.4.
    private static func defaultPath(_ path: String) -> String {
        guard let end = path.lastIndex(of: "/"), end != path.startIndex else { return "/" }
        return String(path[..<end])
    }

    private static func path(of url: String) -> String {
        let path = Origin.path(of: url).prefix { $0 != "?" && $0 != "#" }
        return path.hasPrefix("/") ? String(path) : "/"
    }

    // MARK: Requests

    /// Adds the cookies for the request's address to its `Cookie` header. A cookie that the request has already stays.
    /// - Returns: whether any was added.
    @discardableResult
    package func add(to request: inout HTTPRequest, at now: WallTime) -> Bool {
        guard !cookies.isEmpty, let origin = Origin(of: request.url) else { return false }
        let fields = request.headers.filter { $0.name.lowercased() == "cookie" }.map { $0.value.reveal() }
        let given = Set(fields.flatMap { $0.utf8.split(separator: UInt8(ascii: ";")) }.map(Self.name))
        let path = Self.path(of: request.url)
        let added = cookies.enumerated()
            .filter { Self.belongs($1, to: origin, path, at: now) && !given.contains($1.name) }
            .sorted { ($1.element.path.utf8.count, $0.offset) < ($0.element.path.utf8.count, $1.offset) }
            .map { "\($0.element.name)=\($0.element.value.reveal())" }
        guard !added.isEmpty else { return false }
        request.headers.removeAll { $0.name.lowercased() == "cookie" }
        request.headers.append(HTTPField("Cookie", (fields + added).joined(separator: "; ")))
        return true
    }

    private static func name(_ pair: Substring.UTF8View) -> String {
        let name = pair.prefix { $0 != UInt8(ascii: "=") }.drop { " \t".utf8.contains($0) }
        return String(Substring(name))
    }

    private static func belongs(_ cookie: Cookie, to origin: Origin, _ path: String, at now: WallTime) -> Bool {
        let isHost = cookie.domain == origin.host || (!cookie.isHostOnly && origin.host.hasSuffix("." + cookie.domain))
        let isPath =
            path == cookie.path
            || (path.hasPrefix(cookie.path)
                && (cookie.path.hasSuffix("/")
                    || path.utf8.dropFirst(cookie.path.utf8.count).first == UInt8(ascii: "/")))
        return isHost && isPath && !cookie.hasEnded(at: now)
            && (!cookie.isSecure || origin.isSecure || origin.isLoopback)
    }
}

// MARK: The stored form

extension CookieJar {
    package var json: JSON {
        .array(
            cookies.map { cookie in
                var object: JSONObject = [
                    "name": .string(cookie.name), "value": .string(cookie.value.reveal()),
                    "domain": .string(cookie.domain), "path": .string(cookie.path),
                ]
                if cookie.isHostOnly { object["host_only"] = true }
                if cookie.isSecure { object["secure"] = true }
                object["expires_at"] = cookie.expiresAt.map { .number($0.unixSeconds) }
                return .object(object)
            })
    }

    /// `nil` if it is invalid.
    package init?(stored json: JSON) {
        guard let elements = json.arrayValue else { return nil }
        for element in elements {
            guard let name = element["name"]?.stringValue, let value = element["value"]?.stringValue,
                let domain = element["domain"]?.stringValue, let path = element["path"]?.stringValue
            else { return nil }
            let end = element["expires_at"]?.doubleValue
            guard end.map({ WallTime(stored: $0) != nil }) ?? true else { return nil }
            cookies.append(
                Cookie(
                    name: name, value: Secret(value), domain: domain,
                    isHostOnly: element["host_only"]?.boolValue ?? false, path: path,
                    isSecure: element["secure"]?.boolValue ?? false,
                    expiresAt: end.flatMap(WallTime.init(stored:))))
        }
    }
}
