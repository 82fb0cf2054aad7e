/// The lines that differ between two texts, with some equal ones around them.
struct TextDifference {
    /// Equal lines before and after a difference.
    private static let context = 3
    /// Comparing more takes long: then all lines between the equal ends count as different.
    private static let mostComparisons = 4_000_000

    private enum Line {
        case same(Substring), removed(Substring), added(Substring)

        var isSame: Bool { if case .same = self { true } else { false } }

        var text: String {
            switch self {
            case .same(let text): "  \(text)"
            case .removed(let text): "- \(text)"
            case .added(let text): "+ \(text)"
            }
        }
    }

    let lines: [String]

    init(from former: String, to new: String) {
        // A line feed at the end begins no line, unless only one of the two texts has it.
        let endAlike = [former, new].allSatisfy { $0.isEmpty || $0.hasSuffix("\n") }
        func split(_ text: String) -> [Substring] {
            let text = endAlike ? text.dropLast() : text[...]
            return text.isEmpty ? [] : text.split(separator: "\n", omittingEmptySubsequences: false)
        }
        lines = Self.shortened(Self.compared(split(former), split(new)))
    }

    private static func compared(_ former: [Substring], _ new: [Substring]) -> [Line] {
        let start = zip(former, new).prefix { $0 == $1 }.count
        let end = zip(former[start...].reversed(), new[start...].reversed()).prefix { $0 == $1 }.count
        return former[..<start].map(Line.same)
            + changed(Array(former[start..<former.count - end]), Array(new[start..<new.count - end]))
            + former[(former.count - end)...].map(Line.same)
    }

    /// Compares by the longest common subsequence.
    private static func changed(_ former: [Substring], _ new: [Substring]) -> [Line] {
        guard former.count * new.count <= mostComparisons else {
            return former.map(Line.removed) + new.map(Line.added)
        }
        let width = new.count + 1
        var lengths = [Int32](repeating: 0, count: (former.count + 1) * width)
        for row in former.indices.reversed() {
            for column in new.indices.reversed() {
                lengths[row * width + column] =
                    former[row] == new[column]
                    ? lengths[(row + 1) * width + column + 1] + 1
                    : max(lengths[(row + 1) * width + column], lengths[row * width + column + 1])
            }
        }
        var lines: [Line] = []
        var (row, column) = (0, 0)
        while row < former.count, column < new.count {
            if former[row] == new[column] {
                lines.append(.same(former[row]))
                row += 1
                column += 1
            } else if lengths[(row + 1) * width + column] >= lengths[row * width + column + 1] {
                lines.append(.removed(former[row]))
                row += 1
            } else {
                lines.append(.added(new[column]))
                column += 1
            }
        }
        return lines + former[row...].map(Line.removed) + new[column...].map(Line.added)
    }

    private static func shortened(_ lines: [Line]) -> [String] {
        var shown = Set<Int>()
        for (index, line) in lines.enumerated() where !line.isSame {
            shown.formUnion(max(0, index - context)...min(lines.count - 1, index + context))
        }
        var result: [String] = []
        var last = -1
        for index in shown.sorted() {
            if index != last + 1 { result.append("  …") }
            result.append(lines[index].text)
            last = index
        }
        return result
    }
}
