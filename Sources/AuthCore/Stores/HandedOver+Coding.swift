package import AuthWire

/// Sessions that are handed over, as text: a head, then one session a line, its marks and its record.
extension HandedOver {
    /// Grows when an older authd would misread it.
    private static let head = "authd-sessions 1"

    package static func encode(_ sessions: [HandedOver], of kind: StoreKind) -> Secret {
        var bytes = Array("\(head) \(kind.rawValue) \(sessions.count)\n".utf8)
        for session in sessions {
            bytes += [session.isKept ? UInt8(ascii: "k") : UInt8(ascii: "-")]
            bytes += [session.isUnsaved ? UInt8(ascii: "u") : UInt8(ascii: "-"), UInt8(ascii: " ")]
            bytes += session.record.encoded().revealBytes() + [UInt8(ascii: "\n")]
        }
        return Secret(bytes: bytes)
    }

    /// All of them, or none.
    package static func decode(_ text: Secret, of kind: StoreKind) throws(DamagedRecord) -> [HandedOver] {
        let lines = text.revealBytes().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let words = String(decoding: lines.first ?? [], as: UTF8.self).split(separator: " ")
        guard words.count == 4, words[0] + " " + words[1] == head else {
            throw DamagedRecord(reason: "it does not begin with '\(head)'")
        }
        guard words[2] == kind.rawValue else {
            throw DamagedRecord(reason: "it is of another store than \(kind.rawValue)")
        }
        // The last line ends, too.
        guard let count = Int(words[3]), lines.count == count + 2, lines.last?.isEmpty == true else {
            throw DamagedRecord(reason: "it is not whole")
        }
        var sessions: [HandedOver] = []
        for line in lines.dropFirst().dropLast() { sessions.append(try HandedOver(line)) }
        return sessions
    }

    private init(_ line: ArraySlice<UInt8>) throws(DamagedRecord) {
        let marks = Array(line.prefix(3))
        guard marks.count == 3, marks[2] == UInt8(ascii: " ") else { throw DamagedRecord(reason: "it is not whole") }
        self.init(
            record: try SessionRecord(decoding: Secret(bytes: line.dropFirst(3))),
            isKept: marks[0] == UInt8(ascii: "k"), isUnsaved: marks[1] == UInt8(ascii: "u"))
    }
}
