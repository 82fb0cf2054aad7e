/// A TOML text whose values can be read and changed. Everything else keeps its bytes: comments, spaces, the order.
package struct TOMLText: Sendable {
    package enum Refusal: Error, Equatable {
        case syntax(KeyScanner.Refusal)
        /// A table has no value itself.
        case isTable
        /// An element of a list, or a key in `{ }`.
        case isPart
        /// The list of tables has no such element.
        case noElement
        /// After the change the text would have another value there.
        case noPlace
    }

    package private(set) var bytes: [UInt8]
    private var headers: [TOMLHeader] = []
    private var pairs: [TOMLPair] = []
    /// In the order of the text, lists and tables before what they contain.
    package private(set) var values: [TOMLValue] = []

    /// - Throws: `syntax`, if the text is not TOML.
    package init(_ text: String) throws(Refusal) {
        bytes = Array(text.utf8)
        try scan()
    }

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// As it is written.
    package func source(of value: TOMLValue) -> String { String(decoding: bytes[value.bytes], as: UTF8.self) }

    package func value(at path: String) -> TOMLValue? { values.first { $0.path == path } }

    /// The values below a table or list of tables, without lists and inline tables around others.
    package func settings(below path: String) -> [TOMLValue] {
        pairs.filter { pair in
            !pair.isInline && (path.isEmpty || pair.path == path || pair.path.isBelow(path))
        }.compactMap { value(at: $0.path) }
    }

    /// Whether a header, or the beginning of a dotted key, names this table.
    package func hasTable(_ path: String) -> Bool {
        headers.contains { $0.path == path || $0.path.isBelow(path) } || pairs.contains { $0.path.isBelow(path) }
    }

    // MARK: Changes

    /// Replaces a value, or adds the key: below a comment that shows it (`#key = …`), otherwise after the last key of its
    /// table; a table that is missing is added at the end.
    /// - Parameter literal: TOML.
    package mutating func set(_ path: [TOMLPath.Component], to literal: String) throws(Refusal) {
        let former = self
        try change(path, to: literal)
        guard value(at: TOMLPath.text(path)).map(source) == literal else {
            self = former
            throw .noPlace
        }
    }

    private mutating func change(_ path: [TOMLPath.Component], to literal: String) throws(Refusal) {
        let full = TOMLPath.text(path)
        if let value = value(at: full) { return try replace(value.bytes, with: literal) }
        guard !hasTable(full) else { throw .isTable }
        guard case .key(let key)? = path.last else { throw .noElement }
        let (parents, name) = (path.dropLast(), TOMLPath.join("", key))
        let parent = TOMLPath.text(parents)
        if let table = value(at: parent), table.kind == .table {
            let last = pairs.last { $0.table == parent }
            let place = last?.bytes.upperBound ?? table.bytes.lowerBound + 1
            return try replace(place..<place, with: last == nil ? " \(name) = \(literal) " : ", \(name) = \(literal)")
        }
        if parent.isEmpty || headers.contains(where: { $0.path == parent }) {
            return try insert("\(name) = \(literal)", at: place(for: name, in: parent))
        }
        if let pair = pairs.last(where: { !$0.isInline && $0.path.isBelow(parent) && !$0.table.isBelow(parent) }) {
            let depth = TOMLPath.components(pair.table)?.count ?? 0
            return try insert("\(TOMLPath.text(path.dropFirst(depth))) = \(literal)", at: end(of: pair.bytes))
        }
        for (number, component) in parents.enumerated() {
            guard case .index = component else { continue }
            guard headers.contains(where: { $0.path == TOMLPath.text(path.prefix(number + 1)) }) else {
                throw .noElement
            }
        }
        let isFirst = bytes.allSatisfy { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
        try insert((isFirst ? "" : lineEnd) + "[\(parent)]\(lineEnd)\(name) = \(literal)", at: bytes.count)
    }

    /// Removes the lines of a key.
    /// - Returns: whether it was there.
    package mutating func unset(_ path: String) throws(Refusal) -> Bool {
        guard let pair = pairs.first(where: { $0.path == path }) else {
            if value(at: path) != nil { throw .isPart }
            if hasTable(path) { throw .isTable }
            return false
        }
        guard !pair.isInline else { throw .isPart }
        let start = bytes[..<pair.bytes.lowerBound].lastIndex(of: Self.newline).map { $0 + 1 } ?? 0
        try replace(start..<end(of: pair.bytes), with: "")
        return true
    }

    // MARK: Places

    private static let newline = UInt8(ascii: "\n")

    private var lineEnd: String {
        guard let first = bytes.firstIndex(of: Self.newline), first > 0 else { return "\n" }
        return bytes[first - 1] == UInt8(ascii: "\r") ? "\r\n" : "\n"
    }

    /// Behind the line feed of the line on which the range ends.
    private func end(of range: Range<Int>) -> Int {
        bytes[range.upperBound...].firstIndex(of: Self.newline).map { $0 + 1 } ?? bytes.count
    }

    /// Where a new key of a table belongs.
    private func place(for key: String, in table: String) -> Int {
        let header = headers.first { $0.path == table }
        let start = header.map { end(of: $0.bytes) } ?? 0
        let next = headers.first { $0.bytes.lowerBound >= start && $0.path != table }?.bytes.lowerBound ?? bytes.count
        if let comment = comment(for: key, in: start..<next) { return comment }
        if let last = pairs.last(where: { $0.table == table && !$0.isInline }) { return end(of: last.bytes) }
        return header == nil ? endOfPreamble(before: next) : start
    }

    /// The end of the line `#key = …`.
    private func comment(for key: String, in range: Range<Int>) -> Int? {
        var start = range.lowerBound
        while start < range.upperBound {
            let end = bytes[start...].firstIndex(of: Self.newline).map { $0 + 1 } ?? bytes.count
            let line = String(decoding: bytes[start..<end], as: UTF8.self).drop(while: \.isSpace)
            let words = line.dropFirst().drop(while: \.isSpace)
            // What looks like a comment may be part of a value of several lines.
            if !pairs.contains(where: { $0.bytes.contains(start) }), line.first == "#", words.hasPrefix(key),
                words.dropFirst(key.count).drop(while: \.isSpace).first == "="
            {
                return end
            }
            start = end
        }
        return nil
    }

    /// Behind the comments at the beginning of the text, which describe all of it, unless a table follows at once: then they
    /// describe the table.
    private func endOfPreamble(before limit: Int) -> Int {
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        var place = start
        while place < limit, bytes[place] == UInt8(ascii: "#") { place = end(of: place..<place) }
        return place >= limit && limit < bytes.count ? start : place
    }

    private mutating func insert(_ lines: String, at place: Int) throws(Refusal) {
        let isOpen = place > 0 && bytes[place - 1] != Self.newline && !(place == 3 && bytes[0] == 0xEF)
        try replace(place..<place, with: (isOpen ? lineEnd : "") + lines + lineEnd)
    }

    private mutating func replace(_ range: Range<Int>, with text: String) throws(Refusal) {
        let former = bytes
        bytes.replaceSubrange(range, with: Array(text.utf8))
        do throws(Refusal) {
            try scan()
        } catch {
            bytes = former
            try scan()
            throw error
        }
    }

    private mutating func scan() throws(Refusal) {
        var scanner = KeyScanner(text)
        do throws(KeyScanner.Refusal) {
            try scanner.scanDocument()
        } catch {
            throw .syntax(error)
        }
        (headers, pairs) = (scanner.headers, scanner.pairs)
        values = scanner.values.sorted { $0.bytes.lowerBound < $1.bytes.lowerBound }
    }
}

extension Character {
    fileprivate var isSpace: Bool { self == " " || self == "\t" }
}

extension String {
    /// Whether this path is of something in that table or list.
    fileprivate func isBelow(_ path: String) -> Bool {
        guard !path.isEmpty, hasPrefix(path) else { return path.isEmpty && !isEmpty }
        return [".", "["].contains(dropFirst(path.count).first)
    }
}
