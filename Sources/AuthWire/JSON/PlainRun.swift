/// The bytes of a string that need no special handling: printable ASCII without the quote and the backslash.
enum PlainRun {
    /// The place of the first byte from `start` that is not plain, or the end.
    static func end(in bytes: Span<UInt8>, from start: Int) -> Int {
        var offset = start
        while offset + 8 <= bytes.count {
            // The loop's condition ensures that this is within the span.
            let eight = unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
            if containsOther(eight) { break }
            offset += 8
        }
        while offset < bytes.count, isPlain(bytes[offset]) { offset += 1 }
        return offset
    }

    static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x80 && byte != .quote && byte != .backslash
    }

    /// Whether one of eight bytes is not plain. The high bit of a byte below is set if the byte is under 0x20, a quote or a
    /// backslash. A borrow can only come from such a byte, so there are no false positives.
    private static func containsOther(_ eight: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = ones << 7
        let quotes = eight ^ (ones &* UInt64(UInt8.quote))
        let backslashes = eight ^ (ones &* UInt64(UInt8.backslash))
        let found = (eight &- ones &* 0x20) | (quotes &- ones) | (backslashes &- ones) | eight
        return found & highs != 0
    }
}

extension UInt8 {
    static let quote = UInt8(ascii: "\"")
    static let backslash = UInt8(ascii: "\\")
}
