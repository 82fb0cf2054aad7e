/// RFC 4648 §4, with padding, and nothing else accepted.
public enum Base64 {
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let invalid: UInt8 = 0xFF
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: invalid, count: 256)
        for (value, letter) in letters.enumerated() { values[Int(letter)] = UInt8(value) }
        return values
    }()

    public static func encode(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var bits: UInt32 = 0
        var held = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            held += 1
            guard held == 3 else { continue }
            for shift in [18, 12, 6, 0] as [UInt32] { text.append(letters[Int(bits >> shift & 63)]) }
            (bits, held) = (0, 0)
        }
        if held == 1 {
            text += [letters[Int(bits >> 2 & 63)], letters[Int(bits << 4 & 63)]] + Array("==".utf8)
        } else if held == 2 {
            text += [letters[Int(bits >> 10 & 63)], letters[Int(bits >> 4 & 63)], letters[Int(bits << 2 & 63)]]
            text.append(UInt8(ascii: "="))
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// `nil` for anything that ``encode(_:)`` does not write.
    public static func decode(_ text: String) -> [UInt8]? {
        var text = Substring(text)
        guard text.utf8.count % 4 == 0 else { return nil }
        var padding = 0
        while padding < 2, text.utf8.last == UInt8(ascii: "=") {
            text.removeLast()
            padding += 1
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count / 4 * 3 + 2)
        var bits: UInt32 = 0
        var held = 0
        for letter in text.utf8 {
            let value = values[Int(letter)]
            guard value != invalid else { return nil }
            bits = bits << 6 | UInt32(value)
            held += 1
            guard held == 4 else { continue }
            bytes += [UInt8(bits >> 16 & 255), UInt8(bits >> 8 & 255), UInt8(bits & 255)]
            (bits, held) = (0, 0)
        }
        switch (held, padding) {
        case (0, 0): return bytes
        // The bits left over must be none, or two texts would be the same bytes.
        case (2, 2) where bits & 15 == 0: return bytes + [UInt8(bits >> 4 & 255)]
        case (3, 1) where bits & 3 == 0: return bytes + [UInt8(bits >> 10 & 255), UInt8(bits >> 2 & 255)]
        default: return nil
        }
    }
}
