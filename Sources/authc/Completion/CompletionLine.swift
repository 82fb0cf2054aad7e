import AuthWire

/// The command line that a shell completes, and the place of the cursor in it.
struct CompletionLine {
    /// `NAME=` before the cursor, and what was typed of the value.
    struct Assignment: Equatable {
        let name: String
        let value: String

        func completed(_ values: [String]) -> [String] { values.map { "\(name)=\($0)" } }
    }

    /// As they were typed, with quotes.
    let words: [String]
    /// The index of the word at the cursor.
    let index: Int
    /// That word up to the cursor.
    let prefix: String

    /// The value of an option.
    func value(of names: [String]) -> String? {
        for (index, word) in words.enumerated() {
            for name in names {
                if word.hasPrefix(name + "=") { return String(word.dropFirst(name.count + 1)) }
                if word == name, index + 1 < words.count { return words[index + 1] }
            }
        }
        return nil
    }

    var assignment: Assignment? {
        guard let equals = prefix.firstIndex(of: "=") else { return nil }
        return Assignment(
            name: String(prefix[..<equals]), value: String(prefix[prefix.index(after: equals)...]))
    }

    /// The names that have a value on the line, other than at the cursor.
    var assigned: Set<String> {
        var names: Set<String> = []
        for (index, word) in words.enumerated() where index != self.index {
            if let equals = word.firstIndex(of: "=") { names.insert(String(word[..<equals])) }
        }
        return names
    }

    /// `NAME=` for each name that has no value yet; for the others the user knows how to repeat them.
    func assignments(_ names: [String]) -> [String] {
        let assigned = assigned
        return names.filter { !assigned.contains($0) }.map { $0 + "=" }
    }

    /// The words after two hyphens, up to the cursor; `nil` if there are none.
    var afterTerminator: ArraySlice<String>? {
        guard let terminator = words.firstIndex(of: "--"), terminator < index, index <= words.count else { return nil }
        return words[(terminator + 1)..<index]
    }

    /// A list with commas: what is before the last one stays.
    func listed(_ names: [String], in text: String? = nil) -> [String] {
        let text = text ?? prefix
        let start = text.lastIndex(of: ",").map { String(text[...$0]) } ?? ""
        return names.map { start + $0 }
    }
}
