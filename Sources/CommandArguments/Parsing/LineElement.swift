/// A word of a command line, or a letter of a word such as `-qs`.
struct LineElement: Equatable {
    enum Content: Equatable {
        case value(String)
        case option(ArgumentName, value: String?)
        /// The first `--`. All words after it are values.
        case terminator
    }

    /// The place of an element on the line.
    struct Position: Hashable {
        let word: Int
        /// The index of a letter after the hyphen; `nil` for the whole word.
        let letter: Int?
    }

    let content: Content
    let position: Position

    var value: String? {
        if case .value(let text) = content { text } else { nil }
    }

    var name: ArgumentName? {
        if case .option(let name, _) = content { name } else { nil }
    }

    // MARK: Reading a line

    static func elements(of words: [String]) throws(UsageError) -> [LineElement] {
        var elements: [LineElement] = []
        var isTerminated = false
        for (index, word) in words.enumerated() {
            if isTerminated {
                elements.append(LineElement(content: .value(word), position: Position(word: index, letter: nil)))
            } else {
                elements += try Self.elements(of: word, at: index)
                isTerminated = word == "--"
            }
        }
        return elements
    }

    private static func elements(of word: String, at index: Int) throws(UsageError) -> [LineElement] {
        let whole = Position(word: index, letter: nil)
        let rest = word.drop { $0 == "-" }
        switch (word.count - rest.count, rest.isEmpty) {
        case (0, _), (1, true): return [LineElement(content: .value(word), position: whole)]
        case (2, true): return [LineElement(content: .terminator, position: whole)]
        case (1, false): return try shortOptions(rest, at: index)
        case (2, false):
            let (name, value) = assignment(rest)
            // An empty value counts as none.
            let isEmpty = value?.isEmpty ?? true
            return [
                LineElement(
                    content: .option(.long(String(name)), value: isEmpty ? nil : value.map(String.init)),
                    position: whole)
            ]
        default: throw .malformedOption(word)
        }
    }

    /// - Parameter rest: what follows one hyphen. With a value it is one option, otherwise each letter may be one.
    private static func shortOptions(_ rest: Substring, at index: Int) throws(UsageError) -> [LineElement] {
        let (letters, value) = assignment(rest)
        guard let first = letters.first else { throw .malformedOption("-" + String(rest)) }
        let name: ArgumentName = letters.count == 1 ? .short(first) : .letters(String(letters))
        let whole = LineElement(
            content: .option(name, value: value.map(String.init)), position: Position(word: index, letter: nil))
        guard value == nil, letters.count > 1 else { return [whole] }
        return [whole]
            + letters.enumerated().map { place, letter in
                LineElement(
                    content: .option(.short(letter), value: nil), position: Position(word: index, letter: place))
            }
    }

    private static func assignment(_ text: Substring) -> (name: Substring, value: Substring?) {
        guard let equals = text.firstIndex(of: "=") else { return (text, nil) }
        return (text[..<equals], text[equals...].dropFirst())
    }
}

extension [LineElement] {
    /// Those that are not used. If one letter of a word is used, the whole word is no longer an option.
    func unused(_ used: Set<LineElement.Position>) -> [LineElement] {
        let words = Set<Int>(used.filter { $0.letter == nil }.map(\.word))
        let letters = Set<Int>(used.filter { $0.letter != nil }.map(\.word))
        return filter { element in
            let position = element.position
            guard position.letter == nil else { return !words.contains(position.word) && !used.contains(position) }
            return !words.contains(position.word) && !letters.contains(position.word)
        }
    }
}
