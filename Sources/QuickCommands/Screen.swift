import CStart

/// What stdout can show (`Screen` of the full program).
struct Screen {
    let width: Int
    let isTerminal: Bool
    let isColoured: Bool
    let isUnicode: Bool

    private static let narrowest = 20
    private static let defaultWidth = 80

    enum Colour {
        case green, yellow, red, dim, bold
    }

    init() {
        isTerminal = isatty(STDOUT_FILENO) == 1
        let columns = isTerminal ? Int(start_columns(STDOUT_FILENO)) : 0
        width = columns > 0 ? max(columns, Self.narrowest) : Self.defaultWidth
        let isDumb = Text(environment: "TERM").map { $0.equals("dumb") } ?? true
        isColoured = isTerminal && !isDumb && Text(environment: "NO_COLOR") == nil
        let locale = Text(environment: "LC_ALL") ?? Text(environment: "LC_CTYPE") ?? Text(environment: "LANG")
        isUnicode = locale.map { $0.ends(with: "UTF-8") || $0.ends(with: "UTF8") } ?? false
    }

    func paint(_ text: ByteString, _ colour: Colour) -> ByteString {
        guard isColoured else { return text }
        var painted = ByteString()
        painted.append("\u{1B}[")
        switch colour {
        case .green: painted.append("32")
        case .yellow: painted.append("33")
        case .red: painted.append("31")
        case .dim: painted.append("2")
        case .bold: painted.append("1")
        }
        painted.append("m")
        painted.append(text)
        painted.append("\u{1B}[0m")
        return painted
    }

    /// Whether the text, after so many columns, is one line as it is. A terminal's lines are wrapped, and have single spaces.
    func isLine(_ text: ByteString, indent: Int = 0) -> Bool {
        guard isTerminal else { return true }
        var last = UInt8.space
        for byte in text.bytes {
            if byte == .space, last == .space { return false }
            last = byte
        }
        return last != .space && text.bytes.count <= width - indent
    }
}

extension Text {
    /// - Parameter end: in capital letters; the text may have small ones.
    fileprivate func ends(with end: StaticString) -> Bool {
        guard count >= end.utf8CodeUnitCount else { return false }
        var capital = ByteString()
        for place in count - end.utf8CodeUnitCount..<count {
            guard let byte = self[place] else { return false }
            let isSmall = byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z")
            capital.append(isSmall ? byte - 0x20 : byte, times: 1)
        }
        return unsafe capital.bytes.withUnsafeBytes { unsafe Text($0).equals(end) }
    }
}
