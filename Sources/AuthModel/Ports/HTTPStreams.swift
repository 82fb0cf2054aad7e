/// A request's body that is not held whole.
package protocol HTTPBodySource: Sendable {
    /// In bytes; `nil`: not known before its end.
    var length: Int? { get }

    /// Begins the body from its start, and ends every reading of before.
    func begin() -> any HTTPBodyReader
}

/// One reading of a body.
package protocol HTTPBodyReader: Sendable {
    /// The next piece when there is one; `nil` at the end.
    /// - Throws: when no more will come. The request ends with it.
    func next() async throws(TransportError) -> [UInt8]?
}

/// Where an answer goes that is not held whole.
package protocol HTTPResponseSink: Sendable {
    /// An answer of 2xx whose body is longer than ``HTTPStreamLimits/pieceBytes``.
    /// - Parameter head: with what came of the body so far.
    /// - Returns: whether the rest is to come in pieces; else it is answered like any other.
    func begin(_ head: HTTPResponse) -> Bool

    /// Returns when there is room for more.
    /// - Throws: when no more is wanted. The request ends with it.
    func receive(_ piece: [UInt8]) async throws(TransportError)
}

/// What both sides take in one go.
package enum HTTPStreamLimits {
    /// Small enough that a line of 2 KiB/s moves one within the time that a silent server is given.
    package static let pieceBytes = 64 << 10
}
