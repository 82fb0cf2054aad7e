import AuthModel

/// Changes inputs at random; the same seed makes the same changes. It only finds what is near an input: libFuzzer, which sees
/// which code an input reaches, finds more.
package struct Mutation: Sendable {
    private var random: SeededRandom
    private let inputs: [[UInt8]]

    /// Bytes that mean something to a parser, and borders of numbers.
    private static let words: [[UInt8]] =
        [
            "\"", "\\", "\\u0000", "\\ud800", "{", "}", "[", "]", ",", ";", ":", "=", "<", ">", "(", ")", "/", "..",
            "#", "?", "%00",
            "%2f", "\n", "\r\n", "\t", " ", "-", "+", ".", "e308", "1e999", "-1", "0", "9223372036854775807",
            "9223372036854775808",
            "18446744073709551615", "-9223372036854775808", "4294967296", "null", "true", "nan", "inf", "\u{301}",
            "\u{200D}", "\u{FEFF}",
            "\u{212A}",
        ].map { Array($0.utf8) } + [
            [0], [0x7F], [0x80], [0xC3], [0xED, 0xA0, 0x80], [0xFF], [0xFF, 0xFF, 0xFF, 0xFF],
        ]

    /// - Parameter inputs: what is changed; an empty one if there are none.
    package init(seed: UInt64, of inputs: [[UInt8]]) {
        random = SeededRandom(seed: seed)
        self.inputs = inputs.isEmpty ? [[]] : inputs
    }

    /// - Parameter longest: what follows is cut off.
    package mutating func next(longest: Int) -> [UInt8] {
        var bytes = input()
        for _ in 0..<Int.random(in: 1...4, using: &random) { change(&bytes) }
        return Array(bytes.prefix(longest))
    }

    private mutating func input() -> [UInt8] { inputs[Int.random(in: 0..<inputs.count, using: &random)] }

    private mutating func change(_ bytes: inout [UInt8]) {
        let place = Int.random(in: 0...bytes.count, using: &random)
        let end = min(bytes.count, place + Int.random(in: 0...24, using: &random))
        switch Int.random(in: 0..<8, using: &random) {
        case 0 where place < bytes.count: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1 where place < bytes.count: bytes[place] = .random(in: .min ... .max, using: &random)
        case 2: bytes.removeSubrange(place..<end)
        case 3: bytes.insert(contentsOf: bytes[place..<end], at: place)
        case 4: bytes.insert(.random(in: .min ... .max, using: &random), at: place)
        case 5:
            // The end of another input.
            let other = input()
            let start = Int.random(in: 0...other.count, using: &random)
            bytes.replaceSubrange(place..., with: other[start...])
        default:
            let word = Self.words[Int.random(in: 0..<Self.words.count, using: &random)]
            bytes.replaceSubrange(Bool.random(using: &random) ? place..<end : place..<place, with: word)
        }
    }
}
