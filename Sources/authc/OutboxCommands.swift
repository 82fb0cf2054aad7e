import AuthWire

/// `outbox list`, `outbox flush` and `outbox drop`: for every session, unless one is named.
enum OutboxCommands {
    static func list(_ options: Options) throws(Failure) -> ExitStatus {
        let params = OutboxParams(session: try options.namedSession())
        let (list, json) = try options.connect().call(OutboxListGet(params))
        try show(list, json, options, none: "The queue is empty.")
        return .done
    }

    /// Shows the entries that still wait. The exit status is that of the first one.
    static func flush(_ options: Options, id: String?) throws(Failure) -> ExitStatus {
        let params = OutboxParams(session: try options.namedSession(), id: id)
        let (list, json) = try options.connect().call(OutboxFlush(params))
        try show(list, json, options, none: "All entries were sent.")
        return list.entries.first.map { $0.error.map(ExitStatus.init) ?? .temporary } ?? .done
    }

    static func drop(_ options: Options, id: String?) throws(Failure) -> ExitStatus {
        let params = OutboxParams(session: try options.namedSession(), id: id)
        let (list, json) = try options.connect().call(OutboxDrop(params))
        if options.json { return try Output.jsonResult(json) }
        for entry in list.entries { Output.note(Visible.line("Dropped: \(entry.session) \(entry.request)")) }
        if list.entries.isEmpty { Output.note("The queue is empty.") }
        return .done
    }

    private static func show(
        _ list: OutboxList, _ json: JSON, _ options: Options, none: String
    ) throws(Failure) {
        if options.json { return try Output.json(json) }
        guard !list.entries.isEmpty else { return Output.note(none) }
        let now = WallClock.now
        let lines = list.entries.flatMap { entry -> [String] in
            let head = "\(entry.id)  \(entry.session)  \(entry.request)  \(state(entry, now))"
            return [head] + (entry.error.map(lines(of:)) ?? []).map { "  " + $0 }
        }
        try Output.result(lines.map { Visible.line($0) }.joined(separator: "\n"))
    }

    private static func state(_ entry: OutboxItem, _ now: Double) -> String {
        let since = "since \(WallClock.text(entry.queuedAt, now: now))"
        return switch entry.state {
        case .givenUp: "given up"
        case .sending: "sending"
        case .waiting:
            entry.retryAt.map { "waits \(since), next try in \(Span.text(seconds: max(0, $0 - now)))" }
                ?? "waits \(since)"
        }
    }

    /// Why it was not sent, and the provider's message.
    private static func lines(of error: AgentError) -> [String] {
        var lines = [error.message]
        if let providerMessage = error.providerMessage, !error.message.contains(providerMessage) {
            lines.append("it says: \(providerMessage)")
        }
        return lines + error.details.filter { !error.message.contains($0) }.map { "- " + $0 }
    }
}
