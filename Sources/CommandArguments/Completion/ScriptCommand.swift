/// A command as the generators of completion scripts see it, with its subcommands.
///
/// Most of the shell functions in the scripts are those that swift-argument-parser prints (Apache License 2.0 with
/// Runtime Library Exception): they work in many versions of the shells. The rest is for values with `$`, `=`, `:` or
/// `~/`, which would otherwise be expanded, cut or not found, and for completion in a script.
struct ScriptCommand {
    let path: [String]
    let abstract: String
    /// Including hidden ones.
    let arguments: [ArgumentDescription]
    let subcommands: [ScriptCommand]

    /// All commands of a program that are not hidden, and `help`.
    init(root: any ParsableCommand.Type) { self.init([root], extra: [HelpCommand.self]) }

    private init(_ path: [any ParsableCommand.Type], extra: [any ParsableCommand.Type] = []) {
        let description = CommandDescription(path)
        (self.path, abstract, arguments) = (description.path, description.abstract, description.allArguments)
        let known = path.last?.configuration.subcommands ?? []
        subcommands = (known + extra).filter { $0.configuration.shouldDisplay }.map { ScriptCommand(path + [$0]) }
    }

    var name: String { path.last ?? "" }

    var isRoot: Bool { path.count == 1 }

    /// The name of the shell function for this command.
    var function: String { "_" + path.joined(separator: "_") }

    /// What the names of all other functions begin with.
    var prefix: String { "__\(path.first ?? "")" }

    var positionals: [ArgumentDescription] { arguments.filter(\.isPositional) }

    /// The words with which a script asks the program for the values of an argument.
    func request(for argument: ArgumentDescription) -> String {
        let command = path.dropFirst().map { $0 + " " }.joined()
        let place = positionals.firstIndex { $0.number == argument.number } ?? 0
        let name = argument.names.preferred?.text ?? "positional@\(place)"
        return "\(CompletionRequest.firstWord) \(command)-- \(name)"
    }
}

/// The variables in which a script passes the name of its shell, and the shell's version.
enum ScriptVariables {
    static let shell = "SAP_SHELL"
    static let version = "SAP_SHELL_VERSION"
}

/// The completion script of a program.
package enum CompletionScript {
    package static func text(for shell: CompletionShell, root: any ParsableCommand.Type) -> String {
        let command = ScriptCommand(root: root)
        return switch shell {
        case .zsh: ZshScript.text(command)
        case .bash: BashScript.text(command)
        case .fish: FishScript.text(command)
        }
    }

    /// The variable with the name of the shell.
    package static var shellVariable: String { ScriptVariables.shell }
}

// MARK: Text

extension String {
    /// With the characters that `escapes` contains replaced.
    func escaped(_ escapes: [Character: String]) -> String {
        reduce(into: "") { result, character in
            if let escape = escapes[character] { result += escape } else { result.append(character) }
        }
    }

    /// For use between single quotes in bash and zsh.
    var quotedInside: String { escaped(["'": #"'\''"#]) }

    /// With spaces before each line that is not empty.
    func indented(by count: Int) -> String {
        let margin = String(repeating: " ", count: count)
        return split(separator: "\n", omittingEmptySubsequences: false).map { $0.isEmpty ? "" : margin + $0 }
            .joined(separator: "\n")
    }
}
