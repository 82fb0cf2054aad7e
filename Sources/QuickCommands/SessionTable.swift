/// Lists sessions, each on one line (`SessionTableText` of the full program).
struct SessionTable {
    /// `nil` if the full program has to write it: there are no sessions, or it does not fit.
    private(set) var text: ByteString?
    private let screen: Screen
    private let now: Double

    private static var titles: [StaticString] { ["  SESSION", "STATE", "LEFT", "PROVIDER", "ACCOUNT"] }
    private static let gap = 2

    init(_ sessions: [SessionValues], now: Double, screen: Screen) {
        (self.screen, self.now) = (screen, now)
        guard !sessions.isEmpty else { return }
        text = screen.isTerminal ? fitted(sessions) : plain(sessions)
        if let text, text.bytes.contains(.backslash) { self.text = nil }
    }

    // MARK: - For users

    private func fitted(_ sessions: [SessionValues]) -> ByteString? {
        var titles: [ByteString] = []
        for title in Self.titles {
            var cell = ByteString()
            cell.append(title)
            titles.append(cell)
        }
        var rows: [[ByteString]] = []
        for session in sessions { rows.append(cells(session)) }
        var widths = Self.widths(rows)
        // A column without any text is left out.
        for column in widths.indices where widths[column] > 0 {
            widths[column] = max(widths[column], titles[column].bytes.count)
        }
        var (total, shown) = (0, 0)
        for width in widths where width > 0 { (total, shown) = (total + width, shown + 1) }
        guard total + Self.gap * (shown - 1) <= screen.width else { return nil }
        var text = screen.paint(line(titles, widths, nil), .dim)
        for (session, row) in zip(sessions, rows) {
            text.append("\n")
            text.append(line(row, widths, Self.colour(session)))
        }
        return text
    }

    /// - Parameter colour: of the state.
    private func line(_ cells: [ByteString], _ widths: [Int], _ colour: Screen.Colour?) -> ByteString {
        var end = 0
        for column in cells.indices where widths[column] > 0 && !cells[column].bytes.isEmpty { end = column }
        var line = ByteString()
        for column in 0...end where widths[column] > 0 {
            let cell = cells[column]
            line.append(column == 1 ? colour.map { screen.paint(cell, $0) } ?? cell : cell)
            if column < end { line.append(.space, times: widths[column] - cell.bytes.count + Self.gap) }
        }
        return line
    }

    private func cells(_ session: SessionValues) -> [ByteString] {
        var name = ByteString()
        name.append(session.isDefault ? "* " : "  ")
        name.append(session.session)
        var left = ByteString()
        if session.state == .active, let end = session.expiresAt, end > now { left = Span.text(seconds: end - now) }
        var provider = ByteString(session.provider)
        if let environment = session.environment {
            provider.append(" (")
            provider.append(environment)
            provider.append(")")
        }
        return [name, Self.state(session), left, provider, ByteString(session.who)]
    }

    private static func state(_ session: SessionValues) -> ByteString {
        var text = ByteString(spaced: session.stateWord)
        if let cause = session.cause, !cause.equals(session.stateWord) {
            text.append(": ")
            text.append(ByteString(spaced: cause))
        }
        if session.lockedSince != nil { text.append(", locked") }
        if session.isUnsaved { text.append(", not saved") }
        return text
    }

    private static func colour(_ session: SessionValues) -> Screen.Colour {
        switch session.state {
        case .active: .green
        case .stale, .keyringLocked, .signingIn: .yellow
        case .signInRequired: .red
        case .signedOut, nil: .dim
        }
    }

    // MARK: - For programs

    private func plain(_ sessions: [SessionValues]) -> ByteString? {
        var rows: [[ByteString]] = []
        for session in sessions {
            guard let row = Self.values(session) else { return nil }
            rows.append(row)
        }
        let widths = Self.widths(rows)
        var text = ByteString()
        for row in rows {
            if !text.bytes.isEmpty { text.append("\n") }
            for (column, cell) in row.enumerated() {
                text.append(cell)
                let isLast = column == row.count - 1
                if !isLast { text.append(.space, times: widths[column] - cell.bytes.count + Self.gap) }
            }
        }
        return text
    }

    private static func values(_ session: SessionValues) -> [ByteString]? {
        var end = ByteString()
        if let instant = session.expiresAt {
            guard let text = Clock.utc(instant) else { return nil }
            end = text
        }
        var isDefault = ByteString()
        if session.isDefault { isDefault.append("default") }
        let values = [
            ByteString(session.session), ByteString(session.stateWord), end, isDefault, ByteString(session.provider),
            ByteString(session.environment ?? Text()), ByteString(session.who),
        ]
        var none = ByteString()
        none.append("-")
        return values.map { $0.bytes.isEmpty ? none : $0 }
    }

    private static func widths(_ rows: [[ByteString]]) -> [Int] {
        var widths: [Int] = []
        for row in rows {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], cell.bytes.count)
            }
        }
        return widths
    }
}

extension ByteString {
    /// A word of the protocol for people.
    fileprivate init(spaced word: Text) {
        self.init()
        for place in 0..<word.count {
            if let byte = word[place] { append(byte == UInt8(ascii: "_") ? .space : byte, times: 1) }
        }
    }
}
