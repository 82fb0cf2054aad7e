import AuthWire

enum OutboxText {
    static func show(
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
