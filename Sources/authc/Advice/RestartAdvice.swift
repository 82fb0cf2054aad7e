import AuthWire

/// How to restart the agent, in the way it was started.
enum RestartAdvice {
    /// - Parameter info: `nil`: the agent does not answer. `authc agent restart` then reports what else to do.
    static func commands(_ info: AgentInfo?) -> String {
        guard let info, let command = info.restart?.command else { return "`authc agent restart`" }
        return "`kill \(info.pid)`, then `\(Visible.line(command))`"
    }

    /// For another version of authd, which may not know the command.
    static func commands(ofOther info: AgentInfo) -> String {
        info.restart != nil || info.restartPending ? commands(info) : "`systemctl --user restart authd`"
    }

    /// For an agent whose program was replaced.
    static func upgrade(_ info: AgentInfo) -> String {
        let commands = commands(info)
        return switch info.restart?.obstacle {
        case nil: "\(commands) restarts it now; otherwise it restarts when it is idle"
        case .noManager: "it does not restart by itself: \(commands)"
        case .passphrase:
            "it does not restart by itself, because its store needs your passphrase: \(commands), "
                + "then `authc store unlock`"
        case .memory:
            "it does not restart by itself, because its sessions would end: `authc logout --all`, then \(commands)"
        }
    }
}
