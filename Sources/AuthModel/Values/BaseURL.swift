/// The URL that a provider's paths are appended to: `http` or `https`, a host, and optionally a port and path (RFC 3986).
package struct BaseURL: Sendable, Equatable {
    /// Without a trailing slash.
    package let text: String
    /// Without brackets.
    package let host: String
    package let isSecure: Bool

    /// Far above any real base URL, and short enough that path and query fit below server limits.
    private static let longest = 1024

    /// Where the first `://` is. `firstRange(of:)` of the standard library takes ten times as long, and sessions have many URLs.
    static func separator(in url: String) -> Range<String.Index>? {
        let bytes = url.utf8
        var start = bytes.startIndex
        while let colon = bytes[start...].firstIndex(of: UInt8(ascii: ":")) {
            start = bytes.index(after: colon)
            if bytes[start...].starts(with: "//".utf8) { return colon..<bytes.index(start, offsetBy: 2) }
        }
        return nil
    }

    /// - Throws: what was expected.
    package init(_ text: String) throws(BaseURLError) {
        guard text.utf8.count <= Self.longest, let separator = Self.separator(in: text) else {
            throw BaseURLError(expected: "an absolute URL such as \"https://api.example.org/v1\"")
        }
        let scheme = text[..<separator.lowerBound].lowercased()
        guard scheme == "http" || scheme == "https" else {
            throw BaseURLError(expected: "a URL that begins with https:// or http://")
        }
        let rest = text[separator.upperBound...]
        guard !rest.utf8.contains(UInt8(ascii: "?")), !rest.utf8.contains(UInt8(ascii: "#")) else {
            throw BaseURLError(expected: "a URL without a query or fragment")
        }
        let slash = rest.utf8.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        let authority = rest[..<slash]
        guard !authority.utf8.contains(UInt8(ascii: "@")) else {
            throw BaseURLError(expected: "a URL without a user name or password")
        }
        guard let (host, written) = Self.host(authority) else {
            throw BaseURLError(expected: "a URL with a host name or address, and a port from 1 to 65535 if it has one")
        }
        var path = rest[slash...]
        while path.utf8.last == UInt8(ascii: "/") { path = path[..<path.utf8.index(before: path.endIndex)] }
        guard PercentEncoding.isPath(String(path)) else {
            throw BaseURLError(expected: "a URL whose path has no '.' or '..' segment and is percent-encoded")
        }
        self.text = scheme + "://" + written + path
        self.host = host
        isSecure = scheme == "https"
    }

    /// Whether it is an address of this machine: 127.0.0.0/8, ::1 or localhost (RFC 6761 §6.3).
    package var isLoopback: Bool { Self.isLoopback(host) }

    static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "::1" || host == "0:0:0:0:0:0:0:1" { return true }
        let octets = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return octets.count == 4 && octets[0].elementsEqual("127".utf8)
            && octets.allSatisfy { octet in
                // Some resolvers read a leading zero as octal.
                octet.count <= 3 && octet.allSatisfy(\.isDigit)
                    && (octet.count == 1 || octet.first != UInt8(ascii: "0"))
                    && UInt8(String(decoding: octet, as: UTF8.self)) != nil
            }
    }

    /// The host without brackets, and the authority, both in lower case.
    private static func host(_ authority: Substring) -> (host: String, written: String)? {
        let text = authority.lowercased()
        let host: Substring
        let isAddress = text.utf8.first == UInt8(ascii: "[")
        let after: Substring
        if isAddress {
            guard let close = text.utf8.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            // By bytes: a combining mark after a bracket is part of the same character.
            host = text[text.utf8.index(after: text.startIndex)..<close]
            after = text[text.utf8.index(after: close)...]
        } else {
            let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
            host = text[..<colon]
            after = text[colon...]
        }
        let isAllowed =
            isAddress
            ? host.utf8.contains(UInt8(ascii: ":"))
                && host.utf8.allSatisfy { $0.isHexDigit || ":.".utf8.contains($0) }
            : host.utf8.allSatisfy { $0.isLetter || $0.isDigit || "-._".utf8.contains($0) } && hasLabels(host)
        guard !host.isEmpty, host.utf8.count <= 253, isAllowed, isPort(after) else { return nil }
        return (String(host), text)
    }

    /// Between its dots. Only a dot at the end, for the root, has nothing after it (RFC 1034 §3.1).
    private static func hasLabels(_ host: Substring) -> Bool {
        host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).dropLast()
            .allSatisfy { !$0.isEmpty }
    }

    private static func isPort(_ text: Substring) -> Bool {
        guard !text.isEmpty else { return true }
        let digits = text.utf8.dropFirst()
        guard text.utf8.first == UInt8(ascii: ":"), !digits.isEmpty, digits.allSatisfy(\.isDigit),
            let port = UInt16(String(text.dropFirst()))
        else { return false }
        return port > 0
    }
}

package struct BaseURLError: Error, Sendable, Equatable {
    package let expected: String
}
