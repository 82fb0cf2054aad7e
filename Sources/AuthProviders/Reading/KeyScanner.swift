/// Walks through a TOML document and notes where its keys are.
struct KeyScanner {
    private let bytes: [UInt8]
    private(set) var places: [String: KeyLines.Place] = [:]
    private(set) var nulLine: Int?
    /// Where a key or a value is nested deeper than ``deepest``; nothing after it is looked at.
    private(set) var tooDeepLine: Int?
    private var index = 0
    private var line = 1
    private var depth = 0
    private var table = ""
    /// How many elements each array of tables has so far.
    private var elements: [String: Int] = [:]

    /// Parts of a key, and arrays or tables in one another. Ours have four; the parser's stack ends after some
    /// ten thousand.
    static let deepest = 32

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    mutating func scanDocument() {
        skipBlank()
        while let byte = current {
            let before = index
            if byte == UInt8(ascii: "[") { scanHeader() } else { scanPair(in: table) }
            skipBlank()
            if index == before { return }
        }
    }

    private mutating func scanHeader() {
        index += 1
        let isArray = current == UInt8(ascii: "[")
        if isArray { index += 1 }
        var path = ""
        let parts = scanKey()
        for (number, part) in parts.enumerated() {
            path = TOMLPath.join(path, part)
            note(path)
            if isArray, number == parts.count - 1 { elements[path, default: 0] += 1 }
            if let count = elements[path] { path = TOMLPath.element(path, count - 1) }
        }
        note(path)
        table = path
        skipLine()
    }

    private mutating func scanPair(in table: String) {
        var path = table
        let start = KeyLines.Place(line: line, order: index)
        for part in scanKey() {
            path = TOMLPath.join(path, part)
            if places[path] == nil { places[path] = start }
        }
        guard current == UInt8(ascii: "=") else { return }
        index += 1
        scanValue(path)
    }

    private mutating func scanValue(_ path: String) {
        skipSpaces()
        switch current {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): _ = scanString()
        case UInt8(ascii: "["): scanArray(path)
        case UInt8(ascii: "{"): scanInlineTable(path)
        default:
            while let byte = current, !",]}#\n".utf8.contains(byte) { index += 1 }
        }
    }

    private mutating func scanArray(_ path: String) {
        guard descend() else { return }
        defer { depth -= 1 }
        index += 1
        var count = 0
        skipBlank()
        while let byte = current, byte != UInt8(ascii: "]") {
            let before = index
            let element = TOMLPath.element(path, count)
            note(element)
            scanValue(element)
            count += 1
            skipSeparator()
            if index == before { return }
        }
        index += 1
    }

    private mutating func scanInlineTable(_ path: String) {
        guard descend() else { return }
        defer { depth -= 1 }
        index += 1
        skipBlank()
        while let byte = current, byte != UInt8(ascii: "}") {
            let before = index
            scanPair(in: path)
            skipSeparator()
            if index == before { return }
        }
        index += 1
    }

    private mutating func scanKey() -> [String] {
        var parts: [String] = []
        while true {
            skipSpaces()
            guard let byte = current else { return parts }
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                parts.append(scanString())
            } else {
                let start = index
                while let byte = current, TOMLPath.isBare(byte) { index += 1 }
                guard index > start else { return parts }
                parts.append(String(decoding: bytes[start..<index], as: UTF8.self))
            }
            skipSpaces()
            guard current == UInt8(ascii: ".") else { return parts }
            index += 1
            guard parts.count < Self.deepest else {
                giveUp()
                return parts
            }
        }
    }

    private mutating func descend() -> Bool {
        depth += 1
        guard depth > Self.deepest else { return true }
        depth -= 1
        giveUp()
        return false
    }

    private mutating func giveUp() {
        tooDeepLine = tooDeepLine ?? line
        index = bytes.count
    }

    /// Any of TOML's four kinds of string.
    private mutating func scanString() -> String {
        let quote = bytes[index]
        let isLong = isTriple(quote)
        let width = isLong ? 3 : 1
        index += width
        var text: [UInt8] = []
        while let byte = current {
            if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") {
                scanEscape(into: &text)
                continue
            }
            if byte == quote, !isLong || isTriple(quote) { break }
            text.append(byte)
            advance()
        }
        index = min(index + width, bytes.count)
        // A long string may end in up to two quotes of its own.
        while isLong, current == quote { index += 1 }
        return String(decoding: text, as: UTF8.self)
    }

    /// What stands behind a backslash; a line that goes on in the next one is nothing.
    private mutating func scanEscape(into text: inout [UInt8]) {
        index += 1
        guard let byte = current else { return }
        switch byte {
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "u"), UInt8(ascii: "U"):
            let digits = bytes[(index + 1)...].prefix(byte == UInt8(ascii: "u") ? 4 : 8)
            guard let value = UInt32(String(decoding: digits, as: UTF8.self), radix: 16),
                let scalar = Unicode.Scalar(value)
            else { break }
            if value == 0 { nulLine = nulLine ?? line }
            text += Array(String(scalar).utf8)
            index += digits.count
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): text.append(byte)
        default: break
        }
        advance()
    }

    private func isTriple(_ quote: UInt8) -> Bool {
        index + 2 < bytes.count && bytes[index] == quote && bytes[index + 1] == quote && bytes[index + 2] == quote
    }

    private var current: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func advance() {
        if current == UInt8(ascii: "\n") { line += 1 }
        index += 1
    }

    private mutating func skipSpaces() {
        while let byte = current, byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") { index += 1 }
    }

    /// Spaces, ends of lines and comments.
    private mutating func skipBlank() {
        while let byte = current {
            if byte == UInt8(ascii: "#") {
                skipLine()
            } else if " \t\r\n".utf8.contains(byte) {
                advance()
            } else {
                return
            }
        }
    }

    private mutating func skipSeparator() {
        skipBlank()
        if current == UInt8(ascii: ",") { index += 1 }
        skipBlank()
    }

    private mutating func skipLine() {
        while let byte = current, byte != UInt8(ascii: "\n") { index += 1 }
    }

    private mutating func note(_ path: String) {
        if places[path] == nil { places[path] = KeyLines.Place(line: line, order: index) }
    }
}
