/// Scheme, host and port of a URL (RFC 6454 §4): two origins are the same if all three are, however they are written.
package struct Origin: Sendable, Hashable, CustomStringConvertible {
    package let isSecure: Bool
    /// In lower case, without brackets or a root dot.
    package let host: String
    /// The scheme's default if the URL names none.
    package let port: Int
    /// As it may begin a URL; the scheme's default port is left out.
    package let text: String
    /// Whether nothing that is sent there leaves the machine.
    package let isLoopback: Bool

    /// What follows the port is ignored.
    /// - Throws: for anything but an absolute `http` or `https` URL without a user name.
    package init(_ url: String) throws(BaseURLError) {
        let base = try BaseURL(String(url[..<Self.path(of: url).startIndex]))
        let authority = base.text.utf8.drop { $0 != UInt8(ascii: "/") }.dropFirst(2)
        // In an IPv6 address every colon is between brackets.
        let afterHost = authority.lastIndex(of: UInt8(ascii: "]")) ?? authority.startIndex
        let written = authority[afterHost...].lastIndex(of: UInt8(ascii: ":")).flatMap { colon in
            Int(String(decoding: authority[authority.index(after: colon)...], as: UTF8.self))
        }
        let usual = base.isSecure ? 443 : 80
        isSecure = base.isSecure
        host = base.host.hasSuffix(".") ? String(base.host.dropLast()) : base.host
        port = written ?? usual
        isLoopback = BaseURL.isLoopback(host)
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        text = (isSecure ? "https://" : "http://") + (port == usual ? name : "\(name):\(port)")
    }

    /// `nil` if the URL has no origin.
    package init?(of url: String) {
        do { try self.init(url) } catch { return nil }
    }

    /// The origins of those URLs that have one.
    package static func all(of urls: [String]) -> Set<Origin> { Set(urls.compactMap(Origin.init(of:))) }

    /// What follows the authority, as it is written.
    package static func path(of url: String) -> Substring {
        guard let scheme = BaseURL.separator(in: url) else { return url[url.endIndex...] }
        let end = url.utf8[scheme.upperBound...].firstIndex { "/?#".utf8.contains($0) }
        return url[(end ?? url.endIndex)...]
    }

    package var description: String { text }
}
