/// The URL of a service that exchanges a token for another credential: an `https` URL, or an `http` URL of this machine.
///
/// What is accepted here is accepted by `ResourceURL` in `AuthModel`, which has the rules for every URL that gets a
/// token. Those are wider: an escape in the path, for example, is not needed here.
enum ServiceURL {
    /// Real URLs are far shorter.
    private static let longest = 1024

    static func isUsable(_ text: String) -> Bool {
        guard text.utf8.count <= longest,
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") })
        else { return false }
        let lower = text.lowercased()
        guard let scheme = ["https://", "http://"].first(where: lower.hasPrefix) else { return false }
        let bare = lower.dropFirst(scheme.count).prefix { $0 != "?" }
        let authority = bare.prefix { $0 != "/" }
        guard let host = host(authority), isPath(bare.dropFirst(authority.count)) else { return false }
        return scheme == "https://" || isThisMachine(host)
    }

    /// The host without the port and the brackets of an address; `nil` if the host or the port is not valid.
    private static func host(_ authority: Substring) -> Substring? {
        let isAddress = authority.hasPrefix("[")
        let end = authority.firstIndex(of: isAddress ? "]" : ":") ?? authority.endIndex
        guard !isAddress || end != authority.endIndex else { return nil }
        let host = isAddress ? authority[..<end].dropFirst() : authority[..<end]
        let allowed = isAddress ? "0123456789abcdef:." : "abcdefghijklmnopqrstuvwxyz0123456789-._"
        guard (1...253).contains(host.utf8.count), host.allSatisfy(allowed.contains), !isAddress || host.contains(":")
        else { return nil }
        let port = isAddress ? authority[end...].dropFirst() : authority[end...]
        guard !port.isEmpty else { return host }
        let digits = port.dropFirst()
        guard port.hasPrefix(":"), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt16(digits),
            number > 0
        else { return nil }
        return host
    }

    private static func isPath(_ path: Substring) -> Bool {
        path.allSatisfy("abcdefghijklmnopqrstuvwxyz0123456789-._~/".contains)
            && !path.split(separator: "/").contains { $0 == "." || $0 == ".." }
    }

    /// localhost (RFC 6761 §6.3), ::1, and 127.0.0.0/8 without leading zeros, which some resolvers read as octal.
    private static func isThisMachine(_ host: Substring) -> Bool {
        if ["localhost", "::1"].contains(host) { return true }
        let octets = host.split(separator: ".", omittingEmptySubsequences: false)
        return octets.count == 4 && octets[0] == "127"
            && octets.allSatisfy { octet in UInt8(octet).map { String($0) == octet } ?? false }
    }
}
