import AuthWire

/// Lists sessions, each on one line.
///
/// On a terminal the table has a header and is never wider than the screen. In a file or pipe it is for programs: whole values,
/// the protocol's words, and `-` for a missing value, so that every line has the same columns.
struct SessionTableText {
    let sessions: [SessionStatus]
    let now: Double
    let screen: Screen

    private static let titles = ["  SESSION", "STATE", "LEFT", "PROVIDER", "ACCOUNT"]
    /// As far as a column is made narrower before others are left out.
    private static let least = [14, 16, 8, 12, 14]

    var text: String { (screen.isTerminal ? fitted : plain).joined(separator: "\n") }

    // MARK: For users

    private var fitted: [String] {
        let rows = sessions.map(cells)
        let columns = Self.titles.indices.map { index in
            let widest = rows.map { Layout.width($0[index]) }.max() ?? 0
            return FittedColumns.Column(
                natural: widest == 0 ? 0 : max(widest, Layout.width(Self.titles[index])), least: Self.least[index])
        }
        let widths = FittedColumns(columns, to: screen.width, shrinking: [1, 3, 4, 0], omitting: [3, 4, 2]).widths
        let header = screen.paint(line(Self.titles, widths) { $1 }, .dim)
        return [header]
            + zip(sessions, rows).map { status, cells in
                var cells = cells
                // The cause is in the status too.
                if Layout.width(cells[1]) > widths[1] { cells[1] = StatusCard.stateName(status.state) }
                return line(cells, widths) { column, text in
                    column == 1 ? screen.paint(text, StatusCard.colour(status.state)) : text
                }
            }
    }

    /// - Parameter painted: called with the column and the text of each cell, before it is padded.
    private func line(_ cells: [String], _ widths: [Int], painted: (Int, String) -> String) -> String {
        let shown = cells.indices.filter { widths[$0] > 0 }
        let end = shown.last { !cells[$0].isEmpty }
        return shown.prefix { $0 <= end ?? 0 }.map { index in
            // The ends of names differ more often than their middles.
            let text = Layout.shortened(
                cells[index], to: widths[index], keepsEnd: index == 0, isUnicode: screen.isUnicode)
            let padding = index == end ? 0 : widths[index] - Layout.width(text) + FittedColumns.gap
            return painted(index, text) + String(repeating: " ", count: padding)
        }.joined()
    }

    private func cells(_ status: SessionStatus) -> [String] {
        let left = status.state == .active ? status.expiresAt.map { $0 - now } : nil
        return [
            (status.isDefault ? "* " : "  ") + status.session.text,
            StatusCard.stateText(status) + (status.lockedSince == nil ? "" : ", locked")
                + (status.unsaved ? ", not saved" : ""),
            left.map { $0 > 0 ? Span.text(seconds: $0) : "" } ?? "",
            status.provider + (status.environment.map { " (\($0))" } ?? ""), StatusCard.who(status),
        ].map { Visible.line($0) }
    }

    // MARK: For programs

    private var plain: [String] {
        let rows = sessions.map { status in
            [
                status.session.text, status.state.rawValue, status.expiresAt.map(WallClock.utc) ?? "",
                status.isDefault ? "default" : "", status.provider, status.environment ?? "", StatusCard.who(status),
            ].map { $0.isEmpty ? "-" : Visible.line($0) }
        }
        let widths = (rows.first ?? []).indices.map { index in rows.map { Layout.width($0[index]) }.max() ?? 0 }
        return rows.map { cells in
            let padded = zip(cells, widths).dropLast().map {
                Layout.padded($0, to: $1) + String(repeating: " ", count: FittedColumns.gap)
            }
            return padded.joined() + (cells.last ?? "")
        }
    }
}
