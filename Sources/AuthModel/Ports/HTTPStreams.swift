/// A request body that is streamed.
package protocol HTTPBodySource: Sendable {
    /// Bytes; `nil`: not known before its end.
    var length: Int? { get }

    /// Starts from the beginning, and ends every earlier reading.
    func begin() -> any HTTPBodyReader
}

/// One reading of a body.
package protocol HTTPBodyReader: Sendable {
    /// The next piece, once there is one; `nil` at the end.
    /// - Throws: when no more will come. The request then fails.
    func next() async throws(TransportError) -> HTTPBodyPiece?
}

package enum HTTPBodyPiece: Sendable {
    case bytes([UInt8])
    /// Bytes in a socket, which stay there until the caller reads them. It does so before it requests the next piece.
    case input(any HTTPBodyInput)
}

/// Bytes of a body in a socket. They are read directly into the buffer from which they are sent.
package protocol HTTPBodyInput: Sendable {
    /// Reads as much as there is and fits, without waiting.
    /// - Returns: the number of bytes; 0 if there are none after all.
    func read(into room: UnsafeMutableRawBufferPointer) -> Int
}

/// Receives a response body in pieces.
package protocol HTTPResponseSink: Sendable {
    /// A response of 2xx whose body is longer than ``HTTPStreamLimits/pieceBytes``.
    /// - Parameter head: with the part of the body received so far.
    /// - Returns: whether to send the rest in pieces; if not, the response is returned as a whole.
    func begin(_ head: HTTPResponse) -> Bool

    /// Accepts as much as it can pass on now, without waiting. ``receive(_:)`` gets the rest.
    /// - Returns: the number of bytes, from the first one on.
    func pass(_ bytes: UnsafeRawBufferPointer) -> Int

    /// Returns when there is room for more.
    /// - Throws: to stop. The request then fails.
    func receive(_ piece: [UInt8]) async throws(TransportError)
}

package enum HTTPStreamLimits {
    /// Small enough that a connection of 2 KiB/s transfers one within the time limit for silent servers.
    package static let pieceBytes = 64 << 10

    /// The most that is read from a client's socket at once, if the connection is quick. It is passed on in pieces.
    package static let longestRead = 128 << 10
}

/// Receives a response while it arrives, whatever its status and length.
package protocol HTTPLiveReceiver: Sendable {
    /// - Parameter head: without its body.
    func begin(_ head: HTTPResponse) async

    /// Returns when there is room for more.
    func receive(_ piece: [UInt8]) async
}

/// A transport whose responses can be read while they arrive.
package protocol HTTPLiveTransport: HTTPTransport {
    /// Sends one request and passes its response on while it arrives. No redirect is followed. Returns at the end of the
    /// response; if the calling task is cancelled, the connection is closed.
    ///
    /// - Parameters:
    ///   - limit: how long the head of the response may take.
    ///   - receiver: called from one task; the server is not read while it waits.
    /// - Throws: if there was no response, or not all of it.
    func stream(
        _ request: HTTPRequest, limit: Duration, to receiver: any HTTPLiveReceiver
    ) async throws(TransportError)
}
