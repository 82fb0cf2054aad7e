/// Scheme, host and port of a URL (RFC 6454 §4): two of them are the same if all three are, however they are written.
package struct Origin: Sendable, Hashable, CustomStringConvertible {
    package let isSecure: Bool
    /// In lower case, without brackets or a root dot.
    package let host: String
    /// The scheme's own if the URL names none.
    package let port: Int

    /// `nil` for anything but an absolute `http` or `https` URL without a user name. What follows the port is ignored.
    package init?(of url: String) {
        guard let scheme = url.firstRange(of: "://") else { return nil }
        let end = url[scheme.upperBound...].firstIndex { "/?#".contains($0) } ?? url.endIndex
        guard let base = try? BaseURL(String(url[..<end])) else { return nil }
        let authority = base.text.utf8.drop { $0 != UInt8(ascii: "/") }.dropFirst(2)
        // In an IPv6 address every colon lies between brackets.
        let afterHost = authority.lastIndex(of: UInt8(ascii: "]")) ?? authority.startIndex
        let port = authority[afterHost...].lastIndex(of: UInt8(ascii: ":")).flatMap { colon in
            Int(String(decoding: authority[authority.index(after: colon)...], as: UTF8.self))
        }
        isSecure = base.isSecure
        host = base.host.hasSuffix(".") ? String(base.host.dropLast()) : base.host
        self.port = port ?? Self.usualPort(isSecure: base.isSecure)
    }

    /// As it may begin a URL; the scheme's own port is left out.
    package var text: String {
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        let written = port == Self.usualPort(isSecure: isSecure) ? name : "\(name):\(port)"
        return (isSecure ? "https://" : "http://") + written
    }

    package var description: String { text }

    private static func usualPort(isSecure: Bool) -> Int { isSecure ? 443 : 80 }
}
