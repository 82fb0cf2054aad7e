/// Scans a TOML document (toml.io, 1.0.0) and records the positions of its keys.
///
/// It runs before the TOML library, which recurses for each level without a limit. The library never receives a text that fails
/// here.
package struct KeyScanner {
    /// Why a text is rejected.
    package struct Refusal: Error, Equatable {
        package let line: Int
        package let expected: String
        package let found: String
    }

    /// Parts of a key, and nested arrays or tables. Profiles have four.
    package static let deepest = 32
    /// Keys of profiles are short.
    package static let longestKey = 256
    /// The whole path is stored for each key: this limits the memory of one.
    package static let longestPath = 512
    /// Keys, tables and elements of arrays. A profile has some hundred; a file of 256 KiB could have a hundred thousand.
    package static let maxPlaces = 10_000

    private let bytes: [UInt8]
    private(set) var places: [String: KeyLines.Place] = [:]
    /// In the order of the text.
    private(set) var headers: [TOMLHeader] = []
    private(set) var pairs: [TOMLPair] = []
    /// A list or table stands after what it contains.
    private(set) var values: [TOMLValue] = []
    private var index = 0
    private var line = 1
    private var depth = 0
    private var table = ""
    /// The number of elements of each array of tables so far.
    private var elements: [String: Int] = [:]

    init(_ text: String) {
        bytes = Array(text.utf8)
        // A byte order mark is not part of the text (the library skips it too).
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
    }

    /// - Throws: at the first syntax error, or beyond a limit. Returns after the whole text.
    mutating func scanDocument() throws(Refusal) {
        try skipBlank()
        while let byte = current {
            if byte == UInt8(ascii: "[") { try scanHeader() } else { try scanPair(in: table) }
            try endLine()
            try skipBlank()
        }
    }

    // MARK: Tables and keys

    private mutating func scanHeader() throws(Refusal) {
        let start = index
        index += 1
        let isArray = current == UInt8(ascii: "[")
        if isArray { index += 1 }
        var path = ""
        let parts = try scanKey()
        for (number, part) in parts.enumerated() {
            path = try joined(path, part)
            try record(path)
            if isArray, number == parts.count - 1 { elements[path, default: 0] += 1 }
            if let count = elements[path] { path = TOMLPath.element(path, count - 1) }
        }
        try record(path)
        table = path
        for _ in 0..<(isArray ? 2 : 1) { try skip("]") }
        headers.append(TOMLHeader(path: path, bytes: start..<index))
    }

    private mutating func scanPair(in table: String, isInline: Bool = false) throws(Refusal) {
        var path = table
        let start = KeyLines.Place(line: line, order: index)
        let parts = try scanKey()
        for part in parts {
            path = try joined(path, part)
            try record(path, at: start)
        }
        try skip("=")
        skipSpaces()
        try scanValue(path)
        pairs.append(TOMLPair(path: path, table: table, bytes: start.order..<index, isInline: isInline))
    }

    private mutating func scanKey() throws(Refusal) -> [String] {
        var parts: [String] = []
        while true {
            skipSpaces()
            let start = index
            if current == UInt8(ascii: "\"") || current == UInt8(ascii: "'") {
                guard !isTriple(bytes[index]) else { throw refusal("a key on one line") }
                parts.append(try scanString())
            } else {
                while let byte = current, TOMLPath.isBare(byte) { index += 1 }
                guard index > start else { throw refusal("a key") }
                parts.append(String(decoding: bytes[start..<index], as: UTF8.self))
            }
            guard parts[parts.count - 1].utf8.count <= Self.longestKey else {
                throw Refusal(line: line, expected: "keys of at most \(Self.longestKey) bytes", found: "a longer one")
            }
            skipSpaces()
            guard current == UInt8(ascii: ".") else { return parts }
            index += 1
            guard parts.count < Self.deepest else { throw tooDeep }
        }
    }

    private func joined(_ path: String, _ part: String) throws(Refusal) -> String {
        let path = TOMLPath.join(path, part)
        guard path.utf8.count <= Self.longestPath else {
            throw Refusal(
                line: line, expected: "keys that have at most \(Self.longestPath) bytes with all tables around them",
                found: "a longer one")
        }
        return path
    }

    // MARK: Values

    private mutating func scanValue(_ path: String) throws(Refusal) {
        let start = index
        let kind: TOMLValue.Kind
        switch current {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): kind = .text(try scanString())
        case UInt8(ascii: "["):
            try nested { scanner throws(Refusal) in try scanner.scanArray(path) }
            kind = .list
        case UInt8(ascii: "{"):
            try nested { scanner throws(Refusal) in try scanner.scanInlineTable(path) }
            kind = .table
        default:
            try scanBareValue()
            kind = .bare(String(decoding: bytes[start..<index], as: UTF8.self))
        }
        values.append(TOMLValue(path: path, bytes: start..<index, kind: kind))
    }

    /// Numbers, dates, `true` and their like.
    private mutating func scanBareValue() throws(Refusal) {
        let start = index
        skipBareValue()
        guard index > start else { throw refusal("a value") }
        // A date and a time may have a space between them.
        if index - start == 10, bytes[start + 4] == UInt8(ascii: "-"), current == UInt8(ascii: " "),
            index + 1 < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[index + 1])
        {
            index += 1
            skipBareValue()
        }
        guard BareValue.isValid(bytes[start..<index]) else {
            let found = String(decoding: bytes[start..<index].prefix(Self.longestKey), as: UTF8.self)
            throw Refusal(
                line: line, expected: "a string in quotes, a number, a date, true or false, a list or a table",
                found: "'\(found)'")
        }
    }

    private mutating func skipBareValue() {
        while let byte = current, TOMLPath.isBare(byte) || "+.:".utf8.contains(byte) { index += 1 }
    }

    private mutating func scanArray(_ path: String) throws(Refusal) {
        index += 1
        var count = 0
        try skipBlank()
        while current != UInt8(ascii: "]") {
            let element = TOMLPath.element(path, count)
            try record(element)
            try scanValue(element)
            count += 1
            try skipBlank()
            guard current == UInt8(ascii: ",") else { break }
            index += 1
            try skipBlank()
        }
        try skip("]")
    }

    /// On one line, except for arrays and multi-line strings inside it.
    private mutating func scanInlineTable(_ path: String) throws(Refusal) {
        index += 1
        skipSpaces()
        if current != UInt8(ascii: "}") {
            try scanPair(in: path, isInline: true)
            skipSpaces()
            while current == UInt8(ascii: ",") {
                index += 1
                try scanPair(in: path, isInline: true)
                skipSpaces()
            }
        }
        try skip("}")
    }

    private mutating func nested(_ scan: (inout KeyScanner) throws(Refusal) -> Void) throws(Refusal) {
        guard depth < Self.deepest else { throw tooDeep }
        depth += 1
        try scan(&self)
        depth -= 1
    }

    private var tooDeep: Refusal {
        Refusal(
            line: line, expected: "at most \(Self.deepest) keys, arrays or tables in one another", found: "more")
    }

    // MARK: Strings

    /// Any of TOML's four kinds of string.
    private mutating func scanString() throws(Refusal) -> String {
        let quote = bytes[index]
        let isLong = isTriple(quote)
        index += isLong ? 3 : 1
        var text: [UInt8] = []
        while true {
            guard let byte = current else { throw refusal("the end of a string") }
            if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") {
                try scanEscape(into: &text, isLong: isLong)
            } else if byte == quote, !isLong || isTriple(quote) {
                break
            } else {
                guard isLong || byte != UInt8(ascii: "\n") else { throw refusal("the end of a string") }
                text.append(byte)
                advance()
            }
        }
        index += isLong ? 3 : 1
        // A multi-line string may end with up to two quotes that belong to it.
        for _ in 0..<2 where isLong && current == quote {
            text.append(quote)
            index += 1
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// An escape after a backslash. At the end of a line in a multi-line string, the text continues in the next line.
    private mutating func scanEscape(into text: inout [UInt8], isLong: Bool) throws(Refusal) {
        index += 1
        guard let byte = current else { throw refusal("the end of a string") }
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"):
            guard isLong else { throw refusal(Self.escapes) }
            advance()
        default:
            var rest = bytes[index...]
            guard let scalar = TOMLEscape.read(&rest) else {
                let isNumber = byte == UInt8(ascii: "u") || byte == UInt8(ascii: "U")
                throw refusal(isNumber ? "an escaped character, as \\u00e4 or \\U0001f600" : Self.escapes)
            }
            // A C string, such as a path, would end there.
            guard scalar != "\0" else {
                throw Refusal(line: line, expected: "text without NUL characters", found: "an escaped one")
            }
            text += Array(String(scalar).utf8)
            index = rest.startIndex
        }
    }

    private static let escapes = "one of b t n f r \" \\ u U behind a backslash"

    private func isTriple(_ quote: UInt8) -> Bool {
        index + 2 < bytes.count && bytes[index] == quote && bytes[index + 1] == quote && bytes[index + 2] == quote
    }

    // MARK: Between values

    private var current: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func advance() {
        if current == UInt8(ascii: "\n") { line += 1 }
        index += 1
    }

    private mutating func skip(_ mark: Unicode.Scalar) throws(Refusal) {
        skipSpaces()
        guard current == UInt8(ascii: mark) else { throw refusal("'\(mark)'") }
        index += 1
    }

    private mutating func skipSpaces() {
        while let byte = current, byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") { index += 1 }
    }

    /// Spaces, ends of lines and comments.
    private mutating func skipBlank() throws(Refusal) {
        while let byte = current {
            switch byte {
            case UInt8(ascii: "#"): skipComment()
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"): advance()
            case UInt8(ascii: "\r"): try skipReturn()
            default: return
            }
        }
    }

    private mutating func skipReturn() throws(Refusal) {
        guard index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: "\n") else {
            throw Refusal(line: line, expected: "the end of a line", found: "a carriage return without a line feed")
        }
        index += 1
    }

    private mutating func skipComment() {
        while let byte = current, byte != UInt8(ascii: "\n") { index += 1 }
    }

    /// Only a comment may follow a table's name or a value.
    private mutating func endLine() throws(Refusal) {
        skipSpaces()
        switch current {
        case nil, UInt8(ascii: "\n"): break
        case UInt8(ascii: "#"): skipComment()
        case UInt8(ascii: "\r"): try skipReturn()
        default: throw refusal("the end of the line")
        }
    }

    private func refusal(_ expected: String) -> Refusal {
        let found =
            switch current {
            case nil: "the end of the file"
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"): "the end of the line"
            default: "'" + String(String(decoding: bytes[index...].prefix(4), as: UTF8.self).prefix(1)) + "'"
            }
        return Refusal(line: line, expected: expected, found: found)
    }

    private mutating func record(_ path: String, at place: KeyLines.Place? = nil) throws(Refusal) {
        guard places[path] == nil else { return }
        guard places.count < Self.maxPlaces else {
            throw Refusal(
                line: line, expected: "at most \(Self.maxPlaces) keys, tables and elements of lists", found: "more")
        }
        places[path] = place ?? KeyLines.Place(line: line, order: index)
    }
}
