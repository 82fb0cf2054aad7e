/// Fits the columns of a table to a width: which ones are shown, and how wide each is.
struct FittedColumns {
    struct Column {
        /// The widest cell, or the title.
        let natural: Int
        /// It is not made narrower than this, unless nothing else helps.
        let least: Int
    }

    static let gap = 2

    /// In the order of the columns; 0 for one that is left out.
    private(set) var widths: [Int]

    /// - Parameters:
    ///   - shrinking: the columns that may be made narrower, the first one first.
    ///   - omitting: the columns that may be left out, the first one first.
    init(_ columns: [Column], to room: Int, shrinking: [Int], omitting: [Int]) {
        widths = columns.map { min($0.least, $0.natural) }
        for index in omitting where total > room { widths[index] = 0 }
        for index in columns.indices where widths[index] > 0 { widths[index] = columns[index].natural }
        for index in shrinking where total > room && widths[index] > 0 {
            widths[index] = max(min(columns[index].least, widths[index]), widths[index] - (total - room))
        }
        // A screen that is too narrow for any table.
        for index in shrinking where total > room && widths[index] > 0 {
            widths[index] = max(1, widths[index] - (total - room))
        }
    }

    private var total: Int {
        let shown = widths.filter { $0 > 0 }
        return shown.reduce(0, +) + Self.gap * max(0, shown.count - 1)
    }
}
