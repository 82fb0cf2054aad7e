import AuthWire

extension AgentFigures {
    /// The longest label and a gap.
    private static let labelColumns = 12

    /// For a reader: the agent, then each provider.
    func lines(on screen: Screen) -> [String] {
        var lines = row("running", Span.text(stats.uptime), screen)
        lines += row("requests", "\(stats.requests), \(Self.count(stats.connections, "connection")) open", screen)
        lines += row("sessions", "\(stats.sessions), \(Self.count(stats.renewals, "renewal"))", screen)
        let store = StatusCard.storeName(store.kind) + ": " + StatusCard.spaced(store.state.rawValue)
        lines += row("store", store, screen)
        if let writes, !writes.isEmpty { lines += row("outbox", Self.count(writes.count, "write"), screen) }
        for counts in stats.tokenRequests {
            lines += row(Visible.line(counts.provider), describe(counts), screen)
        }
        return lines
    }

    private func describe(_ counts: TokenRequestCounts) -> String {
        var text = "\(Self.count(counts.total, "request")) for tokens"
        if counts.total > 0 {
            text += ", \(Span.text(.milliseconds(counts.duration.wholeMilliseconds / Int64(counts.total)))) on average"
        }
        let failures = counts.failed.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        guard !failures.isEmpty else { return text }
        let causes = failures.map { "\($0.value) failed (\(Visible.line(StatusCard.spaced($0.key))))" }
        return text + ", " + causes.joined(separator: ", ")
    }

    private func row(_ label: String, _ text: String, _ screen: Screen) -> [String] {
        let texts = Layout.wrapped(text, on: screen, indent: Self.labelColumns)
        let isShort = Layout.width(label) < Self.labelColumns
        let labels = (isShort ? [label] : []) + Array(repeating: "", count: texts.count)
        return (isShort ? [] : [label])
            + zip(labels, texts).map { Layout.padded($0, to: Self.labelColumns) + $1 }
    }

    private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
