import AuthWire

/// Lists entries of the audit log: when, what, for which session, with which result, and who.
///
/// On a terminal no line is wider than the screen: if the program does not fit beside the rest, an entry has several
/// lines. In a file or pipe each entry is one line with whole values, and times in UTC.
struct AuditText {
    let entries: [AuditItem]
    let now: Double
    let screen: Screen

    private static let gap = "  "
    /// Enough for a program's name, and the start of what it has requested.
    private static let leastCallerColumns = 30

    var text: String {
        let rows = entries.map(cells)
        let widths = (0..<4).map { index in rows.map { Layout.width($0[index]) }.max() ?? 0 }
        let room = screen.width - widths.reduce(0) { $0 + $1 + Self.gap.count }
        return zip(entries, rows).flatMap { entry, cells in
            let padded = zip(cells, widths).map { Layout.padded($0, to: $1) + Self.gap }.joined()
            guard screen.isTerminal else { return [padded + path(entry) + details(entry)] }
            if room >= Self.leastCallerColumns { return [padded + caller(entry, to: room)] }
            return lines(cells) + [Self.gap + caller(entry, to: screen.width - Self.gap.count)]
        }.joined(separator: "\n")
    }

    /// As many cells on a line as fit.
    private func lines(_ cells: [String]) -> [String] {
        var (lines, line) = ([String](), cells[0])
        for cell in cells.dropFirst() {
            let longer = line + Self.gap + cell
            if Layout.width(longer) <= screen.width {
                line = longer
            } else {
                lines.append(line)
                line = Layout.shortened(Self.gap + cell, to: screen.width, isUnicode: screen.isUnicode)
            }
        }
        return lines + [line]
    }

    private func cells(_ entry: AuditItem) -> [String] {
        let time =
            screen.isTerminal ? WallClock.text(entry.at, now: now, withSeconds: true) : WallClock.utc(entry.at)
        let failure = entry.cancelled == true ? "cancelled" : entry.error?.rawValue
        let result = (failure ?? "ok") + (entry.enforced == false ? " (would be denied)" : "")
        let cells = [
            time, entry.method, entry.session?.text ?? "-", entry.count > 1 ? "\(result) \(entry.count)x" : result,
        ]
        return cells.map { Visible.line($0) }
    }

    /// The program and its request in so many columns. A long path is shortened at its start first, down to the
    /// program's name, which says more than its folders.
    private func caller(_ entry: AuditItem, to columns: Int) -> String {
        let (path, details) = (path(entry), details(entry))
        let name = path.split(separator: "/").last.map { "/" + $0 } ?? path
        let least = Layout.width(screen.shown("…") + name)
        let shown = Layout.end(
            of: path, to: max(least, columns - Layout.width(details)), isUnicode: screen.isUnicode)
        return Layout.shortened(shown + details, to: columns, isUnicode: screen.isUnicode)
    }

    /// The path of the program, as far as it is known, or the name of authc or authd.
    private func path(_ entry: AuditItem) -> String {
        Visible.line(isOfAgent(entry) ? "authd" : entry.program ?? "?")
    }

    private func isOfAgent(_ entry: AuditItem) -> Bool {
        entry.listener == nil && entry.pid == nil && entry.exe == nil
    }

    /// Where the program runs, and what it has requested.
    private func details(_ entry: AuditItem) -> String {
        let places = [
            entry.exeUncertain == true ? "path not verified" : nil, entry.pid.map { "pid \($0)" }, entry.unit,
            entry.sandbox.map { "sandbox \($0)" },
            entry.listener == "api" ? nil : entry.listener.map { "listener \($0)" },
        ].compactMap(\.self)
        let isKnown = !isOfAgent(entry) && !places.isEmpty
        return Visible.line((isKnown ? " (\(places.joined(separator: ", ")))" : "") + what(entry))
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

extension AuditItem {
    /// The path of the program, or `authc` if it is this program: users start `authc`, which starts the program with
    /// the commands.
    var program: String? {
        let isOwn = exe != nil && exe == InstalledProgram.path && exeUncertain != true
        return isOwn ? "authc" : exe
    }
}
