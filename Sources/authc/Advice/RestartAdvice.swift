import AuthWire

/// How to restart the agent, in the way it was started.
enum RestartAdvice {
    /// The commands; `nil` for `info`: the agent says if the first one does not work.
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
            "it does not restart by itself, because you open its store: \(commands), then `authc store unlock`"
        case .memory:
            "it does not restart by itself, because its sessions end with it: `authc logout --all`, then \(commands)"
        }
    }
}
