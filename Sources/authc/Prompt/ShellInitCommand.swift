import AuthConnection
import AuthConfiguration
import AuthWire
import CommandArguments
import Glibc

/// What a shell evaluates at its start, so that its prompt shows the sessions without starting a process.
struct ShellInit: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "shell-init", abstract: "Print a function that keeps a shell prompt's variable up to date.",
        discussion: """
            Before each prompt, the function reads the agent's prompt file into the variable AUTHD_PROMPT; it starts no \
            process. Put the variable into the prompt. The table [prompt] of the settings says what it shows.
            """)

    @OptionGroup var common: SocketOption

    @Argument(
        help: "bash, zsh or fish.", completion: .list(PromptShell.allCases.map(\.rawValue)), transform: promptShell)
    var shell: PromptShell

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        let script = PromptScript(
            settings: .inUse, file: try Self.file(options), isFixed: options.socket != nil)
        try Output.result(script.text(for: shell))
        return .done
    }

    /// Without `$AUTHD_SOCKET`, which the function reads before each prompt.
    ///
    /// A shell without a private folder, such as root's after su(1), gets the function too: there may be a folder later.
    private static func file(_ options: Options) throws(Failure) -> String {
        if options.socket != nil { return PromptPath.beside(socket: try options.socketPath()) }
        let user = getuid()
        let socket = try? SocketPath.resolve(
            environment: { $0 == "AUTHD_SOCKET" ? nil : environmentValue($0) }, userID: user)
        return PromptPath.beside(socket: socket ?? RuntimeFolder(ofLogin: user).socket(of: .agent))
    }
}

enum PromptShell: String, CaseIterable {
    case bash, zsh, fish
}

private func promptShell(_ text: String) throws(ValidationError) -> PromptShell { try word(text) }

/// The table `[prompt]` of the settings. The agent does not use it.
struct PromptSettings {
    var format = PromptFormat(PromptFormat.standard)?.parts ?? []
    private var hasStandardFormat = true
    /// Only the session of the current folder.
    var folderOnly = false
    /// Only sessions that need the user.
    var attentionOnly = false

    /// Whether a prompt shows what it shows without settings.
    var areStandard: Bool { hasStandardFormat && !folderOnly && !attentionOnly }

    /// The settings of the file. A problem is printed, and the defaults apply, so that the prompt always works.
    static var inUse: PromptSettings {
        do throws(Failure) {
            return try current()
        } catch {
            error.report(asJSON: false)
            return PromptSettings()
        }
    }

    private static func current() throws(Failure) -> PromptSettings {
        let file = try SettingsFile(named: nil)
        let text = try SettingsFile.parse(try file.current(), file.pathInUse)
        var settings = PromptSettings()
        if let format = text.json(at: "prompt.format") {
            let typed = format.stringValue ?? ""
            guard format.stringValue != nil, let parts = PromptFormat(typed)?.parts else {
                throw Failure(
                    status: .badSettings, kind: "settings",
                    message: "\(file.pathInUse): prompt.format: expected \(PromptFormat.expected(insteadOf: typed))",
                    hint: "`authc config set prompt.format '\(PromptFormat.standard)'` sets the default")
            }
            settings.format = parts
            settings.hasStandardFormat = typed == PromptFormat.standard
        }
        settings.folderOnly = text.json(at: "prompt.folder_only") == true
        settings.attentionOnly = text.json(at: "prompt.attention_only") == true
        return settings
    }
}
