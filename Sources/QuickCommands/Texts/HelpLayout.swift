import CStart

/// The help of a command on lines that fit, as `HelpText` of `authc-full` wraps it.
///
/// In the file, each text to wrap has the byte 1 and a byte for its indent before it, and the byte 2 after it. The byte
/// 3 is a space at which a line is broken only if nothing else fits.
enum HelpLayout {
    private static let start: UInt8 = 1
    private static let end: UInt8 = 2
    private static let keptSpace: UInt8 = 3
    /// The byte for no indent. The next byte stands for one column, and so on.
    private static let noIndent = UInt8.space
    /// As in `HelpWidth` of `authc-full`.
    private static let narrowest = 40
    private static let defaultWidth = 80
    /// The indent of descriptions. On narrow screens, they are below their labels.
    private static let descriptions = 26
    private static let narrow = 64
    private static let narrowIndent = 4

    /// - Returns: `nil` if the file is damaged, or if `COLUMNS` is not a plain number.
    static func text(_ marked: ByteString) -> ByteString? {
        guard let width else { return nil }
        return unsafe marked.bytes.withUnsafeBytes { unsafe laidOut(Text($0), max(width, narrowest)) }
    }

    /// `COLUMNS` has precedence over the terminal (environ(7)).
    private static var width: Int? {
        if let columns = Text(environment: "COLUMNS") { return columns.decimal }
        let columns = Int(start_columns(STDOUT_FILENO))
        return columns > 0 ? columns : defaultWidth
    }

    private static func laidOut(_ marked: Text, _ width: Int) -> ByteString? {
        var (text, rest) = (ByteString(), marked)
        while let (before, after) = rest.divided(at: start) {
            guard let byte = after[0], byte >= noIndent, let (part, others) = after.dropping(1).divided(at: end) else {
                return nil
            }
            var indent = Int(byte - noIndent)
            guard indent < width else { return nil }
            text.append(before)
            if indent == descriptions, width < narrow {
                indent = narrowIndent
                text.removeSpacesAtEnd()
                if text.bytes.last != .lineFeed { text.append(.lineFeed, times: 1) }
                text.append(.space, times: indent)
            }
            append(part, indent: indent, columns: width - indent, to: &text)
            rest = others
        }
        text.append(rest)
        return text
    }

    /// Appends a text that is broken at its line feeds and, where a line is too long, at spaces. The first line is not
    /// indented.
    ///
    /// The steps are those of `authc-full`, so that the result is the same: they also break a line that just fits, if
    /// another one follows.
    private static func append(_ part: Text, indent: Int, columns: Int, to text: inout ByteString) {
        var rest = part
        var isFirst = true
        func append(line: Text) {
            if !isFirst { text.append(.lineFeed, times: 1) }
            if !isFirst, line.count > 0 { text.append(.space, times: indent) }
            var rest = line
            while let (before, after) = rest.divided(at: keptSpace) {
                text.append(before)
                text.append(.space, times: 1)
                rest = after
            }
            text.append(rest)
            isFirst = false
        }
        while true {
            let chunk = rest.prefix(characters: columns)
            if let lineFeed = chunk.lastIndex(of: .lineFeed) {
                var lines = rest.prefix(lineFeed)
                while let (line, others) = lines.divided(at: .lineFeed) {
                    append(line: line)
                    lines = others
                }
                append(line: lines)
                rest = rest.dropping(lineFeed + 1)
            } else if chunk.count == rest.count {
                return append(line: rest)
            } else if let space = chunk.lastIndex(of: .space) ?? chunk.lastIndex(of: keptSpace)
                ?? rest.firstIndex(of: .space, or: keptSpace)
            {
                append(line: rest.prefix(space))
                rest = rest.dropping(space + 1)
            } else {
                return append(line: rest)
            }
        }
    }
}

extension Text {
    fileprivate func firstIndex(of byte: UInt8, or other: UInt8) -> Int? {
        unsafe bytes.firstIndex { $0 == byte || $0 == other }
    }

    fileprivate func lastIndex(of byte: UInt8) -> Int? { unsafe bytes.lastIndex(of: byte) }

    /// The first characters of a text in UTF-8 that has no combined ones.
    fileprivate func prefix(characters: Int) -> Text {
        var left = characters
        var end = 0
        while let byte = self[end] {
            // Every byte of a character but its first is 10xxxxxx.
            if byte & 0xC0 != 0x80 { left -= 1 }
            if left < 0 { break }
            end += 1
        }
        return prefix(end)
    }
}
