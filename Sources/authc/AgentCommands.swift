import AuthClient
import AuthWire

/// `network`, `reload` and `version`.
enum AgentCommands {
    static func network(_ options: Options) throws(Failure) -> ExitStatus {
        let (network, json) = try options.connect().call(NetworkStatusGet())
        if options.json { return try Output.jsonResult(json) }
        let now = WallClock.now
        var lines = ["\(network.state.rawValue) since \(WallClock.text(network.since, now: now))"]
        lines += network.providers.sorted { $0.key < $1.key }.map { Visible.line("  \($0.key): \($0.value)") }
        try Output.result(lines.joined(separator: "\n"))
        return .done
    }

    static func reload(_ options: Options) throws(Failure) -> ExitStatus {
        let agent = try options.connect()
        do throws(Failure) {
            let (result, json) = try agent.call(AgentReload())
            if options.json { try Output.json(json) } else { Output.note(Visible.lines(result.message ?? "Done.")) }
            return .done
        } catch {
            guard let agentError = error.agentError, agentError.kind == .validation else { throw error }
            throw Failure(status: .badSettings, kind: error.kind, message: agentError.message, agentError: agentError)
        }
    }

    /// Prints the agent's version if it runs. If it does not, the command still succeeds.
    static func version(_ options: Options) throws(Failure) -> ExitStatus {
        let answer = try? options.connect().call(AgentInfoGet())
        if options.json {
            return try Output.jsonResult(.object(["authc": .string(Release.version), "agent": answer?.json ?? .null]))
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
