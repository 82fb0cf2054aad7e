/// Reads a short text from its beginning, byte by byte.
struct ByteScanner {
    private var rest: ArraySlice<UInt8>

    init(_ text: String) {
        rest = Array(text.utf8)[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    var next: UInt8? { rest.first }

    /// Exactly that many digits.
    mutating func number(digits count: Int) -> Int? {
        guard rest.count >= count, rest.prefix(count).allSatisfy(\.isDigit) else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count).reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    /// One of these bytes.
    mutating func skip(_ choices: String) -> Bool {
        guard let byte = rest.first, choices.utf8.contains(byte) else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// All following bytes that satisfy the condition.
    mutating func read(while condition: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let taken = rest.prefix(while: condition)
        rest = rest[taken.endIndex...]
        return taken
    }

    /// This word, case-sensitive.
    mutating func skip(word: String) -> Bool {
        guard rest.starts(with: word.utf8) else { return false }
        rest = rest.dropFirst(word.utf8.count)
        return true
    }
}
