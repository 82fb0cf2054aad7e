internal import AuthConfiguration
internal import AuthWire

/// One table of a TOML document, read key by key; unexpected values are added to the problems.
struct TOMLSection {
    let table: TOMLTable
    /// Dotted; empty for the document itself.
    let path: String
    let problems: ProblemList

    func path(_ key: String) -> String { TOMLPath.join(path, key) }

    /// Reports each unknown key, with the nearest known one.
    func allow(_ known: String...) { allow(known) }

    func allow(_ known: [String]) {
        for key in table.keys where !known.contains(key) {
            let expected = Suggestion.expected(insteadOf: key, among: known)
            problems.add(path(key), expected: expected, found: "the unknown key \(key)")
        }
    }

    func has(_ key: String) -> Bool { table[key] != nil }

    func string(_ key: String) -> String? { value(key, "a text", .string) { $0.string } }
    func bool(_ key: String) -> Bool? { value(key, "true or false", .bool) { $0.bool } }

    func integer(_ key: String, in range: ClosedRange<Int>) -> Int? {
        let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        guard let number = value(key, expected, .int, { $0.int }) else { return nil }
        if range.contains(number) { return number }
        problems.add(path(key), expected: expected, found: String(number))
        return nil
    }

    func word(_ key: String, of words: [String], isRequired: Bool = false) -> String? {
        let expected = "one of " + words.joined(separator: ", ")
        guard let word = isRequired ? required(key, expected) : string(key) else { return nil }
        if words.contains(word) { return word }
        problems.add(path(key), expected: Suggestion.oneOf(words, insteadOf: word), found: word)
        return nil
    }

    func required(_ key: String, _ expected: String) -> String? {
        guard has(key) else {
            problems.add(path(key), expected: expected, found: "nothing")
            return nil
        }
        return string(key)
    }

    /// A table that is required and must not be empty.
    func requiredTable(_ key: String, _ expected: String) -> TOMLSection? {
        guard has(key) else {
            problems.add(path(key), expected: expected, found: "nothing")
            return nil
        }
        guard let section = section(key) else { return nil }
        if !section.table.isEmpty { return section }
        problems.add(path(key), expected: expected, found: "an empty one")
        return nil
    }

    /// The table, if it is one; another type is reported elsewhere.
    func tableIfAny(_ key: String) -> TOMLSection? { table[key]?.type == .table ? section(key) : nil }

    /// A list of strings; a single string is a list of one.
    func strings(_ key: String) -> [String]? {
        guard let found = table[key] else { return nil }
        if let text = found.string { return [text] }
        guard let array = found.array else {
            problems.add(path(key), expected: "a text or a list of texts", found: found.type.description)
            return nil
        }
        return array.enumerated().compactMap { index, element in
            if element.type == .string, let text = element.string { return text }
            problems.add(TOMLPath.element(path(key), index), expected: "a text", found: element.type.description)
            return nil
        }
    }

    func integers(_ key: String) -> [Int]? {
        guard let found = table[key] else { return nil }
        guard let array = found.array else {
            problems.add(path(key), expected: "a list of whole numbers", found: found.type.description)
            return nil
        }
        return array.enumerated().compactMap { index, element in
            if element.type == .int, let number = element.int { return number }
            problems.add(
                TOMLPath.element(path(key), index), expected: "a whole number", found: element.type.description)
            return nil
        }
    }

    func section(_ key: String) -> TOMLSection? {
        value(key, "a table", .table) { $0.table }
            .map { TOMLSection(table: $0, path: path(key), problems: problems) }
    }

    /// The tables of a list.
    func list(_ key: String) -> [TOMLSection] {
        guard let found = table[key] else { return [] }
        guard let array = found.array else {
            problems.add(path(key), expected: "a list of tables", found: found.type.description)
            return []
        }
        return array.enumerated().compactMap { index, element in
            let path = TOMLPath.element(path(key), index)
            guard element.type == .table, let table = element.table else {
                problems.add(path, expected: "a table", found: element.type.description)
                return nil
            }
            return TOMLSection(table: table, path: path, problems: problems)
        }
    }

    /// The keys in the order of the file.
    var keysInOrder: [String] {
        table.keys.sorted { (problems.order(of: path($0)), $0) < (problems.order(of: path($1)), $1) }
    }

    private func value<Value>(
        _ key: String, _ expected: String, _ type: TOMLType, _ read: (TOMLNode) -> Value?
    ) -> Value? {
        guard let found = table[key] else { return nil }
        guard found.type == type, let value = read(found) else {
            problems.add(path(key), expected: expected, found: found.type.description)
            return nil
        }
        return value
    }
}
