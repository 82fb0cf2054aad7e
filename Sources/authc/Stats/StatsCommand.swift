import AuthWire
import CommandArguments

struct Stats: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats", abstract: "Show what the agent has counted since its start.")

    @OptionGroup var common: GeneralOptions

    @Option(
        help: ArgumentHelp(
            "Print metrics in this text format: openmetrics or prometheus.", valueName: "format"),
        completion: .words(MetricsText.Format.self), transform: format)
    var metrics: MetricsText.Format?

    @Option(
        help: ArgumentHelp("Write the metrics to this file, which is replaced at once.", valueName: "file"),
        completion: .file)
    var output: String?

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        if output != nil, metrics == nil {
            throw .usage("--output needs --metrics", hint: "add `--metrics prometheus`")
        }
        if options.json, metrics != nil { throw .usage("--json and --metrics are two formats: choose one") }
        let agent = try options.connect()
        let (stats, json) = try agent.call(AgentStatsGet())
        if options.json { return try Output.jsonResult(json) }
        let store = try agent.call(AgentInfoGet()).value.store
        let figures = AgentFigures(
            stats: stats, store: store,
            sessions: try known { () throws(Failure) in try agent.call(SessionListGet()).value.sessions },
            writes: try known { () throws(Failure) in try agent.call(OutboxListGet(OutboxParams())).value.entries })
        if let metrics, let output {
            try ProfileFile.write(figures.metrics(metrics) + "\n", to: output, replacing: true, ifExists: "")
        } else if let metrics {
            try Output.result(figures.metrics(metrics))
        } else {
            try Output.result(figures.lines(on: .current).joined(separator: "\n"))
        }
        return .done
    }
}

/// `nil` while the agent's store cannot be read.
private func known<Value>(_ value: () throws(Failure) -> Value) throws(Failure) -> Value? {
    do throws(Failure) {
        return try value()
    } catch {
        switch error.agentError?.kind {
        case .keyringLocked?, .keyringUnavailable?: return nil
        default: throw error
        }
    }
}

private func format(_ text: String) throws(ValidationError) -> MetricsText.Format {
    try word(text)
}
