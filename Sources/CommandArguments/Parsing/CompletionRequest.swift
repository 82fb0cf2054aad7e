/// A line with which a completion script asks for the values of an option or an argument: `---completion`, the words of
/// the command, `--`, the name of the option or `positional@` and the argument's place, the index of the word at the
/// cursor, the place of the cursor in it, and the words of the line.
struct CompletionRequest {
    /// No other line can begin with it.
    static let firstWord = "---completion"

    private static let positional = "positional@"

    private let complete: @Sendable ([String], Int, String) -> [String]
    private let index: Int
    private let prefix: String
    private let line: [String]

    init(_ words: [String], _ root: any ParsableCommand.Type) throws(UsageError) {
        var rest = words.dropFirst()
        var path: [any ParsableCommand.Type] = [root]
        while let word = rest.popFirst(), word != "--" {
            guard let next = CommandParser.subcommand(word, of: path) else { throw .unknownCompletion }
            path.append(next)
        }
        guard let name = rest.popFirst(), let index = rest.popFirst().flatMap({ Int($0) }),
            let cursor = rest.popFirst().flatMap({ Int($0) }), cursor >= 0, cursor == 0 || !rest.isEmpty,
            case .custom(let complete)? = try Self.argument(name, of: CommandDescription(path).arguments)?.completion
        else { throw .unknownCompletion }
        (self.complete, self.index, line) = (complete, index, Array(rest))
        prefix = line.indices.contains(index) ? String(line[index].prefix(cursor)) : ""
    }

    private static func argument(
        _ name: String, of arguments: [ArgumentDescription]
    ) throws(UsageError) -> ArgumentDescription? {
        if name.hasPrefix(positional) {
            let arguments = arguments.filter(\.isPositional)
            let place = Int(name.dropFirst(positional.count))
            return place.flatMap { arguments.indices.contains($0) ? arguments[$0] : nil }
        }
        let element = try LineElement.elements(of: [name]).first
        return element?.name.flatMap { name in arguments.first { $0.names.contains(name) } }
    }

    /// - Parameter shell: the one that asks, if its script is that of an earlier version.
    func values(for shell: CompletionShell?) -> String {
        // The earlier script for zsh removes this last value.
        (complete(line, index, prefix) + (shell == .zsh ? [" "] : [])).joined(separator: "\n")
    }
}
