import AuthModel
import NIOCore

/// A source as the client library takes it: each iteration is a reading of its own, in pieces that move in time.
struct StreamedBody: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let source: any HTTPBodySource
    let movement: StallDetector

    func makeAsyncIterator() -> Iterator { Iterator(reader: source.begin(), movement: movement) }

    struct Iterator: AsyncIteratorProtocol {
        let reader: any HTTPBodyReader
        let movement: StallDetector
        private var rest = ByteBuffer()

        init(reader: any HTTPBodyReader, movement: StallDetector) {
            self.reader = reader
            self.movement = movement
        }

        mutating func next() async throws -> ByteBuffer? {
            while rest.readableBytes == 0 {
                let reader = reader
                let piece = try await movement.pausing { () async throws(TransportError) in try await reader.next() }
                guard let piece else {
                    movement.bodyIsOut()
                    return nil
                }
                rest = ByteBuffer(bytes: piece)
            }
            movement.note()
            return rest.readSlice(length: Swift.min(rest.readableBytes, HTTPStreamLimits.pieceBytes))
        }
    }
}
