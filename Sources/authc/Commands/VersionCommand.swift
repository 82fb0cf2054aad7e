import AuthWire
import CommandArguments

struct Version: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "version", abstract: "Show the versions of authc and authd.")

    @OptionGroup var common: GeneralOptions

    /// Prints the agent's version if it runs. If it does not, the command still succeeds.
    func run(_ options: Options) throws(Failure) -> ExitStatus {
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
