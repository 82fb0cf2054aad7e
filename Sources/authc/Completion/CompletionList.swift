import AuthWire
import CommandArguments

/// What a shell offers for each value of each command, for the tests. A line has a command, the name of an option or an
/// argument, and the words of a list, `files`, or `asked` if the shell asks this program, with tabs between them.
enum CompletionList {
    /// The command line that prints it. The parser accepts no such word.
    static let request = "---values"

    static func print() -> Int32 {
        do throws(Failure) {
            try Output.raw(lines(of: [Authc.self]).map { $0 + "\n" }.joined())
            return ExitStatus.done.rawValue
        } catch {
            error.report(asJSON: false)
            return error.status.rawValue
        }
    }

    /// - Parameter commands: a command, after those that lead to it. What is hidden is in the list, too.
    private static func lines(of commands: [any ParsableCommand.Type]) -> [String] {
        let path = commands.dropFirst().map { $0.configuration.commandName }.joined(separator: " ")
        let own = CommandDescription(commands).allArguments.filter { !$0.isFlag }.map { argument in
            "\(path)\t\(argument.names.preferred?.bareText ?? argument.valueName)\t\(text(argument.completion))"
        }
        return own + (commands.last?.configuration.subcommands ?? []).flatMap { lines(of: commands + [$0]) }
    }

    private static func text(_ kind: CompletionKind?) -> String {
        switch kind {
        case nil: ""
        case .list(let words): words.joined(separator: " ")
        case .file: "files"
        case .custom: "asked"
        }
    }
}
