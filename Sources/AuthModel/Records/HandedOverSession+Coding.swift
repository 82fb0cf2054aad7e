package import AuthWire

/// Sessions that are handed over, as text: a first line, then one line for each session with its marks and its record.
extension Handover {
    /// The number grows if an older authd would misread the format.
    private static let head = "authd-sessions 1"
    /// The last word of the first line. An authd that does not know it refuses the text.
    private static let partial = "partial"

    package func encoded(of kind: StoreKind) -> Secret {
        var writer = HandoverEncoder()
        return writer.text(of: self, in: kind)
    }

    fileprivate func firstLine(of kind: StoreKind) -> String {
        "\(Self.head) \(kind.rawValue) \(sessions.count)\(isPartial ? " \(Self.partial)" : "")\n"
    }

    /// All of them, or none.
    package static func decode(_ text: Secret, of kind: StoreKind) throws(DamagedRecord) -> Handover {
        let lines = text.revealBytes().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let words = String(decoding: lines.first ?? [], as: UTF8.self).split(separator: " ")
        guard words.count == 4 || words.count == 5 && words[4] == partial, words[0] + " " + words[1] == head else {
            throw DamagedRecord(reason: "it does not begin with '\(head)'")
        }
        guard words[2] == kind.rawValue else {
            throw DamagedRecord(reason: "it comes from a different store than \(kind.rawValue)")
        }
        // The last line also ends with a line break.
        guard let count = Int(words[3]), lines.count - 2 == count, lines.last?.isEmpty == true else {
            throw DamagedRecord(reason: "it is incomplete")
        }
        var sessions: [HandedOverSession] = []
        for line in lines.dropFirst().dropLast() { sessions.append(try HandedOverSession(line)) }
        return Handover(sessions, isPartial: words.count == 5)
    }
}

extension HandedOverSession {
    fileprivate var line: Secret {
        // An authd that does not know `m` reads it as `-`.
        let marks = (isStored ? "k" : mayBeStored ? "m" : "-") + (isUnsaved ? "u" : "-") + " "
        return Secret(bytes: Array(marks.utf8) + record.encoded().revealBytes() + [UInt8(ascii: "\n")])
    }

    fileprivate init(_ line: ArraySlice<UInt8>) throws(DamagedRecord) {
        let marks = Array(line.prefix(3))
        guard marks.count == 3, marks[2] == UInt8(ascii: " ") else { throw DamagedRecord(reason: "it is incomplete") }
        self.init(
            record: try SessionRecord(decoding: Secret(bytes: line.dropFirst(3))),
            isStored: marks[0] == UInt8(ascii: "k"), mayBeStored: marks[0] == UInt8(ascii: "m"),
            isUnsaved: marks[1] == UInt8(ascii: "u"))
    }
}

/// Encodes the sessions that are handed over after each change. It reuses the lines of unchanged sessions, because encoding
/// one costs ten times as much as comparing it.
package struct HandoverEncoder: Sendable {
    /// In the order in which they were written.
    private var written: [(session: HandedOverSession, line: Secret)] = []
    private var size = 0

    package init() {}

    /// - Parameter handover: its sessions are sorted by name. In another order, lines are encoded again.
    package mutating func text(of handover: Handover, in kind: StoreKind) -> Secret {
        let sessions = handover.sessions
        var bytes = Array(handover.firstLine(of: kind).utf8)
        bytes.reserveCapacity(size)
        var lines: [(session: HandedOverSession, line: Secret)] = []
        lines.reserveCapacity(sessions.count)
        var former = written[...]
        for session in sessions {
            while let first = former.first, first.session.record.session < session.record.session {
                former.removeFirst()
            }
            let line = if let first = former.first, first.session == session { first.line } else { session.line }
            lines.append((session, line))
            bytes += line.revealBytes()
        }
        // This wipes the lines of sessions that are gone.
        written = lines
        size = bytes.count
        return Secret(bytes: bytes)
    }
}
