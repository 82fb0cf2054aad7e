import AuthWire
import CommandArguments

/// The file with the texts that `authc` prints by itself: the help of each command, and the completion scripts
/// (Docs/decisions/quick-commands.md). `make build` and `make install` have this program write it.
///
/// The first line has a name, the version, and the sizes of the index and of the texts. Each line of the index has the
/// offset, the length and the command line of a text. Help has the marks of ``HelpText``.
enum InstalledTexts {
    /// The command line that prints the file. The parser accepts no such word.
    static let request = "---texts"

    private static let name = "authc-texts"

    static func print() -> Int32 {
        do throws(Failure) {
            try Output.raw(content)
            return ExitStatus.done.rawValue
        } catch {
            error.report(asJSON: false)
            return error.status.rawValue
        }
    }

    private static var content: String {
        let scripts = CompletionShell.allCases.map { shell in
            let line = "\(Completion.configuration.commandName) \(shell.rawValue)"
            return (line: line, text: Completion.script(for: shell))
        }
        var (index, texts) = ("", "")
        for (line, text) in help(of: [Authc.self]) + scripts {
            index += "\(texts.utf8.count) \(text.utf8.count) \(line)\n"
            texts += text
        }
        return "\(name) \(Release.version) \(index.utf8.count) \(texts.utf8.count)\n" + index + texts
    }

    /// The help of a command, and of all below it.
    /// - Parameter commands: the command, after those that lead to it.
    private static func help(of commands: [any ParsableCommand.Type]) -> [(line: String, text: String)] {
        let path = commands.dropFirst().map { $0.configuration.commandName }
        let text = HelpText.marked(CommandHelp(CommandDescription(commands)).text)
        let line = (path + ["--help"]).joined(separator: " ")
        let below = commands.last?.configuration.subcommands ?? []
        return [(line, text + Examples.text(of: path))] + below.flatMap { help(of: commands + [$0]) }
    }
}
