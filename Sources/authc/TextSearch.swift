// Swift's own functions with these names are in its module for regular expressions. Their first use adds 1.2 MB to a
// static program (Docs/decisions/size.md), so this target does not import that module.

extension Collection where Element: Equatable {
    /// Where the elements of `other` are one after another for the first time. An empty one is at the start.
    func firstRange(of other: some Collection<Element>) -> Range<Index>? {
        var start = startIndex
        while true {
            if let end = end(of: other, at: start) { return start..<end }
            guard start < endIndex else { return nil }
            formIndex(after: &start)
        }
    }

    /// All places of `other` that do not overlap.
    func ranges(of other: some Collection<Element>) -> [Range<Index>] {
        guard !other.isEmpty else { return [] }
        var (ranges, start) = ([Range<Index>](), startIndex)
        while let range = self[start...].firstRange(of: other) {
            ranges.append(range)
            start = range.upperBound
        }
        return ranges
    }

    func contains(_ other: some Collection<Element>) -> Bool { firstRange(of: other) != nil }

    /// - Returns: `nil` if `other` does not begin at `start`.
    private func end(of other: some Collection<Element>, at start: Index) -> Index? {
        var index = start
        for element in other {
            guard index < endIndex, self[index] == element else { return nil }
            formIndex(after: &index)
        }
        return index
    }
}

extension StringProtocol {
    /// With `replacement` in all places of `text`.
    func replacing(_ text: some StringProtocol, with replacement: some StringProtocol) -> String {
        var (result, start) = ("", startIndex)
        for range in ranges(of: text) {
            result += self[start..<range.lowerBound]
            result += replacement
            start = range.upperBound
        }
        return result + self[start...]
    }
}
