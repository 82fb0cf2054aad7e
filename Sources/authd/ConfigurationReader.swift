import AuthDaemon
import AuthModel
import AuthProviders
import AuthSockets
import AuthWire
import Glibc
import Logging

/// Reads settings and profiles, as the command line says.
struct ConfigurationReader: Sendable {
    let options: AgentOptions

    var paths: ConfigurationPaths {
        ConfigurationPaths(file: options.config, environment: Environment.value)
    }

    func read() -> ConfigurationReading {
        if let file = options.config, unsafe access(file, R_OK) != 0 {
            let problem = ProfileProblem(
                file: file, line: 0, key: "", expected: "a file that can be read", found: SystemError.text(errno))
            return ConfigurationReading(configuration: nil, problems: [problem])
        }
        let paths = paths
        do throws(ProfileProblems) {
            let settings = try SettingsFile.load(paths: paths.files)
            let loaded = ProfileFolders.load(
                folders: paths.folders, environments: settings.environments, defaults: settings.defaultEnvironments)
            var catalog = loaded.catalog
            catalog.clientDocument = settings.clientDocument
            return ConfigurationReading(
                configuration: AgentConfiguration(settings: settings, catalog: catalog),
                problems: loaded.problems)
        } catch {
            return ConfigurationReading(configuration: nil, problems: error.problems)
        }
    }

    /// For a start: it skips profiles that have a problem, and logs them.
    func configuration() throws(StartRefusal) -> AgentConfiguration {
        let reading = read()
        guard let configuration = reading.configuration else {
            throw StartRefusal(.badConfiguration, reading.problems.map(\.description).joined(separator: "; "))
        }
        let logger = AgentLog(level: .error).logger()
        for line in SkippedConfiguration.lines(reading.problems, in: paths) { logger.error("\(line)") }
        return configuration
    }

    /// `--check`: prints each problem in one line. They go to stdout, because the user asked for them; where the manager asked,
    /// with `ExecReload=`, they are errors in the journal.
    func check() -> ExitStatus {
        var problems = read().problems
        do throws(ProfileProblems) {
            _ = try PolicyFile.root(PolicyPaths.root)
        } catch {
            problems += error.problems
        }
        if AgentLog.isJournal {
            let logger = AgentLog(level: .error).logger()
            for problem in problems { logger.error("\(problem)") }
        } else {
            let isUnicode = TerminalText.isUnicode(environment: Environment.value)
            for problem in problems { print(TerminalText.shown("\(problem)", isUnicode: isUnicode)) }
            if problems.isEmpty { print("ok") }
        }
        return problems.isEmpty ? .done : .badConfiguration
    }

    /// Where the access rules are.
    func policySources(stateFolder: String?) -> PolicySources {
        typealias Problems = PolicySources.PolicyProblems
        @Sendable func reading<Value>(
            _ read: () throws(ProfileProblems) -> Value
        ) throws(Problems) -> Value {
            do throws(ProfileProblems) {
                return try read()
            } catch {
                throw Problems(error.problems.map(\.description))
            }
        }
        return PolicySources(
            rootPath: PolicyPaths.root, userPath: paths.policy, stateFolder: stateFolder,
            readRoot: { () throws(Problems) in
                try reading { () throws(ProfileProblems) in try PolicyFile.root(PolicyPaths.root) }
            },
            readUser: { path throws(Problems) in
                try reading { () throws(ProfileProblems) in try PolicyFile.text(path) }
            },
            parseUser: { text, path throws(Problems) in
                try reading { () throws(ProfileProblems) in try PolicyReader.read(text, from: .user, file: path) }
            })
    }

    /// What the command line, or else the settings, want for the next start; `nil`: nothing.
    func storeSetting() -> StoreKind? { options.store ?? read().configuration?.settings.store }

    /// The path of the extra socket; `nil` if the service manager or nobody opens it.
    /// - Parameter inherited: the sockets from the service manager.
    func extraSocketPath(
        _ settings: Settings, beside inherited: [ListenerName: SocketFile]
    ) throws(StartRefusal) -> String? {
        guard inherited[.extra] == nil else { return nil }
        if let path = options.extraSocket { return path }
        guard settings.listeners[.extra].listens else { return nil }
        do throws(AgentError) {
            let usual = try SocketPath.resolve(
                environment: { $0 == "AUTHD_SOCKET" ? nil : Environment.value($0) }, userID: geteuid())
            return ExtraSocket.path(settings.listeners[.extra], usual: usual)
        } catch {
            throw StartRefusal(.badConfiguration, error.message)
        }
    }

    /// The socket that the environment alone decides; `nil`: it has no folder for sockets.
    var usualSocketPath: String? {
        try? SocketPath.resolve(
            environment: { $0 == "AUTHD_SOCKET" ? nil : Environment.value($0) }, userID: geteuid())
    }

    /// Where the extra socket is, or would be if the settings opened it.
    func likelyExtraSocket(_ settings: Settings) -> String? {
        options.extraSocket ?? usualSocketPath.map { ExtraSocket.path(settings.listeners[.extra], usual: $0) }
    }

    func socketPath(_ settings: Settings) throws(StartRefusal) -> String {
        do throws(AgentError) {
            return try SocketPath.resolve(
                flag: options.socket ?? settings.socket, environment: Environment.value, userID: geteuid())
        } catch {
            throw StartRefusal(.badConfiguration, error.message)
        }
    }
}
