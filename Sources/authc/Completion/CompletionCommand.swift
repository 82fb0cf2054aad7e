import AuthWire
import CommandArguments

struct Completion: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "completion",
        abstract: "Print the script with which a shell completes authc's commands and options.",
        discussion: "It is installed with authc for bash, zsh and fish.")

    @OptionGroup(visibility: .hidden) var common: PlainOptions

    @Argument(help: "bash, zsh or fish.", completion: .list(["bash", "zsh", "fish"]), transform: completionShell)
    var shell: CompletionShell

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        try Output.result(Self.script(for: shell))
        return .done
    }

    static func script(for shell: CompletionShell) -> String {
        CompletionScript.text(for: shell, root: Authc.self, leading: GlobalOptions.names)
    }
}

private func completionShell(_ text: String) throws(ValidationError) -> CompletionShell { try word(text) }
