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
            return [head] + (entry.error.map { [$0.message] + $0.response } ?? []).map { "  " + $0 }
        }
        try Output.text(lines.map { Visible.line($0) }.joined(separator: "\n"))
    }

    /// One entry in full.
    static func card(_ entry: OutboxItem, now: Double, screen: Screen) -> [String] {
        func row(_ label: String, _ text: String) -> String {
            ProviderCommands.hanging(label, Visible.line(text), label: 10, screen)
        }
        var lines = [
            row("entry", entry.id), row("session", entry.session.text), row("request", entry.request),
            row("state", state(entry, now)), row("queued", WallClock.text(entry.queuedAt, now: now, withSeconds: true)),
            row("tries", "\(entry.tries)"), row("key", entry.idempotencyKey),
        ]
        if let error = entry.error {
            lines.append(row("reason", error.message))
            lines += error.response.map { row("", $0) }
        }
        return lines
    }

    private static func state(_ entry: OutboxItem, _ now: Double) -> String {
        let since = "since \(WallClock.text(entry.queuedAt, now: now))"
        return switch entry.state {
        case .givenUp: "given up"
        case .sending: "sending"
        case .waiting:
            entry.waitsFor == OutboxItem.unmeteredNetwork
                ? "waits \(since) for a network that is not metered"
                : entry.retryAt.map { "waits \(since), next try in \(Span.text(seconds: max(0, $0 - now)))" }
                    ?? "waits \(since)"
        }
    }
}
