import AuthWire

/// Lists sessions in columns, or each in a few lines if the terminal is too narrow.
struct SessionTableText {
    let sessions: [SessionStatus]
    let now: Double
    let screen: Screen

    var text: String {
        let cells = sessions.map(cells)
        let columns = (0..<3).map { column in cells.map { Layout.width($0[column]) }.max() ?? 0 }
        let lastColumn = cells.map { Layout.width($0[3]) }.max() ?? 0
        // Programs that read a table expect one line for each session.
        let isWide = !screen.isTerminal || columns.reduce(lastColumn) { $0 + $1 + 2 } <= screen.width
        return zip(sessions, cells).map { status, cells in
            isWide ? row(status, cells, columns) : stacked(status, cells)
        }.joined(separator: "\n")
    }

    /// The name, the account, the provider, and the state with its details.
    private func cells(_ status: SessionStatus) -> [String] {
        let place = status.provider + (status.environment.map { " (\($0))" } ?? "")
        var state = StatusCard.stateText(status)
        if status.state == .active, let end = status.expiresAt, end > now {
            state += ", " + Span.text(seconds: end - now) + " left"
        }
        if status.unsaved { state += ", not saved" }
        return [(status.isDefault ? "* " : "  ") + status.session.text, StatusCard.who(status), place, state]
            .map { Visible.line($0) }
    }

    private func row(_ status: SessionStatus, _ cells: [String], _ columns: [Int]) -> String {
        zip(cells, columns).map { Layout.padded($0, to: $1) + "  " }.joined()
            + screen.paint(cells[3], StatusCard.colour(status.state))
    }

    private func stacked(_ status: SessionStatus, _ cells: [String]) -> String {
        let details = cells[1...2].filter { !$0.isEmpty }.flatMap { Layout.wrapped($0, on: screen, indent: 4) }
        let state = Layout.wrapped(cells[3], on: screen, indent: 4).map {
            screen.paint($0, StatusCard.colour(status.state))
        }
        return ([cells[0]] + (details + state).map { "    " + $0 }).joined(separator: "\n")
    }
}
