/// What is wrong with a command line.
package enum UsageError: Error, Equatable {
    /// Three hyphens, or no name before `=`.
    case malformedOption(String)
    case unknownOption(ArgumentName, nearest: ArgumentName?)
    /// Letters that are not all flags. One of them is an option without a value. Here and below, the argument is `nil`
    /// if it is hidden.
    case unknownLetters(ArgumentName, nearest: ArgumentName?, ArgumentName, of: ShownArgument?)
    case missingValue(ArgumentName, of: ShownArgument?)
    case needlessValue(ArgumentName, String)
    case missingArgument(ShownArgument?)
    case invalidValue(String, ArgumentName?, of: ShownArgument?, reason: String?)
    case unexpectedArguments([String])
    /// The command's own check of its values.
    case refused(String)
    /// A completion script asks for values that this program does not have.
    case unknownCompletion

    package var message: String {
        switch self {
        case .malformedOption(let text): return "Invalid option: \(text)"
        case .unknownOption(let name, let nearest): return Self.unknown(name, nearest)
        case .unknownLetters(let letters, let nearest, let name, let argument):
            return Self.unknown(letters, nearest)
                + "\n   or: \(Self.missing(name, argument)) in '\(letters.text)'"
        case .missingValue(let name, let argument): return Self.missing(name, argument)
        case .needlessValue(let name, let value):
            return "The option '\(name.text)' does not take any value, but '\(value)' was specified."
        case .missingArgument(let argument): return "Missing expected argument '\(argument?.synopsis ?? "")'"
        case .invalidValue(let value, let name, let argument, let reason):
            let place = [name?.text, argument.map { "<\($0.valueName)>" }].compactMap(\.self).joined(separator: " ")
            return "The value '\(value)' is invalid for '\(place)'" + (reason.map { ": " + $0 } ?? "")
        case .unexpectedArguments(let words):
            let list = words.map { "'\($0)'" }.joined(separator: ", ")
            return words.count == 1 ? "Unexpected argument \(list)" : "\(words.count) unexpected arguments: \(list)"
        case .refused(let reason): return reason
        case .unknownCompletion: return "Internal error. Invalid state while parsing command-line arguments."
        }
    }

    /// The option or argument that the error is about, and what help says about it.
    package var explanation: String? {
        switch self {
        case .missingValue(let name, let argument?), .invalidValue(_, let name?, let argument?, _):
            "\(name.text) <\(argument.valueName)>  \(argument.abstract)"
        case .missingArgument(let argument?), .invalidValue(_, nil, let argument?, _):
            [argument.names.first?.text, "<\(argument.valueName)>"].compactMap(\.self).joined(separator: " ")
                + "  \(argument.abstract)"
        default: nil
        }
    }

    /// Whether a word is missing.
    package var isIncomplete: Bool {
        switch self {
        case .missingValue, .missingArgument: true
        default: false
        }
    }

    private static func unknown(_ name: ArgumentName, _ nearest: ArgumentName?) -> String {
        "Unknown option '\(name.text)'" + (nearest.map { ". Did you mean '\($0.text)'?" } ?? "")
    }

    private static func missing(_ name: ArgumentName, _ argument: ShownArgument?) -> String {
        "Missing value for '\(name.text)\(argument.map { " <\($0.valueName)>" } ?? "")'"
    }
}

/// What an error shows about an option or argument.
package struct ShownArgument: Equatable, Sendable {
    let names: [ArgumentName]
    let valueName: String
    let synopsis: String
    let abstract: String

    /// - Returns: `nil` if the argument is hidden.
    init?(_ argument: ArgumentDescription?) {
        guard let argument, !argument.isHidden else { return nil }
        (names, valueName) = (argument.names, argument.valueName)
        (synopsis, abstract) = (argument.neededSynopsis, argument.abstract)
    }
}

// MARK: Similar names

extension ArgumentName {
    /// With more changes, a name is too different to be suggested.
    private static let mostChanges = 3

    /// The long name that is most similar to this one.
    func nearest(in arguments: [ArgumentDescription]) -> ArgumentName? {
        if isShort { return nil }
        let names = arguments.filter { !$0.isHidden }.flatMap(\.names).filter { !$0.isShort }
        let near = names.map { (name: $0, changes: changes(to: $0)) }.filter { $0.changes <= Self.mostChanges }
        return near.min { $0.changes < $1.changes }?.name
    }

    /// The number of characters that have to be added, removed or replaced (Levenshtein's distance).
    private func changes(to other: ArgumentName) -> Int {
        let (from, to) = (Array(text), Array(other.text))
        var row = Array(0...to.count)
        for (index, character) in from.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (column, target) in to.enumerated() {
                let replaced = diagonal + (character == target ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
            }
        }
        return row[to.count]
    }
}
