import AuthConnection
import AuthFiles
import AuthWire
import Glibc

/// The store of the sessions.
extension DoctorChecks {
    /// - Parameter isOther: whether the settings name another store, which is used after a restart.
    static func store(_ store: StoreInfo, of info: AgentInfo, isOther: Bool) -> Finding {
        let name = StatusCard.spaced(store.kind.rawValue)
        let who = store.process.map { " (\($0.name.map { $0 + ", " } ?? "")process \($0.pid))" } ?? ""
        func problem(_ words: String, _ hint: String) -> Finding {
            .problem(
                .store, .keyring, [words + who, store.message].compactMap(\.self).joined(separator: ": "), hint: hint)
        }
        let isSealed = store.kind.isSealed
        let isRefused = store.message?.contains(SystemError.text(EACCES)) ?? false
        if let cause = store.cause { return problem("\(name) \(StatusCard.spaced(cause))", clusterHint(cause, info)) }
        switch store.state {
        case .ready where store.kind == .memory:
            return .note(.store, "memory, as configured: sessions end with the agent")
        case .ready:
            guard let message = store.message else { return .ok(.store, "\(name) is open\(who)") }
            return .warning(
                .store, message,
                hint: isSealed
                    ? "`authc login`"
                    : "`authc login`, or remove the item in the keyring's program")
        case .starting:
            return .note(.store, "\(name) has not answered yet", hint: "try again in a few seconds: `authc doctor`")
        case .locked where isSealed:
            return problem(
                "\(name) is locked",
                "`authc store unlock` asks for its passphrase; a systemd credential opens it without one at each start: "
                    + "sealed_key in authd.toml(5)")
        case .failed where isSealed && info.landlock == .on && isRefused:
            return problem(
                "\(name) failed",
                "\(RestartAdvice.commands(info)): authd cannot use folders that were created or replaced after its start"
            )
        case .failed where isSealed:
            return problem("\(name) failed", "\(disk) shows whether its disk is full; authd continues within minutes")
        case .notAnswering where isSealed:
            return problem("\(name) does not answer", "\(disk) shows which disk it is on; authd continues by itself")
        // The user dismissed the keyring's unlock prompt: a refusal without a message.
        case .locked,
            .denied where store.message == nil:
            return problem("\(name) is locked", keyringUnlock)
        case .waiting:
            return problem(
                "\(name) is asking you something", "answer its dialog on the desktop; authd continues by itself")
        case .missing where isOther:
            return problem(
                "there is no \(name)",
                "the settings name another store; restart authd to use it: \(RestartAdvice.commands(info))")
        case .missing:
            return problem("there is no \(name)", NextStep.noKeyring(info))
        case .denied:
            return problem(
                "\(name) refuses", "allow authd in the keyring's settings; then `authc store unlock` asks it again")
        case .failed:
            return problem("\(name) failed", restart(store))
        case .notAnswering:
            return problem("\(name) does not answer", restart(store))
        }
    }

    /// The keyring shows its own prompt.
    static let keyringUnlock = "`authc store unlock` has the keyring ask for its password; authd continues by itself"

    /// The message bus starts the keyring at the next call.
    private static func restart(_ store: StoreInfo) -> String {
        let end =
            store.process.map { "`kill \($0.pid)` ends it" }
            ?? "end its program, which `busctl --user status org.freedesktop.secrets` names"
        return end + ", and `authc store unlock` starts it again; authd continues by itself"
    }

    /// The command that shows the disk with the sealed files.
    private static var disk: String {
        let folder = StateFolder.path(environment: environmentValue) ?? "/"
        return "`df -h \(ShellWord.quoted(folder))`"
    }

    /// What to try about a fault of etcd.
    private static func clusterHint(_ cause: String, _ info: AgentInfo) -> String {
        switch cause {
        case "cluster_unreachable":
            "check the network and [etcd] in authd.toml (`authc cluster status` shows the members); authd serves the "
                + "tokens it has, and continues by itself"
        case "cluster_no_quorum":
            "start the missing members of etcd, which `authc cluster status` shows; authd continues by itself"
        case "cluster_no_space":
            "\(ClusterChecks.spaceHint); authd continues by itself"
        case "cluster_denied":
            "check the user, its role and the certificate (`authc config get etcd`); authd retries by itself"
        case "cluster_not_admitted": "`authc cluster join` shows a code and what to run on a host that is a member"
        case "cluster_other": "check etcd.prefix: `authc config edit`"
        default: "see the log of authd: \(AgentAdvice.log(info))"
        }
    }
}
