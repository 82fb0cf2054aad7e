// Swift's own functions with these names are in its module for regular expressions. The first use of one adds 1.2 MB to
// a static program (Docs/decisions/size.md), so this target does not import that module.

extension Collection where Element: Equatable {
    /// The first place where the elements of `other` follow one another. If `other` is empty, that is the start.
    func firstRange(of other: some Collection<Element>) -> Range<Index>? {
        var start = startIndex
        while true {
            if let end = end(of: other, at: start) { return start..<end }
            guard start < endIndex else { return nil }
            formIndex(after: &start)
        }
    }

    /// All places of `other`, without overlaps. An empty one has none.
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

// Texts are compared by their Unicode scalars, as the programs that read them do: a combining mark after a quote belongs
// to the same character, but a shell still sees the quote.

extension StringProtocol {
    func firstRange(of other: some StringProtocol) -> Range<Index>? {
        unicodeScalars.firstRange(of: other.unicodeScalars)
    }

    func ranges(of other: some StringProtocol) -> [Range<Index>] { unicodeScalars.ranges(of: other.unicodeScalars) }

    func contains(_ other: some StringProtocol) -> Bool { firstRange(of: other) != nil }

    /// With `replacement` in place of each `text`.
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
