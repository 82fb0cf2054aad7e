import AuthWire

/// The next renewals and ends of sessions, in their order.
struct LiveTimeline {
    struct Entry: Equatable {
        let session: SessionName
        let at: Double
        /// Nothing renews it then: the user signs in again.
        let isEnd: Bool
    }

    private static let gap = "  "
    /// A shorter line shows nothing.
    private static let shortestTrack = 12

    let entries: [Entry]
    private let now: Double

    init(_ sessions: [SessionStatus], now: Double) {
        self.now = now
        entries = sessions.flatMap { status -> [Entry] in
            let end = status.endsAt.map { Entry(session: status.session, at: $0, isEnd: true) }
            guard status.state == .active || status.state == .stale else { return [] }
            let next = status.renews ? status.refreshAt : status.expiresAt
            return [next.map { Entry(session: status.session, at: $0, isEnd: !status.renews) }, end].compactMap(\.self)
        }.sorted { ($0.at, $0.session) < ($1.at, $1.session) }
    }

    /// One line for each of these entries: the time, the session, and on a wide screen how far away it is, compared
    /// with the others.
    func lines(_ range: Range<Int>, _ screen: Screen) -> [String] {
        let shown = entries[range]
        let cells = shown.map { entry in
            [
                WallClock.text(entry.at, now: now),
                entry.at > now ? "in " + Span.text(seconds: entry.at - now) : "now",
                entry.session.text + (entry.isEnd ? " (ends)" : ""),
            ]
        }
        let widths = (0..<3).map { column in cells.map { Layout.width($0[column]) }.max() ?? 0 }
        let room = screen.width - widths.reduce(0, +) - 3 * Self.gap.count
        let horizon = max(1, (shown.last?.at ?? now) - now)
        return zip(shown, cells).map { entry, cells in
            let text = zip(cells, widths).map { Layout.padded($0, to: $1) }.joined(separator: Self.gap)
            guard room >= Self.shortestTrack else { return text }
            let place = Int((max(0, entry.at - now) / horizon * Double(room - 1)).rounded())
            let (line, mark) = screen.isUnicode ? ("─", "●") : ("-", "*")
            return text + Self.gap + String(repeating: line, count: place) + mark
        }
    }
}
