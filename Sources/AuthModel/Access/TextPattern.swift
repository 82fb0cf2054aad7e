/// A text of an access rule that values are compared with: `*` stands for any characters, or none.
package struct TextPattern: Sendable, Hashable {
    /// In bytes. A path may be longer, but no rule needs it.
    package static let longest = 512
    /// More make a comparison slow, and no rule needs them.
    package static let mostStars = 8
    private static let star = UInt8(ascii: "*")

    package let text: String

    /// - Returns: `nil` if it is empty, too long, or has a control character or too many stars.
    package init?(_ text: String) {
        let bytes = text.utf8
        guard (1...Self.longest).contains(bytes.count), bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
            bytes.count(where: { $0 == Self.star }) <= Self.mostStars
        else { return nil }
        self.text = text
    }

    package func matches(_ value: String) -> Bool {
        let (pattern, value) = (Array(text.utf8), Array(value.utf8))
        var (place, offset) = (0, 0)
        // The place after the last star, and the end of the text that this star matches so far.
        var retry: (place: Int, offset: Int)?
        while offset < value.count {
            if place < pattern.count, pattern[place] == Self.star {
                place += 1
                retry = (place, offset)
            } else if place < pattern.count, pattern[place] == value[offset] {
                place += 1
                offset += 1
            } else if let last = retry {
                retry = (last.place, last.offset + 1)
                (place, offset) = (last.place, last.offset + 1)
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == Self.star }
    }
}
