/// A URL of an API's description, resolved against a base URL as RFC 3986 §5.2 says. The base names a folder, as the base URL
/// of an API does: `token` at `https://api.example/v1` is `https://api.example/v1/token`.
///
/// It is text for a new profile, and guards nothing: the agent decides with `Origin` where tokens are sent.
struct DescriptionURL {
    /// Scheme and authority in lower case, without the scheme's own port.
    let origin: String
    /// Without dot segments; empty or begins with a slash.
    let path: String

    /// - Returns: `nil` for anything but http and https, and for a query or a fragment.
    init?(_ text: String, against base: String? = nil) {
        guard !text.contains("?"), !text.contains("#") else { return nil }
        if let mark = text.firstRange(of: "://"), Self.isScheme(text[..<mark.lowerBound]) {
            let rest = text[mark.upperBound...]
            let slash = rest.firstIndex(of: "/") ?? rest.endIndex
            let scheme = text[..<mark.lowerBound].lowercased()
            guard scheme == "https" || scheme == "http", Self.isAuthority(rest[..<slash]) else { return nil }
            let port = scheme == "https" ? ":443" : ":80"
            let authority = rest[..<slash].lowercased()
            origin =
                scheme + "://" + (authority.hasSuffix(port) ? String(authority.dropLast(port.count)) : authority)
            path = Self.withoutDots(rest[slash...])
            return
        }
        guard let base = base.flatMap({ DescriptionURL($0) }) else { return nil }
        if text.hasPrefix("//") {
            guard let whole = DescriptionURL(String(base.origin.prefix { $0 != "/" }) + text) else { return nil }
            self = whole
        } else {
            origin = base.origin
            let folder = base.path.hasSuffix("/") ? base.path : base.path + "/"
            path = Self.withoutDots((text.hasPrefix("/") ? text : folder + text)[...])
        }
    }

    var text: String { origin + path }

    /// Whether passwords can be sent there: `https`, or this machine.
    var isProtected: Bool {
        guard origin.hasPrefix("http://") else { return true }
        return host == "localhost" || host == "::1"
            || (host.hasPrefix("127.") && host.split(separator: ".").count == 4)
    }

    /// Whether the host is an example that no server can have (RFC 2606 §2).
    static func isExample(_ url: String) -> Bool {
        DescriptionURL(url)?.host.hasSuffix(".example") ?? false
    }

    /// Without the port, and without the brackets of an IPv6 address.
    var host: String {
        let authority = origin.drop { $0 != ":" }.dropFirst("://".count)
        guard authority.hasPrefix("[") else { return String(authority.prefix { $0 != ":" }) }
        return String(authority.dropFirst().prefix { $0 != "]" })
    }

    /// The path below a base URL; `nil` if it is elsewhere.
    func path(below base: String) -> String? {
        guard let base = DescriptionURL(base), base.origin == origin else { return nil }
        var folder = base.path
        while folder.hasSuffix("/") { folder.removeLast() }
        return path.hasPrefix(folder + "/") ? String(path.dropFirst(folder.count)) : nil
    }

    private static func isScheme(_ text: Substring) -> Bool {
        text.first?.isLetter == true
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
    }

    /// A host and perhaps a port, without a user name.
    private static func isAuthority(_ text: Substring) -> Bool {
        let host = text.hasPrefix("[") ? text.prefix { $0 != "]" } : text.prefix { $0 != ":" }
        let rest = text.dropFirst(host.count).drop { $0 == "]" }
        guard !host.isEmpty,
            text.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "-._:[]".contains($0)) })
        else { return false }
        return rest.isEmpty || (rest.hasPrefix(":") && (UInt16(rest.dropFirst()) ?? 0) > 0)
    }

    /// RFC 3986 §5.2.4.
    private static func withoutDots(_ path: Substring) -> String {
        guard !path.isEmpty else { return "" }
        var kept: [Substring] = []
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for segment in segments {
            switch segment {
            case ".": continue
            case "..": _ = kept.popLast()
            default: kept.append(segment)
            }
        }
        if let last = segments.last, last == "." || last == ".." { kept.append("") }
        return "/" + kept.joined(separator: "/")
    }

    /// Whether a path of a request in a profile can be this one, with `{…}` for values (RFC 3986 §3.3).
    static func isPath(_ text: String) -> Bool {
        guard text.hasPrefix("/") else { return false }
        var plain = ""
        var isInside = false
        for letter in text {
            switch letter {
            case "{":
                guard !isInside else { return false }
                isInside = true
            case "}" where isInside:
                isInside = false
                plain += "x"
            case _ where isInside: continue
            default: plain.append(letter)
            }
        }
        let segments = plain.split(separator: "/")
        return !isInside && !segments.contains(".") && !segments.contains("..") && isEncoded(plain)
    }

    private static func isEncoded(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        let others = Array("-._~!$&'()*+,;=:@/".utf8)
        func isHex(_ index: Int) -> Bool {
            bytes.indices.contains(index) && Character(UnicodeScalar(bytes[index])).isHexDigit
        }
        return bytes.indices.allSatisfy { index in
            switch bytes[index] {
            case UInt8(ascii: "%"): isHex(index + 1) && isHex(index + 2)
            case let byte:
                others.contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            }
        }
    }
}
