import AuthWire
import CommandArguments

struct Network: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "network",
        abstract: "Show the state of the network, and whether each provider was reached last time.")

    @OptionGroup var common: GeneralOptions

    @Flag(help: "Print a line for each change until you press ^C.")
    var watch = false

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        if watch { return try Watch.run(options, topic: .network, view: options.json ? nil : NetworkLines()) }
        let (network, json) = try options.connect().call(NetworkStatusGet())
        if options.json { return try Output.jsonResult(json) }
        let now = WallClock.now
        var lines = ["\(network.state.rawValue) since \(WallClock.text(network.since, now: now))"]
        lines += NetworkLines.metered(network).map { "  " + $0 }
        lines += network.providers.sorted { $0.key < $1.key }.map { Visible.line("  \($0.key): \($0.value)") }
        try Output.result(lines.joined(separator: "\n"))
        return .done
    }
}
