import ArgumentParser
import AuthWire

/// The file with the texts that `authc` prints by itself: the help of each command, and the completion scripts
/// (Docs/decisions/quick-commands.md). `make build` and `make install` have this program write it.
///
/// The first line has a name, the version, and the sizes of the index and of the texts. Each line of the index has the
/// place, the length and the command line of a text. In help, a text that is to be divided into lines has the byte 1
/// and a byte for its indent before it, and the byte 2 after it.
enum InstalledTexts {
    /// The command line that prints the file. The parser accepts no such word.
    static let request = "---texts"

    private static let name = "authc-texts"
    /// No text is as wide.
    private static let undivided = 1 << 20
    /// ArgumentParser indents the descriptions of options, arguments and commands so far.
    private static let indent = 26

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
        let scripts = CompletionShell.allCases.map {
            (line: "\(Completion.configuration.commandName ?? "") \($0.rawValue)", text: Completion.script(for: $0))
        }
        var (index, texts) = ("", "")
        for (line, text) in help(of: Authc.self, []) + scripts {
            index += "\(texts.utf8.count) \(text.utf8.count) \(line)\n"
            texts += text
        }
        return "\(name) \(Release.version) \(index.utf8.count) \(texts.utf8.count)\n" + index + texts
    }

    /// The help of a command, and of all below it.
    private static func help(of command: any ParsableCommand.Type, _ path: [String]) -> [(line: String, text: String)] {
        let text = Authc.helpMessage(for: command, columns: undivided)
        let line = (path + ["--help"]).joined(separator: " ")
        return [(line, marked(text) + Examples.text(of: path))]
            + command.configuration.subcommands.flatMap { help(of: $0, path + [VerbCheck.name($0)]) }
    }

    /// Help with marks around what ArgumentParser divides: the text before the usage, and each description in the lists
    /// after it.
    private static func marked(_ help: String) -> String {
        let usage = "\n\nUSAGE: "
        guard let start = help.firstRange(of: usage) else { return help }
        let lines = help[start.upperBound...].split(separator: "\n", omittingEmptySubsequences: false)
        let rest = lines.indices.map { place in
            marked(line: lines[place], next: place + 1 < lines.endIndex ? lines[place + 1] : "")
        }
        return marked(help[..<start.lowerBound], indent: 0) + usage + rest.joined(separator: "\n")
    }

    private static func marked(line: Substring, next: Substring) -> String {
        let margin = String(repeating: " ", count: indent)
        let (label, description) = (line.prefix(indent), line.dropFirst(indent))
        // A long label has its description on the next line.
        let isLabel =
            label.hasPrefix("  ") && label.last == " " && !next.hasPrefix(margin)
            && !line.hasPrefix("  See 'authc help ")
        guard !description.isEmpty, label == margin || isLabel else { return String(line) }
        return label + marked(description, indent: indent)
    }

    private static func marked(_ text: Substring, indent: Int) -> String {
        "\u{1}\(Character(UnicodeScalar(UInt8(ascii: " ") + UInt8(indent))))\(text)\u{2}"
    }
}
