/// Checks the form of an e-mail address.
package enum EmailAddress {
    /// The expected value, for messages.
    package static let description = "an e-mail address, such as ada@example.org"

    /// Requires a local part, one `@`, a domain, and visible characters (RFC 5321 §4.5.3.1 for lengths). Only the provider can
    /// check more.
    package static func isWellFormed(_ text: String) -> Bool {
        let halves = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard text.utf8.count <= 254, halves.count == 2, (1...64).contains(halves[0].count), !halves[1].isEmpty else {
            return false
        }
        return text.unicodeScalars.allSatisfy { $0.value > 0x20 && !(0x7F...0xA0).contains($0.value) }
            && halves[1].first != UInt8(ascii: ".") && halves[1].last != UInt8(ascii: ".")
    }
}
