internal import Glibc

extension BaseURL {
    /// Whether it may lead to this machine, in any spelling that a resolver understands. For addresses that a remote server
    /// names; ``isLoopback`` is for trusted ones and accepts only the usual spellings.
    var mayBeThisMachine: Bool {
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        // RFC 6761 §6.3.
        if name == "localhost" || name.hasSuffix(".localhost") { return true }
        // 127.1 and 2130706433 are addresses, too (inet(3)).
        var four = in_addr()
        if unsafe inet_aton(name, &four) != 0 {
            let bytes = unsafe withUnsafeBytes(of: &four) { unsafe [UInt8]($0) }
            return Self.isThisMachine(bytes)
        }
        var six = in6_addr()
        guard unsafe inet_pton(AF_INET6, name, &six) == 1 else { return false }
        let bytes = unsafe withUnsafeBytes(of: &six) { unsafe [UInt8]($0) }
        // `::`, `::1`, and an IPv4 address in an IPv6 one (RFC 4291 §2.5).
        guard bytes[..<10].allSatisfy({ $0 == 0 }), [[0, 0], [0xFF, 0xFF]].contains(Array(bytes[10..<12])) else {
            return false
        }
        return Self.isThisMachine(Array(bytes[12...]))
    }

    /// An IPv4 address of 127.0.0.0/8, or of 0.0.0.0/8, which stands for the sender itself (RFC 6890 §2.2.2).
    private static func isThisMachine(_ address: [UInt8]) -> Bool { address[0] == 127 || address[0] == 0 }
}
