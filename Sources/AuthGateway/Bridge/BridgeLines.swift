/// Splits standard input into lines.
package struct BridgeLines: Sendable {
    package enum Line: Sendable, Equatable {
        case text([UInt8])
        /// Longer than the limit; its bytes are dropped.
        case tooLong
    }

    private let limit: Int
    private var rest: [UInt8] = []
    private var isSkipping = false

    package init(limit: Int = BridgeLimits.messageBytes) {
        self.limit = limit
    }

    /// Empty lines are left out.
    package mutating func append(_ bytes: [UInt8]) -> [Line] {
        var lines: [Line] = []
        var left = bytes[...]
        while let end = left.firstIndex(of: 0x0A) {
            hold(left[..<end])
            left = left[(end + 1)...]
            finishLine(&lines)
        }
        hold(left)
        return lines
    }

    /// What follows the last line break.
    package mutating func finish() -> [Line] {
        var lines: [Line] = []
        finishLine(&lines)
        return lines
    }

    private mutating func hold(_ part: ArraySlice<UInt8>) {
        guard !isSkipping else { return }
        guard rest.count + part.count <= limit else {
            rest = []
            isSkipping = true
            return
        }
        rest.append(contentsOf: part)
    }

    private mutating func finishLine(_ lines: inout [Line]) {
        if rest.last == 0x0D { rest.removeLast() }
        if isSkipping {
            lines.append(.tooLong)
        } else if rest.contains(where: { $0 != 0x20 && $0 != 0x09 }) {
            lines.append(.text(rest))
        }
        rest = []
        isSkipping = false
    }
}
