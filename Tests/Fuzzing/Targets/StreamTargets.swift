import AuthDaemon
import AuthGateway
import NIOCore

extension FuzzTarget {
    /// Lines of a client's stream. The first byte is the limit, the second one decides how the others arrive.
    static let lines = FuzzTarget("lines", longest: 2048) { bytes throws(Violation) in
        var input = InputReader(bytes)
        let (limit, size) = (Int(input.byte()), 1 + Int(input.byte() & 31))
        let stream = Array(input.rest)
        var framer = LineFramer(limit: limit)
        var found: [LineFramer.Piece] = []
        var place = 0
        reading: while place < stream.count {
            let end = min(stream.count, place + size)
            framer.append(ByteBuffer(bytes: stream[place..<end]))
            place = end
            while let piece = framer.next() {
                found.append(piece)
                // The connection is closed then.
                if piece == .tooLong { break reading }
            }
            framer.copyRest()
            try require(framer.rest <= limit, "an incomplete line of \(framer.rest) bytes is kept")
            try require(framer.isInMidLine == (framer.rest > 0), "an incomplete line is not noticed")
        }
        let expected = pieces(of: stream, limit: limit)
        try require(found == expected, "found \(found) instead of \(expected)")
    }

    private static func pieces(of stream: [UInt8], limit: Int) -> [LineFramer.Piece] {
        var pieces: [LineFramer.Piece] = []
        let lines = stream.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (number, line) in lines.enumerated() {
            if line.count > limit { return pieces + [.tooLong] }
            if number < lines.count - 1 { pieces.append(.line(ByteBuffer(bytes: line))) }
        }
        return pieces
    }

    /// A stream of events from an MCP server. The first byte decides how it arrives.
    static let events = FuzzTarget("events", longest: 2048) { bytes throws(Violation) in
        var input = InputReader(bytes)
        let size = 1 + Int(input.byte() & 31)
        let stream = Array(input.rest)
        var (whole, parts) = (EventStreamParser(limit: 4096), EventStreamParser(limit: 4096))
        guard let expected = try? whole.append(stream) else { throw Violation("less than the limit is too large") }
        var found: [ServerSentEvent] = []
        for start in stride(from: 0, to: stream.count, by: size) {
            guard let events = try? parts.append(Array(stream[start..<min(stream.count, start + size)])) else {
                throw Violation("less than the limit is too large in parts")
            }
            found += events
        }
        try require(found == expected, "the events depend on how they arrive")
        try require(parts.lastEventID == whole.lastEventID, "the ID depends on how it arrives")
        try require(parts.retry == whole.retry, "the pause depends on how it arrives")
        if let retry = parts.retry { try require(retry >= .zero, "the pause is negative") }
    }
}
