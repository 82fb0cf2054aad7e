package import AuthWire

/// The URL of a protected resource, as a user gives it to sign in to it.
package struct ResourceURL: Sendable, Equatable, CustomStringConvertible {
    /// Without query; scheme and host in lower case, without the scheme's default port. A slash at the end of a path stays.
    package let text: String
    /// With its `?`; empty if there is none. It is part of the first request only: a resource indicator has no query.
    package let query: String
    package let origin: Origin

    /// - Throws: `validation` for anything but an `https` URL, or an `http` URL of this machine.
    package init(_ text: String) throws(AgentError) {
        let bare = text.prefix { $0 != "?" && $0 != "#" }
        let rest = text.dropFirst(bare.count)
        let base: BaseURL
        do throws(BaseURLError) {
            base = try BaseURL(String(bare))
            origin = try Origin(String(bare))
        } catch {
            throw Self.refused(text, error.expected)
        }
        guard base.isSecure || base.isLoopback else {
            throw Self.refused(text, "an https URL; http is allowed only for this machine")
        }
        guard rest.utf8.allSatisfy({ $0.isVisible && $0 != UInt8(ascii: "#") }) else {
            throw Self.refused(text, "a URL without a fragment ('#') and with a percent-encoded query")
        }
        let path = Origin.path(of: base.text)
        self.text = origin.text + path + (!path.isEmpty && bare.hasSuffix("/") ? "/" : "")
        query = rest == "?" ? "" : String(rest)
    }

    private static func refused(_ text: String, _ expected: String) -> AgentError {
        // A query may be a key.
        let shown = String(text.prefix { $0 != "?" })
        return AgentError(
            .validation, "'\(shown.quotable)' cannot be signed in to: expected \(expected).", cause: "url")
    }

    package var description: String { text }

    /// The path without a slash at its end.
    private static func path(_ url: String) -> Substring {
        let path = Origin.path(of: url).prefix { $0 != "?" }
        return path.hasSuffix("/") ? path.dropLast() : path
    }

    /// Whether a resource indicator is about this URL: it has the same origin, and its path is this path or its leading whole
    /// segments (RFC 9728 §3.3 requires equality; many servers describe several URLs with one document).
    package func isCovered(by identifier: String) -> Bool {
        guard OAuthRequests.isResource(identifier), Origin(of: identifier) == origin else { return false }
        let rest = Origin.path(of: identifier).drop { $0 != "?" }
        guard rest.isEmpty || rest == query else { return false }
        let (mine, other) = (Self.path(text), Self.path(identifier))
        return mine == other || mine.hasPrefix(other + "/")
    }

    /// The default addresses of the resource's metadata (RFC 9728 §3.1): with the path inserted, and at the root.
    package var metadataPlaces: [String] {
        let root = origin.text + "/.well-known/oauth-protected-resource"
        let path = Self.path(text)
        return path.isEmpty ? [root] : [root + path, root]
    }

    /// The name of its session, without regard to other sessions.
    package var sessionName: String {
        let port = origin.port == (origin.isSecure ? 443 : 80) ? "" : "-\(origin.port)"
        let name = (origin.host + port).lowercased().utf8.map { byte in
            byte.isLowercase || byte.isDigit || "._-".utf8.contains(byte) ? byte : UInt8(ascii: "-")
        }
        // A name begins with a letter or digit.
        let text = String(decoding: name.drop { !$0.isLowercase && !$0.isDigit }, as: UTF8.self)
        return text.isEmpty ? "resource" : text
    }

    /// The name with a number, at most as long as a session's name may be.
    /// - Parameter number: from 1; the first one has no number.
    package func sessionName(_ number: Int) throws(AgentError) -> SessionName {
        let suffix = number > 1 ? "-\(number)" : ""
        return try SessionName(sessionName.prefix(SessionName.longest - suffix.count) + suffix)
    }
}
