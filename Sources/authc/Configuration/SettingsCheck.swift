import AuthConnection
import AuthConfiguration
import AuthFiles
import AuthProcesses
import AuthWire
import Glibc

/// Has `authd --check` read a text before it becomes the settings. authc itself has no reader of settings.
enum SettingsCheck {
    /// A draft beside the file, because authd looks for the profiles there.
    struct Draft {
        let path: String
        /// authd refuses a file that others can change, so the draft has the file's group and mode.
        private let attributes: AtomicFile.Attributes?

        init(of file: SettingsFile) {
            var attributes = file.attributes
            // authd only reads files of its user and of root: for another user's file, it is this user's who checks.
            if let owner = attributes?.user, owner != geteuid() { attributes?.mode &= ~S_IWGRP }
            attributes?.user = geteuid()
            attributes?.mode |= S_IRUSR | S_IWUSR
            self.attributes = attributes
            path = "\(PrivateFolder.parent(of: file.path))/.authd-\(getpid()).toml"
        }

        func write(_ text: String) throws(Failure) {
            MissingFolders.create(for: path)
            try Failure.ofFile { () throws(SystemFailure) in
                try AtomicFile(path: path).replace(with: Array(text.utf8), attributes: attributes, durably: false)
            }
        }

        func remove() { _ = unsafe unlink(path) }
    }

    /// - Returns: each problem, with the line of the file and what was expected.
    static func problems(of text: String, as file: SettingsFile) throws(Failure) -> [String] {
        let draft = Draft(of: file)
        defer { draft.remove() }
        try draft.write(text)
        return try problems(in: draft, as: file)
    }

    static func problems(in draft: Draft, as file: SettingsFile) throws(Failure) -> [String] {
        let (status, output) = try run(["--check", "--config", draft.path])
        switch ExitStatus(rawValue: status) {
        case .done?: return []
        case .badSettings?:
            let shown = Visible.line(draft.path)
            // Problems of profiles are not those of this file.
            return output.split(separator: "\n").filter { $0.hasPrefix(shown + ":") }.map {
                // A command in the problem names the file too.
                let rest = String($0.dropFirst(shown.count))
                return Visible.line(file.path)
                    + rest.replacing(ShellWord.quoted(draft.path), with: ShellWord.quoted(file.path))
            }
        default:
            throw .internalError(
                "authd could not check the settings, and nothing was changed: "
                    + (output.split(separator: "\n").first.map { Visible.line(String($0)) } ?? "status \(status)"))
        }
    }

    /// Whether authd refuses a file because of a group that can change it, which only authd decides.
    static func refusedForGroup(_ settings: String) -> [String] {
        guard let (_, output) = try? run(["--check", "--config", settings]) else { return [] }
        return output.split(separator: "\n").filter { $0.contains(": expected a file that others cannot change") }.map(
            String.init)
    }

    /// The user waits for the warning.
    private static let timeout = Duration.seconds(1)

    /// A warning about a session that a setting names and that does not exist; `nil` if no agent answers. The user may
    /// sign in to it later, so this is not a problem.
    static func warning(
        about path: [TOMLPath.Component], in text: TOMLText, of file: SettingsFile, _ options: Options
    ) -> String? {
        guard ["default_session", "folder[N].session"].contains(SettingKey.matching(path)?.name),
            let name = text.json(at: TOMLPath.text(path))?.stringValue, !file.isNamed || options.socket != nil
        else { return nil }
        var quick = Options(timeout: timeout)
        quick.socket = options.socket
        guard let list = try? quick.connect().call(SessionListGet()).value else { return nil }
        let known = list.sessions.map(\.session.text)
        guard !known.contains(name) else { return nil }
        let hint = NameAdvice.meant(name, among: known).map { "; \($0)" } ?? ""
        return "there is no session named \(name) yet\(hint)"
    }

    static func failure(_ problems: [String], _ message: String) -> Failure {
        Failure(
            status: .badSettings, kind: ErrorKind.validation.rawValue, message: message,
            agentError: AgentError(.validation, message, details: problems))
    }

    // MARK: The program

    private static func run(_ arguments: [String]) throws(Failure) -> (status: Int32, output: String) {
        var pipe = try PipeEnds()
        let child = try start(arguments, pipe)
        pipe.writing = nil
        let output = try FileText.read(pipe.reading.number, named: "the output of authd", atMost: SettingsFile.longest)
        return (ProcessEnd(of: child).shellStatus, String(decoding: output, as: UTF8.self))
    }

    private static func start(_ arguments: [String], _ pipe: PipeEnds) throws(Failure) -> pid_t {
        let agent = InstalledProgram.agent
        do throws(SystemFailure) {
            var program = try ProgramStart([agent] + arguments)
            // Errors too: as long as they go to the journal, authd reports there.
            for number in [STDOUT_FILENO, STDERR_FILENO] { program.pass(pipe.writing?.number ?? -1, as: number) }
            return try program.start()
        } catch {
            throw .usage(
                "cannot check the settings: \(agent): \(SystemError.text(error.number))",
                hint: "install authd beside authc; nothing was changed")
        }
    }
}
