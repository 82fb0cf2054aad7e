import AuthConnection
import AuthWire
import CommandArguments
import Glibc

/// What the button of a notification runs (Docs/decisions/notices.md).
struct TerminalCommand: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "terminal", abstract: "Open a terminal that runs a command of authc.",
        usage: "authc terminal [--browser] -- <command> [<argument> ...]",
        discussion: "Notifications run this. $TERMINAL names the terminal; otherwise the desktop's is used.",
        shouldDisplay: false)

    @OptionGroup var common: SocketOption

    @Flag(help: "The command is a sign-in with the browser: no terminal is needed if there is a browser.")
    var browser = false

    /// Set when the terminal runs this command.
    @Flag(help: .hidden)
    var inside = false

    @Argument(
        parsing: .postTerminator, help: ArgumentHelp("The command and its arguments.", valueName: "word"),
        completion: .nothing)
    var words: [String] = []

    func validate() throws(ValidationError) {
        guard words.first?.isEmpty == false else {
            throw ValidationError("Write the command after two hyphens, such as authc terminal -- store unlock.")
        }
    }

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        let own = try InstalledProgram.own()
        let socket = options.socket.map { ["--socket", $0] } ?? []
        if inside { return try runInside([own] + words + socket) }
        guard ["DISPLAY", "WAYLAND_DISPLAY"].contains(where: { environmentValue($0)?.isEmpty == false }) else {
            throw Self.failure("neither DISPLAY nor WAYLAND_DISPLAY is set")
        }
        if browser, WebBrowser.canOpen {
            try ChildProgram(command: [own] + words + ["--web", "--no-input"] + socket, variables: []).replaceThis()
        }
        for terminal in TerminalProgram.candidates(chosen: environmentValue("TERMINAL")) {
            let command =
                [terminal.name] + terminal.options + [own, "terminal", "--inside"] + socket + ["--"] + words
            do throws(Failure) {
                try ChildProgram(command: command, variables: []).replaceThis()
            } catch {
                continue
            }
        }
        throw Self.failure("no known terminal is installed; set TERMINAL to the name of yours")
    }

    /// The window stays until its user has read what the command has printed.
    private func runInside(_ command: [String]) throws(Failure) -> ExitStatus {
        // ^C is for the command, which does not inherit a handler.
        let former = signal(SIGINT) { _ in }
        defer { signal(SIGINT, former) }
        let status = try ChildProgram(command: command, variables: []).run()
        // The user has ended the live view.
        if status == 0, words.first == "watch" { return .done }
        _ = try TerminalInput.ask("Press Enter to close this window. ", isSecret: false)
        // Some terminals exit with this status, and the command has already shown its failure.
        return .done
    }

    private static func failure(_ reason: String) -> Failure {
        Failure(status: .commandNotFound, kind: "no_terminal", message: "no terminal can be opened: \(reason)")
    }
}
