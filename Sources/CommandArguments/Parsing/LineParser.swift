/// The values of a line, by the numbers of the properties.
struct ParsedValues {
    private var values: [Int: [Any]] = [:]

    subscript(number: Int) -> [Any] { values[number] ?? [] }

    mutating func append(_ value: Any, for number: Int) { values[number, default: []].append(value) }
}

/// Finds the values of a command's properties on a line. Words that no property accepts are left over.
struct LineParser {
    private let arguments: [ArgumentDescription]
    private let elements: [LineElement]
    private let words: [String]
    private var used: Set<LineElement.Position> = []
    private var values = ParsedValues()

    /// - Parameters:
    ///   - arguments: what the properties declare.
    ///   - elements: the part of the line after the command.
    ///   - words: the whole line.
    /// - Returns: the values, and what is left over.
    static func parse(
        _ arguments: [ArgumentDescription], _ elements: [LineElement], of words: [String]
    ) throws(UsageError) -> (values: ParsedValues, rest: [LineElement]) {
        var parser = LineParser(arguments: arguments, elements: elements, words: words)
        try parser.readOptions()
        try parser.readPositionals()
        return (parser.values, elements.unused(parser.used))
    }

    private init(arguments: [ArgumentDescription], elements: [LineElement], words: [String]) {
        (self.arguments, self.elements, self.words) = (arguments, elements, words)
    }

    // MARK: Options and flags

    private mutating func readOptions() throws(UsageError) {
        for (index, element) in elements.enumerated() where !used.contains(element.position) {
            guard case .option(let name, let value) = element.content,
                let argument = arguments.first(where: { $0.names.contains(name) })
            else { continue }
            switch argument.kind {
            case .flag(let isOn):
                if let value { throw .needlessValue(name, value) }
                values.append(isOn, for: argument.number)
            case .option:
                guard let text = value ?? nextValue(after: index) else {
                    throw missingValue(name, of: argument, element)
                }
                try append(text, to: argument, name)
            case .optionalValue(let instead):
                if let text = value ?? nextValue(after: index) {
                    try append(text, to: argument, name)
                } else {
                    values.append(instead, for: argument.number)
                }
            case .positional, .afterTerminator: continue
            }
            used.insert(element.position)
        }
    }

    /// The next word, if it is a value. Words that other letters of the same word have used are skipped.
    private mutating func nextValue(after index: Int) -> String? {
        let next = elements[(index + 1)...].first { $0.position.letter == nil && !used.contains($0.position) }
        guard let next, let value = next.value else { return nil }
        used.insert(next.position)
        return value
    }

    private mutating func append(
        _ text: String, to argument: ArgumentDescription, _ name: ArgumentName?
    ) throws(UsageError) {
        do throws(InvalidValue) {
            values.append(try argument.value(text), for: argument.number)
        } catch {
            throw .invalidValue(text, name, of: ShownArgument(argument), reason: error.reason)
        }
    }

    private func missingValue(
        _ name: ArgumentName, of argument: ArgumentDescription, _ element: LineElement
    ) -> UsageError {
        guard element.position.letter != nil else { return .missingValue(name, of: ShownArgument(argument)) }
        let letters = ArgumentName.letters(String(words[element.position.word].dropFirst()))
        return .unknownLetters(letters, nearest: letters.nearest(in: arguments), name, of: ShownArgument(argument))
    }

    // MARK: Arguments without a name

    private mutating func readPositionals() throws(UsageError) {
        var rest = elements.unused(used).filter { $0.position.letter == nil }
        let final = arguments.first { if case .afterTerminator = $0.kind { true } else { false } }
        if let final, let terminator = rest.firstIndex(where: { $0.content == .terminator }) {
            for element in rest[(terminator + 1)...] { try read(element, as: final) }
            rest.removeSubrange(terminator...)
        }
        var waiting = rest.filter { $0.value != nil }[...]
        for argument in arguments {
            guard case .positional = argument.kind else { continue }
            repeat {
                guard let element = waiting.popFirst() else { return }
                try read(element, as: argument)
            } while argument.isRepeating
        }
    }

    private mutating func read(_ element: LineElement, as argument: ArgumentDescription) throws(UsageError) {
        try append(element.value ?? "", to: argument, nil)
        used.insert(element.position)
    }
}
