/// The form of an e-mail address, as far as it can be told without asking anybody.
package enum EmailAddress {
    /// What is asked for, in words for a person.
    package static let description = "an e-mail address, such as ada@example.org"

    /// Something, one `@`, a domain, nothing invisible: only the provider can know more (RFC 5321 §4.5.3.1 for lengths).
    package static func isWellFormed(_ text: String) -> Bool {
        let halves = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard text.utf8.count <= 254, halves.count == 2, (1...64).contains(halves[0].count), !halves[1].isEmpty else {
            return false
        }
        return text.unicodeScalars.allSatisfy { $0.value > 0x20 && !(0x7F...0xA0).contains($0.value) }
            && halves[1].first != UInt8(ascii: ".") && halves[1].last != UInt8(ascii: ".")
    }
}
