import AuthWire

/// Lists entries of the audit log, each on one line: when, what, for which session, with which result, and who.
///
/// On a terminal no line is wider than the screen. In a file or pipe it has whole values, and times in UTC.
struct AuditText {
    let entries: [AuditItem]
    let now: Double
    let screen: Screen

    var text: String {
        let rows = entries.map(cells)
        let widths = (0..<4).map { index in rows.map { Layout.width($0[index]) }.max() ?? 0 }
        return rows.map { cells in
            let padded = zip(cells, widths).map { Layout.padded($0, to: $1) + "  " }.joined()
            let line = padded + (cells.last ?? "")
            return screen.isTerminal ? Layout.shortened(line, to: screen.width, isUnicode: screen.isUnicode) : line
        }.joined(separator: "\n")
    }

    private func cells(_ entry: AuditItem) -> [String] {
        let time =
            screen.isTerminal ? WallClock.text(entry.at, now: now, withSeconds: true) : WallClock.utc(entry.at)
        let result = (entry.error?.rawValue ?? "ok") + (entry.enforced == false ? " (would be denied)" : "")
        return [
            time, entry.method, entry.session?.text ?? "-", entry.count > 1 ? "\(result) \(entry.count)x" : result,
            who(entry) + what(entry),
        ].map { Visible.line($0) }
    }

    private func who(_ entry: AuditItem) -> String {
        guard entry.listener != nil || entry.pid != nil || entry.exe != nil else { return "authd" }
        let places = [
            entry.pid.map { "pid \($0)" }, entry.unit, entry.sandbox.map { "sandbox \($0)" },
            entry.listener == "api" ? nil : entry.listener.map { "listener \($0)" },
        ]
        let known = places.compactMap(\.self)
        return (entry.exe ?? "?") + (known.isEmpty ? "" : " (\(known.joined(separator: ", ")))")
    }

    private func what(_ entry: AuditItem) -> String {
        [
            entry.call ?? entry.endpoint, entry.next == true ? "next page" : nil, entry.scopes.map { "scopes \($0)" },
            entry.audience.map { "audience \($0)" },
            entry.origin.map { "origin \($0)" }, entry.enforced != nil ? "rule \(entry.rule)" : nil,
            entry.readOnly == true ? "nothing changed" : nil, entry.outbox.map { "sent from the outbox: \($0)" },
            entry.purpose.map { "claimed purpose: \($0)" },
        ].compactMap { $0.map { ": " + $0 } }.joined()
    }
}
