import ArgumentParser
import AuthClient
import AuthFiles
import AuthWire
import Glibc

/// Configures a program to call a helper, and prints what it changed.
struct InstallHelper: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "install", abstract: "Configure git or docker to use a session for one server.",
        discussion: "Prints what it changes. --remove reverses it.")

    @OptionGroup var common: CommonOptions

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("The server, such as https://git.example.org.", valueName: "origin"))
    var origin: String

    @Flag(help: "Remove the configuration again.")
    var remove = false

    @Flag(help: "Only print what would change.")
    var dryRun = false

    @Argument(help: "git, or docker (also for podman, skopeo and buildah).", transform: programWord)
    var program: HelpedProgram

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        // A session's name is written only if the user gave one. Otherwise the agent finds the session by the server.
        let session = try options.session.map { name throws(Failure) in try Options.sessionName(name) }
        let server = try Self.server(origin)
        switch program {
        case .git: try GitConfiguration(server: server, session: session).apply(remove: remove, dryRun: dryRun)
        case .docker: try DockerConfiguration(server: server, session: session).apply(remove: remove, dryRun: dryRun)
        }
        return .done
    }

    /// The origin without a slash at its end.
    private static func server(_ text: String) throws(Failure) -> Substring {
        let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\"'\\=".utf8.contains($0) }
        guard isPlain, text.hasPrefix("https://") || text.hasPrefix("http://") else {
            throw .usage("--for: '\(Visible.line(text))' is not the address of a server")
        }
        return text.hasSuffix("/") ? text.dropLast() : text[...]
    }
}

enum HelpedProgram: String, CaseIterable {
    case git, docker
}

@Sendable private func programWord(_ text: String) throws -> HelpedProgram { try word(text) }

/// Two lines of git's configuration: the first ends the list of other helpers for this server (gitcredentials(7)).
private struct GitConfiguration {
    let server: Substring
    let session: SessionName?

    private var key: String { "credential.\(server).helper" }
    private var helper: String { "!authc helper git" + (session.map { " -s \($0)" } ?? "") }

    /// Values of this command, with or without the empty one before it. As git-config(1) has it, ! negates an expression.
    private static let own = "^!authc helper git"
    private static let ownOrEmpty = "^(!authc helper git.*)?$"

    func apply(remove: Bool, dryRun: Bool) throws(Failure) {
        let git = ["git", "config", "--global"]
        let hasOthers = try run(git + ["--get", key, "!" + Self.ownOrEmpty], isQuiet: true) == 0
        guard !hasOthers || remove else {
            throw .usage(
                "git has another helper for \(server)",
                hint: "remove it first: `git config --global --unset-all \(key)`")
        }
        // The empty value may belong to the other helper.
        var commands = [["--unset-all", key, hasOthers ? Self.own : Self.ownOrEmpty]]
        if !remove { commands += [["--add", key, ""], ["--add", key, helper]] }
        for arguments in commands {
            if !dryRun { _ = try run(git + arguments) }
            Output.note((git + arguments).map(Self.quoted).joined(separator: " "))
        }
    }

    /// - Returns: the status; 1 and 5 mean that there is no such value (git-config(1)).
    private func run(_ command: [String], isQuiet: Bool = false) throws(Failure) -> Int32 {
        let status = try ChildProgram(command: command, variables: []).run(isQuiet: isQuiet)
        guard [0, 1, 5].contains(status) else {
            throw Failure(
                status: .refusedData, kind: "git",
                message: "\(command.prefix(3).joined(separator: " ")) ended with status \(status)")
        }
        return status
    }

    private static func quoted(_ word: String) -> String {
        word.isEmpty || word.contains { !$0.isLetter && !$0.isNumber && !"-_./:".contains($0) } ? "'\(word)'" : word
    }
}

/// `credHelpers` of docker's configuration, and a program with the name that docker looks for (docker login(1)).
private struct DockerConfiguration {
    private static let longestFile = 1 << 20

    let server: Substring
    let session: SessionName?

    /// docker names registries without a scheme.
    private var registry: String { String(server.drop { $0 != "/" }.dropFirst(2)) }
    private var helper: String { "authd" + (session.map { "-\($0)" } ?? "") }
    private var line: String { "exec authc helper docker" + (session.map { " -s \($0)" } ?? "") + " \"$@\"" }

    func apply(remove: Bool, dryRun: Bool) throws(Failure) {
        guard let home = environmentValue("HOME"), home.hasPrefix("/") else { throw .usage("there is no home folder") }
        let folder = environmentValue("DOCKER_CONFIG").flatMap { $0.isEmpty ? nil : $0 } ?? home + "/.docker"
        let file = AtomicFile(path: folder + "/config.json")
        let program = AtomicFile(path: "\(home)/.local/bin/docker-credential-\(helper)")
        do throws(SystemFailure) {
            let former = try configuration(in: file)
            var helpers = former["credHelpers"]?.objectValue ?? JSONObject()
            let present = helpers[registry]?.stringValue
            if let present, present != helper {
                let action = "change \(file.path): docker-credential-\(present) is set for \(registry)"
                throw SystemFailure(action, number: EEXIST)
            }
            guard !remove else {
                guard present != nil else { return Output.note("\(file.path) does not name \(helper) for \(registry)") }
                helpers[registry] = nil
                if !dryRun { try write(helpers, in: former, to: file) }
                return Output.note("credHelpers: \"\(registry)\": \"\(helper)\" removed from \(file.path)")
            }
            helpers[registry] = .string(helper)
            if !dryRun {
                for folder in [folder, home + "/.local", home + "/.local/bin"] { _ = unsafe mkdir(folder, 0o755) }
                try program.replace(with: Array("#!/bin/sh\n\(line)\n".utf8))
                _ = unsafe chmod(program.path, 0o755)
                if present == nil { try write(helpers, in: former, to: file) }
            }
            Output.note("credHelpers: \"\(registry)\": \"\(helper)\" added to \(file.path)")
            Output.note("\(program.path): \(line)")
            let path = environmentValue("PATH") ?? ""
            if !path.split(separator: ":").contains(Substring(home + "/.local/bin")) {
                Output.note("  \(home)/.local/bin is not on the PATH: docker will not find the program there")
            }
        } catch {
            throw .usage(error.description)
        }
    }

    private func configuration(in file: AtomicFile) throws(SystemFailure) -> JSONObject {
        let bytes = try file.read(atMost: Self.longestFile) ?? []
        guard !bytes.isEmpty else { return JSONObject() }
        guard case .object(let object)? = try? JSON(parsing: bytes) else {
            throw SystemFailure("change \(file.path), which is not JSON", number: EINVAL)
        }
        return object
    }

    private func write(_ helpers: JSONObject, in former: JSONObject, to file: AtomicFile) throws(SystemFailure) {
        var object = former
        object["credHelpers"] = helpers.isEmpty ? nil : .object(helpers)
        try file.replace(with: Array((JSON.object(object).text(pretty: true) + "\n").utf8))
    }
}
