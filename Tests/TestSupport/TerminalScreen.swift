import Foundation
import Glibc

/// What a terminal of some size shows after some output: printed characters, cursor positions and erasures (ECMA-48).
package struct TerminalScreen {
    private let columns: Int
    private let rows: Int
    private var cells: [[Character]]
    private var place = (row: 0, column: 0)
    /// Whether a character did not fit into its line, or a line not on the screen.
    package private(set) var hasOverflowed = false
    /// The rows that the cursor was moved to.
    package private(set) var moves: [Int] = []

    package init(columns: Int, rows: Int) {
        (self.columns, self.rows) = (columns, rows)
        cells = Array(repeating: Array(repeating: " ", count: columns), count: rows)
    }

    /// Without spaces at their ends. The second half of a wide character is left out.
    package var lines: [String] {
        cells.map { row in
            var text = String(row.filter { $0 != Self.half })
            while text.last == " " { text.removeLast() }
            return text
        }
    }

    package var text: String { lines.joined(separator: "\n") }

    /// Forgets the moves, and keeps what is shown.
    package mutating func mark() { moves = [] }

    package mutating func feed(_ text: String) {
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            if scalar == "\u{1B}", rest.first == "[" {
                rest.removeFirst()
                let parameters = String(rest.prefix { (0x20...0x3F).contains($0.value) })
                rest = rest.dropFirst(parameters.unicodeScalars.count)
                if let last = rest.popFirst() { control(parameters, last) }
            } else if scalar == "\r" {
                place.column = 0
            } else if scalar == "\n" {
                place.row += 1
            } else {
                put(scalar)
            }
        }
    }

    private static let half: Character = "\0"

    private mutating func put(_ scalar: Unicode.Scalar) {
        let width = Self.width(scalar)
        guard width > 0 else { return }
        guard place.row < rows, place.column + width <= columns else {
            hasOverflowed = true
            return
        }
        cells[place.row][place.column] = Character(scalar)
        if width == 2 { cells[place.row][place.column + 1] = Self.half }
        place.column += width
    }

    private mutating func control(_ parameters: String, _ last: Unicode.Scalar) {
        let numbers = parameters.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) }
        switch last {
        case "H":
            place = ((numbers[0] ?? 1) - 1, numbers.count > 1 ? (numbers[1] ?? 1) - 1 : 0)
            moves.append(place.row)
        case "A": place.row = max(0, place.row - (numbers[0] ?? 1))
        case "K":
            guard place.row < rows else { return }
            for column in place.column..<max(place.column, columns) { cells[place.row][column] = " " }
        case "J":
            cells = Array(repeating: Array(repeating: " ", count: columns), count: rows)
        default: break
        }
    }

    /// As the C library says, which is not the code under test (wcwidth(3)). Swift does not import the function.
    private static func width(_ scalar: Unicode.Scalar) -> Int {
        guard let symbol = dlsym(nil, "wcwidth") else { return 1 }
        let columns = unsafeBitCast(symbol, to: (@convention(c) (Int32) -> Int32).self)
        let locale = newlocale(1 << LC_CTYPE, "C.UTF-8", nil)
        let former = uselocale(locale)
        defer {
            uselocale(former)
            freelocale(locale)
        }
        return max(0, Int(columns(Int32(bitPattern: scalar.value))))
    }
}
