/// Base64 with padding (RFC 4648 §4). Decoding accepts nothing else.
///
/// Whole streams pass through it, so it works on memory in steps of three bytes and four letters.
public enum Base64 {
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let invalid: UInt8 = 0xFF
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: invalid, count: 256)
        for (value, letter) in letters.enumerated() { values[Int(letter)] = UInt8(value) }
        return values
    }()

    public static func encode(_ bytes: some Collection<UInt8>) -> String {
        if let text = bytes.withContiguousStorageIfAvailable({ unsafe encode($0) }) { return text }
        return unsafe Array(bytes).withUnsafeBufferPointer { unsafe encode($0) }
    }

    /// `nil` for any text that ``encode(_:)`` cannot return.
    public static func decode(_ text: String) -> [UInt8]? {
        var text = text
        return text.withUTF8 { unsafe decode($0) }
    }

    // MARK: Memory in, memory out

    private static func encode(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        let count = (bytes.count + 2) / 3 * 4
        return unsafe String(unsafeUninitializedCapacity: count) { text in
            unsafe letters.withUnsafeBufferPointer { letters in
                var (from, to) = (0, 0)
                while from + 2 < bytes.count {
                    let bits =
                        unsafe UInt32(bytes[from]) &<< 16 | UInt32(bytes[from &+ 1]) &<< 8 | UInt32(bytes[from &+ 2])
                    unsafe put(bits, letters, text, at: to)
                    (from, to) = (from &+ 3, to &+ 4)
                }
                guard from < bytes.count else { return }
                let isPair = from + 1 < bytes.count
                let bits = unsafe UInt32(bytes[from]) &<< 16 | (isPair ? UInt32(bytes[from &+ 1]) &<< 8 : 0)
                unsafe put(bits, letters, text, at: to)
                unsafe text[to &+ 3] = UInt8(ascii: "=")
                if !isPair { unsafe text[to &+ 2] = UInt8(ascii: "=") }
            }
            return count
        }
    }

    /// Writes four letters for 24 bits. `text` has room for them at `place`.
    private static func put(
        _ bits: UInt32, _ letters: UnsafeBufferPointer<UInt8>, _ text: UnsafeMutableBufferPointer<UInt8>, at place: Int
    ) {
        unsafe text[place] = letters[Int(truncatingIfNeeded: bits &>> 18 & 63)]
        unsafe text[place &+ 1] = letters[Int(truncatingIfNeeded: bits &>> 12 & 63)]
        unsafe text[place &+ 2] = letters[Int(truncatingIfNeeded: bits &>> 6 & 63)]
        unsafe text[place &+ 3] = letters[Int(truncatingIfNeeded: bits & 63)]
    }

    private static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        if text.isEmpty { return [] }
        let padding =
            unsafe text[text.count - 1] != UInt8(ascii: "=") ? 0 : (text[text.count - 2] != UInt8(ascii: "=") ? 1 : 2)
        let count = text.count / 4 * 3 - padding
        var isGood = true
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: text.count / 4 * 3) { bytes, filled in
            unsafe values.withUnsafeBufferPointer { values in
                var (from, to) = (0, 0)
                while from < text.count {
                    let isEnd = padding > 0 && from == text.count - 4
                    let letters = unsafe (text[from], text[from &+ 1], text[from &+ 2], text[from &+ 3])
                    let (a, b) = unsafe (values[Int(letters.0)], values[Int(letters.1)])
                    let c = unsafe isEnd && padding == 2 ? 0 : values[Int(letters.2)]
                    let d = unsafe isEnd ? 0 : values[Int(letters.3)]
                    // Only ``invalid`` has bits above the sixth.
                    guard (a | b | c | d) & 0xC0 == 0 else {
                        isGood = false
                        break
                    }
                    let bits = UInt32(a) &<< 18 | UInt32(b) &<< 12 | UInt32(c) &<< 6 | UInt32(d)
                    unsafe bytes[to] = UInt8(truncatingIfNeeded: bits &>> 16)
                    unsafe bytes[to &+ 1] = UInt8(truncatingIfNeeded: bits &>> 8)
                    unsafe bytes[to &+ 2] = UInt8(truncatingIfNeeded: bits)
                    (from, to) = (from &+ 4, to &+ 3)
                    // Unused bits must be zero, or two texts would decode to the same bytes.
                    if isEnd, unsafe bytes[to &- 1] != 0 || (padding == 2 && bytes[to &- 2] != 0) { isGood = false }
                }
            }
            filled = isGood ? count : 0
        }
        return isGood ? bytes : nil
    }
}
