/// Shows the rest of a token's life as a bar.
struct TokenProgressBar {
    /// From 0 to 1.
    let share: Double

    /// - Parameter start: when the token was issued; `nil` if unknown.
    init?(start: Double?, end: Double?, now: Double) {
        guard let start, let end, end > start else { return nil }
        share = min(1, max(0, (end - now) / (end - start)))
    }

    /// The bar is empty only after the end.
    func text(columns: Int, isUnicode: Bool) -> String {
        let full = share == 0 ? 0 : max(1, Int((share * Double(columns)).rounded()))
        let (on, off) = isUnicode ? ("█", "░") : ("#", ".")
        return String(repeating: on, count: full) + String(repeating: off, count: columns - full)
    }
}
