import AuthWire

/// A table of `authc cluster status`, fitted to the screen.
struct ClusterTable {
    struct Row {
        let cells: [String]
        /// The colour of the column STATE, or of the last one.
        let colour: Screen.Colour
    }

    private static let state = "STATE"

    let titles: [String]
    let least: [Int]
    let shrinking: [Int]
    let omitting: [Int]
    let rows: [Row]

    func lines(on screen: Screen) -> [String] {
        let shown = rows.map { $0.cells.map { Visible.line($0) } }
        let columns = titles.indices.map { index in
            FittedColumns.Column(
                natural: ([titles[index]] + shown.map { $0[index] }).map(Layout.width).max() ?? 0, least: least[index])
        }
        let widths = FittedColumns(columns, to: screen.width, shrinking: shrinking, omitting: omitting).widths
        let coloured = titles.firstIndex(of: Self.state) ?? titles.count - 1
        let header = screen.paint(line(titles, widths, screen) { $1 }, .dim)
        return [header]
            + zip(rows, shown).map { row, cells in
                line(cells, widths, screen) { $0 == coloured ? screen.paint($1, row.colour) : $1 }
            }
    }

    /// - Parameter painted: called with the column and the text of each cell, before it is padded.
    private func line(_ cells: [String], _ widths: [Int], _ screen: Screen, painted: (Int, String) -> String) -> String
    {
        let shown = cells.indices.filter { widths[$0] > 0 }
        return shown.map { index in
            // The ends of names differ more often than their middles.
            let text = Layout.shortened(
                cells[index], to: widths[index], keepsEnd: index == 0, isUnicode: screen.isUnicode)
            let padding = index == shown.last ? 0 : widths[index] - Layout.width(text) + FittedColumns.gap
            return painted(index, text) + String(repeating: " ", count: padding)
        }.joined()
    }
}
