import Glibc

/// An IPv4 or IPv6 address as bytes, for proxy rules.
struct IPAddress: Equatable, Sendable {
    let bytes: [UInt8]

    /// The textual form of inet_pton(3); `nil` for a name.
    init?(_ text: String) {
        var four = in_addr()
        var six = in6_addr()
        if unsafe inet_pton(AF_INET, text, &four) == 1 {
            bytes = unsafe withUnsafeBytes(of: &four) { unsafe [UInt8]($0) }
        } else if unsafe inet_pton(AF_INET6, text, &six) == 1 {
            bytes = unsafe withUnsafeBytes(of: &six) { unsafe [UInt8]($0) }
        } else {
            return nil
        }
    }

    var isLoopback: Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    }

    /// Whether the first `bits` bits are those of `network` (RFC 4632 §3.1).
    func matches(_ network: IPAddress, bits: Int) -> Bool {
        guard bytes.count == network.bytes.count, (0...bytes.count * 8).contains(bits) else { return false }
        let whole = bits / 8
        guard bytes[..<whole] == network.bytes[..<whole] else { return false }
        let rest = bits % 8
        return rest == 0 || (bytes[whole] ^ network.bytes[whole]) >> (8 - rest) == 0
    }
}
