import AuthWire
import CommandArguments

/// Configures a program to call a helper, and prints what it changed.
struct InstallHelper: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "install", abstract: "Configure a program to call its helper.",
        discussion: "Prints what it changes. --remove reverses it.")

    @OptionGroup var session: SessionOption
    @OptionGroup var common: FileOptions

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "The server, such as https://git.example.org. For git, docker and cargo.", valueName: "origin"),
        completion: .origins)
    var origin: String?

    @Flag(help: "Remove the configuration again.")
    var remove = false

    @Flag(help: "Only print what would change.")
    var dryRun = false

    @Argument(
        help:
            "git, docker (also for podman, skopeo and buildah), cargo, pip (also for uv) or terraform (also for OpenTofu).",
        completion: .words(HelpedProgram.self),
        transform: programWord)
    var program: HelpedProgram

    var options: Options {
        var options = common.options
        options.session = session.session
        return options
    }

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        // A session's name is written only if the user gave one. Otherwise the agent finds the session by the server.
        let session = try options.session.map { name throws(Failure) in try Options.sessionName(name) }
        switch program {
        case .git:
            try GitConfiguration(server: try server(), session: session).apply(remove: remove, dryRun: dryRun)
        case .docker:
            try DockerConfiguration(server: try server(), session: session).apply(remove: remove, dryRun: dryRun)
        case .cargo:
            try CargoConfiguration(server: try server(), session: session).apply(remove: remove, dryRun: dryRun)
        case .pip:
            try refuseServer()
            try PipConfiguration(session: session).apply(remove: remove, dryRun: dryRun)
        case .terraform:
            try refuseServer()
            try TerraformConfiguration(session: session).apply(remove: remove, dryRun: dryRun)
        }
        return .done
    }

    /// The origin without a slash at its end.
    private func server() throws(Failure) -> Substring {
        guard let origin else {
            throw .usage("\(program) needs the server, such as --for https://\(program).example.org")
        }
        let isPlain = origin.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\"'\\=".utf8.contains($0) }
        guard isPlain, origin.hasPrefix("https://") || origin.hasPrefix("http://") else {
            throw .usage("--for: '\(Visible.line(origin))' is not the address of a server")
        }
        return origin.hasSuffix("/") ? origin.dropLast() : origin[...]
    }

    private func refuseServer() throws(Failure) {
        guard origin != nil else { return }
        throw .usage(
            "--for: \(program) uses one helper for all servers",
            hint: "leave it out; authd gives a token only to the session's own server")
    }
}

enum HelpedProgram: String, CaseIterable {
    case git, docker, cargo, pip, terraform
}

private func programWord(_ text: String) throws(ValidationError) -> HelpedProgram { try word(text) }
