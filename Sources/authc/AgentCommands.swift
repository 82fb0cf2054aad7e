import AuthClient
import AuthWire

/// `network` and `version`.
enum AgentCommands {
    static func network(_ options: Options) throws(Failure) -> ExitStatus {
        let (network, json) = try options.connect().call(.networkStatus, NetworkStatus.init)
        if options.json {
            try Output.json(json)
            return .done
        }
        let now = WallClock.now
        var lines = ["\(network.state.rawValue) since \(WallClock.text(network.since, now: now))"]
        lines += network.providers.sorted { $0.key < $1.key }.map { Visible.line("  \($0.key): \($0.value)") }
        try Output.result(lines.joined(separator: "\n"))
        return .done
    }

    /// The agent's version is told where it runs; that it does not is no failure of this command.
    static func version(_ options: Options) throws(Failure) -> ExitStatus {
        let answer = try? options.connect().call(.agentInfo, AgentInfo.init)
        if options.json {
            try Output.json(.object(["authc": .string(Release.version), "agent": answer?.json ?? .null]))
            return .done
        }
        var lines = ["authc \(Release.version)"]
        if let info = answer?.value {
            lines.append("authd \(info.version), protocol \(info.protocolVersion), process \(info.pid)")
            var store = "store \(info.store.kind.rawValue): \(StatusCard.spaced(info.store.state.rawValue))"
            if let message = info.store.message { store += ", \(message)" }
            lines.append(store)
        } else {
            lines.append("authd does not answer")
        }
        try Output.result(lines.map { Visible.line($0) }.joined(separator: "\n"))
        return .done
    }
}
