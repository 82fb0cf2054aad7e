/// The progress of a transfer in one line, with as many details as fit.
struct TransferBar {
    var done: Int
    /// `nil` if unknown.
    var total: Int?
    /// Bytes per second; `nil` if unknown.
    var rate: Double?

    private static let barColumns = 20

    func text(columns: Int, isUnicode: Bool) -> String {
        let lines = total.map { candidates(of: $0, isUnicode: isUnicode) } ?? [join([bytes, speed]), bytes]
        // On some terminals the last column starts a new line.
        return lines.first { Layout.width($0) < columns } ?? String(lines.last?.prefix(max(0, columns - 1)) ?? "")
    }

    private func candidates(of total: Int, isUnicode: Bool) -> [String] {
        let share = total == 0 ? 1 : min(1, Double(done) / Double(total))
        let percent = "\(Int(share * 100)) %"
        let columns = Int(share * Double(Self.barColumns))
        let (on, off) = isUnicode ? ("█", "░") : ("#", ".")
        let bar = String(repeating: on, count: columns) + String(repeating: off, count: Self.barColumns - columns)
        let amount = "\(bytes) of \(Self.size(total))"
        return [
            join([bar, percent, amount, speed, left(total)]), join([percent, amount, speed, left(total)]),
            join([percent, amount, speed]), join([percent, amount]), percent,
        ]
    }

    private func join(_ parts: [String?]) -> String { parts.compactMap(\.self).joined(separator: "  ") }

    private var bytes: String { Self.size(done) }

    private var speed: String? { rate.map { Self.size(Int($0)) + "/s" } }

    private func left(_ total: Int) -> String? {
        guard let rate, rate >= 1, done < total else { return nil }
        return Span.text(seconds: (Double(total - done) / rate).rounded(.up)) + " left"
    }

    /// `512 B`, `62.5 KiB`, `200 MiB`.
    static func size(_ bytes: Int) -> String {
        var (value, units) = (Double(bytes), ["KiB", "MiB", "GiB", "TiB"])
        guard bytes >= 1024 else { return "\(bytes) B" }
        value /= 1024
        while value >= 1024, units.count > 1 {
            value /= 1024
            units.removeFirst()
        }
        let tenths = Int(value * 10)
        let isWhole = value >= 100 || tenths % 10 == 0
        return (isWhole ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)") + " " + units[0]
    }
}
