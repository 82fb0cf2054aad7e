import AuthConnection
import AuthFiles
import AuthWire
import Glibc

/// The agent of the machine whose browser a sign-in uses. A socket for limited access of that machine is forwarded to this one
/// (Docs/decisions/remote-sign-in.md).
final class BrowserLender {
    /// The agent there has at most a minute for its question, five for the browser and one for requests.
    private static let longest = Duration.seconds(7 * 60) + Agent.grace
    private static let longestName = 32
    static let nameRule = "1 to \(longestName) of a-z, 0-9 and '-'"

    private let path: String
    private var hasLent = false

    /// - Parameter text: the path of the socket, or a name for the usual place.
    init(_ text: String) throws(Failure) {
        guard !text.contains("/") else {
            guard text.hasPrefix("/"), text.utf8.count <= SocketPath.longest else {
                throw .usage("--from: expected an absolute path of at most \(SocketPath.longest) bytes, or a name")
            }
            path = text
            return
        }
        guard Self.isName(text) else {
            throw .usage("--from: '\(text)' is neither an absolute path nor a name: a name is \(Self.nameRule)")
        }
        path = Self.usualPath(of: text)
    }

    /// Whether it can be part of a file name.
    static func isName(_ text: String) -> Bool {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        return (1...longestName).contains(text.utf8.count)
            && text.utf8.allSatisfy { letters.contains($0) || digits.contains($0) || $0 == UInt8(ascii: "-") }
    }

    /// sshd(8) makes no folders, so the socket is in one that is always there.
    static func usualPath(of name: String) -> String {
        runtimeFolder + "/" + prefix + name
    }

    /// The names of the sockets at the usual place, without those that would be read as an option.
    static var names: [String] {
        let files = (try? FolderEntries.names(in: runtimeFolder)) ?? []
        return files.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
            .filter { isName($0) && !$0.hasPrefix("-") }.sorted()
    }

    private static let prefix = "authd-from-"

    private static var runtimeFolder: String {
        RuntimeFolder(environment: environmentValue, userID: getuid()).path
    }

    /// An older agent ignores `borrow`, and begins a sign-in on this machine.
    func check(_ step: Step) throws(Failure) {
        guard !hasLent, step.kind == .browser || step.kind == .device else { return }
        throw Failure(
            status: .usage, kind: ErrorKind.unsupported.rawValue,
            message: "the agent on this machine is too old for --from",
            hint: "restart it: `systemctl --user restart authd`; `authc version` shows its version")
    }

    /// Asks the other machine, whose user has to agree and to sign in.
    func lend(_ call: LoginLend, _ options: Options, watching signals: Signals) throws(Failure) -> LoginLent {
        var call = call
        call.host = Self.hostName
        if call.device { call.comparison = LoginLend.randomComparison() }
        let agent = try connect(options.timeout)
        let text =
            "Continue on the machine with the browser: it asks whether \(call.host) may sign in, and then opens the page. "
            + "Agree only if it shows \(call.comparisonCode ?? "the same")."
        let time = min(options.timeout ?? Self.longest, Self.longest)
        do throws(Failure) {
            let lent = try agent.call(call, watching: signals, until: .after(time)) { Output.note(Visible.line(text)) }
            hasLent = true
            return lent
        } catch {
            throw explained(error)
        }
    }

    private func connect(_ timeout: Duration?) throws(Failure) -> Agent {
        do throws(Failure) {
            return try Agent(path: path, timeout: timeout, requiresOwnAgent: true)
        } catch {
            guard error.kind == "no_agent" else { throw error }
            let forward = "forward it from the machine with the browser: `\(command)`"
            let again =
                isLeftOver ? "the connection that forwarded it has ended: remove the file, and \(forward)" : forward
            throw Failure(
                status: error.status, kind: error.kind, message: error.message,
                hint: SocketObstacle(on: path)?.reason ?? again)
        }
    }

    /// Whether the file is a socket without a listener. Any other file refuses a connection, too, and may be the user's
    /// own.
    private var isLeftOver: Bool {
        guard FileStatus(at: path, followsLink: false)?.kind == .socket else { return false }
        return unsafe access(path, W_OK) == 0
    }

    /// The command for the other machine.
    private var command: String {
        "ssh -R \(ShellWord.quoted(path)):/run/user/$(id -u)/\(RuntimeFolder.socket(of: .extra)) "
            + ShellWord.quoted(Self.hostName)
    }

    private func explained(_ failure: Failure) -> Failure {
        if failure.isSilent { return failure }
        guard let error = failure.agentError else {
            guard failure.kind == "closed" else { return failure }
            return Failure(
                status: failure.status, kind: failure.kind,
                message: "the machine with the browser closed the connection before it answered",
                hint: "check that authd runs there, and that the socket you forward exists there")
        }
        guard error.code != AgentError.methodNotFound("").code else {
            return Failure(
                status: .usage, kind: ErrorKind.unsupported.rawValue,
                message: "the agent on the machine with the browser is too old for --from",
                hint: "update authd there; `authc version` there shows its version")
        }
        var explained = Failure(
            status: failure.status, kind: failure.kind, message: Self.otherMachine + failure.message,
            hint: Self.nextStep(after: error))
        explained.agentError = error
        return explained
    }

    /// What follows is a message of its agent, about that machine.
    static let otherMachine = "the machine with the browser: "

    private static func nextStep(after error: AgentError) -> String? {
        guard error.cause != AgentError.noBrowserCause else {
            return "check there whether `xdg-open https://example.org` opens a browser; or sign in with --device or "
                + "--paste instead of --from"
        }
        return error.retryAfter.map { "try again in \(Span.text($0))" }
    }

    private static var hostName: String {
        var name = [CChar](repeating: 0, count: LoginLend.longestHost + 1)
        guard unsafe gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
