import ArgumentParser
import AuthWire

/// A command line of `authd` that ArgumentParser refuses, as `authc` reports one: what is wrong with it, what was perhaps
/// meant, and the command that describes the options.
struct AgentUsageProblem {
    private let message: String
    private let words: [String]

    /// - Parameters:
    ///   - error: the parser's.
    ///   - words: the command line, without the program's name.
    init(_ error: any Error, _ words: [String]) {
        message = AgentArguments.message(for: error)
        self.words = words
    }

    var text: String {
        // The parser's suggestion may be a very different option.
        let problem = unknownOption.map { "Unknown option '\($0)'" } ?? message
        let meant = unknownOption.flatMap(corrected).map { "did you mean \($0)? " } ?? ""
        let lines = problem.split(separator: "\n").map { VisibleText.line(String($0)) }
        return "authd: " + lines.joined(separator: "\n  ")
            + "\n  \(VisibleText.line(meant))`authd --help` describes the options"
    }

    private var unknownOption: String? {
        let start = "Unknown option '--"
        guard message.hasPrefix(start) else { return nil }
        let name = message.dropFirst(start.count).split(separator: "'", omittingEmptySubsequences: false).first
        return name.map { "--" + $0 }
    }

    /// The command line with the option that is similar to an unknown one, or that option alone if the parser would not
    /// accept the line either.
    private func corrected(_ unknown: String) -> String? {
        guard let near = Suggestion.nearest(to: String(unknown.dropFirst(2)), among: Self.options) else { return nil }
        let option = "--" + near
        let words = words.map { word in
            word == unknown || word.hasPrefix(unknown + "=") ? option + word.dropFirst(unknown.count) : word
        }
        guard (try? AgentArguments.parse(words)) != nil else { return option }
        let command = (["authd"] + words).map(ShellWord.quoted).joined(separator: " ")
        return "`\(command)`"
    }

    /// The long names, without their dashes.
    private static var options: [String] {
        // No text is that wide, so each option is on one line.
        let help = AgentArguments.helpMessage(columns: 1 << 20)
        return help.split(separator: "\n").filter { $0.hasPrefix("  -") }.flatMap { line in
            line.split { " ,".contains($0) }.prefix { $0.hasPrefix("-") }.filter { $0.hasPrefix("--") }
                .map { String($0.dropFirst(2)) }
        }
    }
}
