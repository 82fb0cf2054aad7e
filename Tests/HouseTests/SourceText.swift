import Foundation

/// A Swift file without comments and strings, good enough to find imports and calls.
struct SourceText {
    /// Line numbers from 1, with the code of each line.
    let code: [(number: Int, line: String)]

    init(_ file: TextFile) {
        var code: [(number: Int, line: String)] = []
        var isInText = false
        for (index, line) in file.lines.enumerated() {
            let marks = line.components(separatedBy: "\"\"\"").count - 1
            if !isInText && marks == 0 { code.append((index + 1, Self.withoutTextAndComment(line))) }
            if marks % 2 == 1 { isInText.toggle() }
        }
        self.code = code
    }

    /// The module a line imports.
    static func importedModule(in line: String) -> String? {
        guard line.contains("import ") else { return nil }
        var words = line.split(separator: " ")[...]
        while let word = words.first, word.hasPrefix("@") || access.contains(word) { words.removeFirst() }
        guard words.popFirst() == "import" else { return nil }
        if let word = words.first, kinds.contains(word) { words.removeFirst() }
        return words.first.map { String($0.prefix { isPartOfWord($0) }) }
    }

    private static let access: Set<Substring> = ["public", "package", "internal", "fileprivate", "private"]
    /// Import kinds, such as `import struct Module.Type`.
    private static let kinds: Set<Substring> = [
        "struct", "class", "enum", "protocol", "typealias", "func", "var", "let", "actor",
    ]

    /// Whether `word` is the beginning of a word in `line`, and neither a member nor an argument label.
    static func contains(word: String, in line: String) -> Bool {
        var rest = line[...]
        while let range = rest.firstRange(of: word) {
            let before = line[..<range.lowerBound]
            let after = line[range.upperBound...].first
            let beginsWord = before.last.map { !isPartOfWord($0) } ?? true
            let endsWord = word.last.map { !isPartOfWord($0) } ?? true || after.map { !isPartOfWord($0) } ?? true
            let isMember = before.last == "." && !before.hasSuffix("Glibc.")
            let isDeclared = before.hasSuffix("func ")
            if beginsWord && endsWord && !isMember && !isDeclared { return true }
            rest = line[range.upperBound...]
        }
        return false
    }

    private static func isPartOfWord(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_"
    }

    /// Removes strings and comments.
    private static func withoutTextAndComment(_ line: Substring) -> String {
        var result = ""
        var isInText = false
        var previous: Character = " "
        for character in line {
            if character == "\"" && previous != "\\" {
                isInText.toggle()
                result.append(character)
            } else if !isInText {
                if character == "/" && previous == "/" { return String(result.dropLast()) }
                result.append(character)
            }
            previous = character
        }
        return result
    }
}
