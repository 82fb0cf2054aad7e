import AuthModel
import AuthWire

/// Which requests a front serves: those of the user's own programs.
///
/// Whose socket is at the other end is checked before (``AuthFront``); this is about web pages, which any program of the user
/// may show, and about programs that were told of the port by others.
package struct FrontAccess: Sendable {
    /// Where a client writes the key.
    package enum KeyPlace: Sendable, Equatable {
        /// `/KEY/path`
        case path
        /// A header with the key as its whole value; in lower case.
        case header(String)
    }

    /// `nil`: the front has no key, because it listens on a Unix socket, or because its clients can send none.
    package var key: FrontKey?
    package var keyPlaces: [KeyPlace]
    /// Origins of web pages that may send requests, beside the front's own.
    package var webOrigins: Set<String>

    package init(key: FrontKey? = nil, keyPlaces: [KeyPlace] = [.path], webOrigins: Set<String> = []) {
        self.key = key
        self.keyPlaces = keyPlaces
        self.webOrigins = webOrigins
    }

    /// - Parameter authorities: what `Host` may be; `nil` on a Unix socket, where it says nothing.
    /// - Throws: the response to a request that is not served.
    package func admit(_ head: FrontHead, at authorities: Set<String>?) throws(FrontProblem) -> FrontRequest {
        if let malformation = head.malformation { throw .malformed(malformation) }
        switch head.method {
        case "CONNECT":
            throw FrontProblem(405, .unsupported, "CONNECT is not supported: this is not a forward proxy.")
        case "TRACE":
            // Its response would be the request as the server received it (RFC 9110 §9.3.8), with the token.
            throw FrontProblem(405, .unsupported, "TRACE is not supported.")
        default: break
        }
        let host = head.values("host").first?.lowercased()
        if let authorities, host.map({ !authorities.contains($0) }) ?? true {
            throw FrontProblem(
                421, .denied, "Host is not an address of this port; only programs of this machine are served.")
        }
        let target = try originForm(head, authorities)
        try checkPage(head, authorities)
        let own = authorities ?? Set(host.map { [$0] } ?? [])
        guard let key else { return FrontRequest(head: head, target: target, authorities: own) }
        return try admit(head, target, key, own)
    }

    private func admit(
        _ head: FrontHead, _ target: String, _ key: FrontKey, _ own: Set<String>
    ) throws(FrontProblem) -> FrontRequest {
        for place in keyPlaces {
            switch place {
            case .header(let name):
                let values = head.values(name)
                guard values.count == 1, key.matches(values[0]) else { continue }
                return FrontRequest(head: head, target: target, keyHeader: name, authorities: own, key: key)
            case .path:
                let segment = Substring(target.utf8.dropFirst().prefix { !"/?".utf8.contains($0) })
                guard target.beginsWithSlash, key.matches(segment) else { continue }
                let rest = target[segment.endIndex...]
                return FrontRequest(
                    head: head, target: rest.beginsWithSlash ? String(rest) : "/" + rest, prefix: "/" + segment,
                    authorities: own, key: key)
            }
        }
        throw FrontProblem(
            403, .denied, "The key of this port is missing or wrong. Use the URL that its program printed.")
    }

    /// The absolute form (RFC 9112 §3.2.2) must lead here, too.
    private func originForm(_ head: FrontHead, _ authorities: Set<String>?) throws(FrontProblem) -> String {
        let target = head.target
        if target.beginsWithSlash || (target == "*" && head.method == "OPTIONS") { return target }
        guard let (authority, path) = target.partsOfHTTP else {
            let isURL = target.utf8.contains("://".utf8)
            throw isURL ? FrontProblem.elsewhere : FrontProblem.malformed("its target is not a path")
        }
        guard let authorities, authorities.contains(authority) else { throw .elsewhere }
        return path.beginsWithSlash ? String(path) : "/" + path
    }

    /// A browser names the page in `Origin`, and says in `Sec-Fetch-Site` whether it is from elsewhere (Fetch Metadata).
    private func checkPage(_ head: FrontHead, _ authorities: Set<String>?) throws(FrontProblem) {
        let own = Set((authorities ?? []).map { "http://" + $0 })
        let origins = head.values("origin").map { $0.lowercased() }
        guard origins.allSatisfy({ own.contains($0) || webOrigins.contains($0) }) else {
            throw FrontProblem(403, .denied, "Web pages are not served (Origin).")
        }
        let isForeign = head.has("cross-site", in: "sec-fetch-site") || head.has("same-site", in: "sec-fetch-site")
        guard !isForeign || origins.contains(where: webOrigins.contains) else {
            throw FrontProblem(403, .denied, "Web pages are not served (Sec-Fetch-Site).")
        }
    }
}

/// A request that a front serves.
package struct FrontRequest: Sendable {
    package let head: FrontHead
    /// Path and query without the key, or `*`.
    package let target: String
    /// What a path of the server has in front here, such as `/KEY`; empty if nothing.
    package let prefix: String
    /// The header that had the key. It must not be passed on.
    package let keyHeader: String?
    /// What an address of the front has after `http://`, in lower case.
    private let authorities: Set<String>
    private let key: FrontKey?

    package init(
        head: FrontHead, target: String, prefix: String = "", keyHeader: String? = nil, authorities: Set<String> = [],
        key: FrontKey? = nil
    ) {
        self.head = head
        self.target = target
        self.prefix = prefix
        self.keyHeader = keyHeader
        self.authorities = authorities
        self.key = key
    }

    package var path: String { String(Substring(target.utf8.prefix { $0 != UInt8(ascii: "?") })) }

    /// What an address of the front has as ``target``: without the key. `nil` for an address of anything else.
    /// - Parameter url: a URL, or a path that begins with the key.
    package func target(of url: String) -> String? {
        if let (authority, path) = url.partsOfHTTP, authorities.contains(authority) {
            return withoutPrefix(path) ?? (path.beginsWithSlash ? String(path) : "/" + path)
        }
        return prefix.isEmpty ? nil : withoutPrefix(url[...])
    }

    /// Whether a text has the key of the front, which is for its clients only.
    package func hasKey(_ text: String) -> Bool { key?.isIn(text) ?? false }

    /// `nil` if the path does not begin with the key.
    private func withoutPrefix(_ path: Substring) -> String? {
        guard path.utf8.starts(with: prefix.utf8) else { return nil }
        let rest = Substring(path.utf8.dropFirst(prefix.utf8.count))
        if rest.isEmpty || rest.utf8.first == UInt8(ascii: "?") { return "/" + rest }
        return rest.beginsWithSlash ? String(rest) : nil
    }
}

extension StringProtocol {
    /// Bytes: a slash with a combining mark after it is another character, but a server still sees the slash.
    fileprivate var beginsWithSlash: Bool { utf8.first == UInt8(ascii: "/") }
}

extension String {
    /// The parts of an `http` URL: the authority in lower case, and what follows it. `nil` for anything else.
    fileprivate var partsOfHTTP: (authority: String, path: Substring)? {
        let scheme = "http://"
        guard String(decoding: utf8.prefix(scheme.utf8.count), as: UTF8.self).lowercased() == scheme else { return nil }
        let rest = utf8.dropFirst(scheme.utf8.count)
        let authority = Substring(rest.prefix { !"/?#".utf8.contains($0) })
        return (authority.lowercased(), self[authority.endIndex...])
    }
}
