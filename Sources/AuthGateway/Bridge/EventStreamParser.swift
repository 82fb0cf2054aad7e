/// One event of a stream of server-sent events.
package struct ServerSentEvent: Sendable, Equatable {
    /// `message` if the server names none.
    package let type: String
    package let data: [UInt8]
}

/// Reads `text/event-stream` as the WHATWG HTML standard defines it (§9.2.6), in pieces of any size.
///
/// Invariant: it holds no more than ``limit`` bytes of an unfinished event. Comments and unknown fields are not held.
package struct EventStreamParser: Sendable {
    package struct TooLarge: Error, Equatable {
        package let limit: Int
    }

    /// The ID of the last event that was complete; empty if no event had one.
    package private(set) var lastEventID: String
    /// What the server asks for as the pause before a reconnection.
    package private(set) var retry: Duration?

    private let limit: Int
    private var line: [UInt8] = []
    /// The rest of the line is neither needed nor kept.
    private var skipsLine = false
    private var lastWasReturn = false
    /// Bytes of a byte order mark at the beginning; `nil` after the first other byte.
    private var markBytes: Int? = 0

    private var data: [UInt8] = []
    private var type = ""
    /// Takes effect at the end of the event.
    private var nextID: String

    package init(limit: Int, lastEventID: String = "", retry: Duration? = nil) {
        self.limit = limit
        self.lastEventID = lastEventID
        self.retry = retry
        nextID = lastEventID
    }

    /// - Returns: the events that are complete now. An event that is not complete at the end of the stream does not count.
    package mutating func append(_ piece: [UInt8]) throws(TooLarge) -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        var rest = withoutMark(piece[...])
        while let end = rest.firstIndex(where: { $0 == Self.lineFeed || $0 == Self.carriageReturn }) {
            let part = rest[..<end]
            let isSecondOfPair = lastWasReturn && part.isEmpty && rest[end] == Self.lineFeed
            lastWasReturn = rest[end] == Self.carriageReturn
            rest = rest[(end + 1)...]
            if isSecondOfPair { continue }
            try hold(part)
            try endLine(&events)
        }
        if !rest.isEmpty {
            lastWasReturn = false
            try hold(rest)
        }
        return events
    }

    private static let lineFeed: UInt8 = 0x0A
    private static let carriageReturn: UInt8 = 0x0D
    private static let colon = UInt8(ascii: ":")
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// One byte order mark at the very beginning is ignored.
    private mutating func withoutMark(_ piece: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = piece
        while let seen = markBytes, let byte = rest.first {
            guard byte == Self.byteOrderMark[seen] else {
                // Its first bytes belong to the stream.
                markBytes = nil
                return seen == 0 ? rest : Self.byteOrderMark[..<seen] + rest
            }
            rest = rest.dropFirst()
            markBytes = seen + 1 == Self.byteOrderMark.count ? nil : seen + 1
        }
        return rest
    }

    private mutating func hold(_ part: ArraySlice<UInt8>) throws(TooLarge) {
        guard !skipsLine, !part.isEmpty else { return }
        if line.isEmpty, part.first == Self.colon {
            skipsLine = true
            return
        }
        guard line.count + data.count + part.count <= limit else { throw TooLarge(limit: limit) }
        line.append(contentsOf: part)
    }

    private mutating func endLine(_ events: inout [ServerSentEvent]) throws(TooLarge) {
        defer {
            line.removeAll(keepingCapacity: line.capacity <= 64 << 10)
            skipsLine = false
        }
        if skipsLine { return }
        guard !line.isEmpty else { return dispatch(&events) }
        let name = line.prefix { $0 != Self.colon }
        var value = line[name.endIndex...].dropFirst()
        if value.first == 0x20 { value = value.dropFirst() }
        switch String(decoding: name, as: UTF8.self) {
        case "data":
            guard data.count + value.count < limit else { throw TooLarge(limit: limit) }
            data.append(contentsOf: value)
            data.append(Self.lineFeed)
        case "event": type = String(decoding: value.prefix(BridgeLimits.headerBytes), as: UTF8.self)
        case "id":
            // One that no header can carry is not kept.
            let fits = value.count <= BridgeLimits.headerBytes
            if !value.contains(0) { nextID = fits ? String(decoding: value, as: UTF8.self) : "" }
        case "retry":
            if !value.isEmpty, value.allSatisfy({ (0x30...0x39).contains($0) }) {
                // More digits than any number that is respected.
                retry = .milliseconds(Int64(String(decoding: value, as: UTF8.self)) ?? .max / 1_000_000)
            }
        default: break
        }
    }

    private mutating func dispatch(_ events: inout [ServerSentEvent]) {
        lastEventID = nextID
        defer {
            data = []
            type = ""
        }
        guard !data.isEmpty else { return }
        data.removeLast()
        events.append(ServerSentEvent(type: type.isEmpty ? "message" : type, data: data))
    }
}
