import AuthClient
import AuthFront
import AuthHTTP
import AuthModel
import AuthProviders
import AuthWire
import Glibc
import NIOPosix

/// What every purpose of the program needs of its process.
enum GatewayProcess {
    /// Ends the process if it cannot do what it is started for.
    static func begin() -> GatewayArguments {
        do throws(GatewayMistake) {
            let sockets = try passedSockets()
            let arguments = try GatewayArguments(CommandLine.arguments, sockets: sockets)
            try prepare()
            return arguments
        } catch {
            Note.write(error.text)
            exit(error.status)
        }
    }

    /// Ends the process when the work ends.
    static func end(_ work: () async throws(GatewayMistake) -> Void) async -> Never {
        do throws(GatewayMistake) {
            try await work()
            exit(0)
        } catch {
            Note.write(error.text)
            exit(error.status)
        }
    }

    private static func passedSockets() throws(GatewayMistake) -> [FrontSocket] {
        do throws(FrontSocket.Refusal) {
            return try FrontSocket.passed()
        } catch {
            throw GatewayMistake(text: "\(error)", status: 70)
        }
    }

    /// Before any thread is started.
    private static func prepare() throws(GatewayMistake) {
        // A connection must not get the number of a closed stdout: a message would be written to it.
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            guard unsafe open("/dev/null", number == STDERR_FILENO ? O_WRONLY : O_RDONLY) >= 0 else {
                throw GatewayMistake(text: "cannot open /dev/null (\(SystemError.text(errno)))", status: 70)
            }
        }
        // Swift's crash report shows what registers point to, which may be a token.
        if environmentValue("SWIFT_BACKTRACE") == nil {
            for number in [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] { signal(number, SIG_DFL) }
        }
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        umask(0o077)
        signal(SIGPIPE, SIG_IGN)
        unsafe setenv("LIBDISPATCH_LOG", "NO", 0)
    }

    /// The settings of the user, else the system's: proxy, certificates and time limits are the agent's own.
    static func settings() throws(GatewayMistake) -> HTTPSettings {
        let home = absolute("HOME").map { $0 + "/.config" }
        let folders = [absolute("XDG_CONFIG_HOME") ?? home, "/etc/xdg"].compactMap(\.self)
        do throws(ProfileProblems) {
            return try SettingsFile.load(paths: folders.map { $0 + "/authd/authd.toml" }).http
        } catch {
            throw .settings(error.problems.map(\.description).joined(separator: "; "))
        }
    }

    static func transport(
        _ group: MultiThreadedEventLoopGroup, connectionsPerOrigin: Int
    ) throws(GatewayMistake) -> AsyncHTTPTransport {
        var configuration = AsyncHTTPTransport.Configuration(
            version: Release.version, settings: try settings(), environment: environment)
        configuration.limits.connectionsPerOrigin = connectionsPerOrigin
        do throws(TransportSettingsError) {
            return try AsyncHTTPTransport(configuration, group: group)
        } catch {
            throw .settings("\(error)")
        }
    }

    /// For the sockets of this program.
    static func runtimeFolder() throws(GatewayMistake) -> RuntimeFolder {
        if let folder = RuntimeFolder(environment: environmentValue) { return folder }
        let usual = RuntimeFolder(ofLogin: getuid())
        guard unsafe access(usual.path, W_OK) == 0 else {
            throw .usage("there is no folder for the socket, because XDG_RUNTIME_DIR is not set: use --listen")
        }
        return usual
    }

    /// A relative folder counts as not set (XDG Base Directory Specification).
    private static func absolute(_ name: String) -> String? {
        environmentValue(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
    }

    /// What the transport reads of the environment.
    static var environment: [String: String] {
        let names = [
            "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
            "SSL_CERT_FILE",
        ]
        var found: [String: String] = [:]
        for name in names { found[name] = environmentValue(name) }
        return found
    }
}

/// Messages on standard error: one line each in a file or pipe, and laid out on a terminal, as those of `authc` are.
enum Note {
    static func write(_ text: String) {
        let isUnicode = TerminalText.isUnicode(environment: environmentValue)
        var note = TerminalText.shown("authd-gateway: \(VisibleText.line(text))", isUnicode: isUnicode)
        if isatty(STDERR_FILENO) == 1 { note = TerminalText.fitted(note, to: columns) }
        let bytes = Array("\(note)\n".utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    private static var columns: Int {
        var size = winsize()
        guard unsafe ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return TerminalText.usualColumns
        }
        return max(Int(size.ws_col), TerminalText.fewestColumns)
    }
}
