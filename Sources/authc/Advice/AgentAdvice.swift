import AuthConnection
import AuthWire
import Glibc

/// What to do if no agent can be reached.
enum AgentAdvice {
    /// - Parameters:
    ///   - path: the socket's path.
    ///   - reason: the text of the system's error.
    static func unreachable(_ path: String, _ reason: String) -> String {
        if let obstacle = SocketObstacle(on: path) { return obstacle.hint }
        // Some security modules refuse the connection but allow access(2).
        guard reason != SystemError.text(EACCES) else { return SocketObstacle.otherRefusal }
        return "start it: " + starting(at: path, with: "start")
    }

    /// How to start, on this machine, the agent that listens on a socket.
    /// - Parameters:
    ///   - path: the socket's path.
    ///   - verb: systemctl's, for the unit.
    static func starting(at path: String, with verb: String) -> String {
        guard let unit = unit(of: path) else { return running(at: path) }
        let isUsual = unit == usualUnit
        if hasUserManager {
            let variables = managerVariables.map { "\($0.name)=\(ShellWord.quoted($0.value)) " }.joined()
            return "`\(variables)systemctl --user \(verb) \(unit)`" + (isUsual ? ", or `authd`" : "")
        }
        guard isUsual else { return running(at: path) }
        return "`authd` in another terminal, because there is no systemd user manager to start it"
    }

    private static func running(at path: String) -> String {
        let command = "authd --socket \(ShellWord.quoted(path))"
        return "`\(command)` in another terminal"
    }

    private static let usualUnit = "authd.socket"

    /// The installed unit that opens this socket; `nil` if there is none.
    private static func unit(of path: String) -> String? {
        let place = runtimeFolder.path + "/"
        guard path.hasPrefix(place), path.hasSuffix("/socket") else { return nil }
        let folder = path.dropFirst(place.count).dropLast("/socket".count)
        switch RuntimeFolder.Part(rawValue: String(folder)) {
        case .agent: return usualUnit
        case .extra: return "authd-extra.socket"
        case .endpoint, .proxies: return nil
        case nil:
            // Other characters would have to be escaped (systemd.unit(5)).
            let prefix = RuntimeFolder.namedAgentPrefix
            let name = folder.dropFirst(prefix.count)
            let isPlain = name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._".contains($0)) }
            return folder.hasPrefix(prefix) && !name.isEmpty && isPlain ? "authd@\(name).socket" : nil
        }
    }

    /// Where the agent writes its log.
    /// - Parameter info: `nil`: the agent does not answer.
    static func log(_ info: AgentInfo? = nil) -> String {
        let output = "the output of `authd` where you started it"
        if let restart = info?.restart { return restart.unit.map { journal(of: $0) } ?? output }
        return hasUserManager ? journal(of: "authd") + ", or " + output : output
    }

    private static func journal(of unit: String) -> String {
        let ending = ".service"
        let name = unit.hasSuffix(ending) ? String(unit.dropLast(ending.count)) : unit
        return "`journalctl --user -u \(name)`"
    }

    /// Whether systemctl(1) can reach this user's manager.
    static var hasUserManager: Bool { unsafe access(runtimeFolder.path + "/systemd/private", F_OK) == 0 }

    /// What systemctl(1) needs to find the manager, and shells of su(1) and sudo(8) do not have.
    static var managerVariables: [(name: String, value: String)] {
        RuntimeFolder(environment: environmentValue) == nil ? [(RuntimeFolder.variable, runtimeFolder.path)] : []
    }

    private static var runtimeFolder: RuntimeFolder {
        RuntimeFolder(environment: environmentValue, userID: getuid())
    }
}
