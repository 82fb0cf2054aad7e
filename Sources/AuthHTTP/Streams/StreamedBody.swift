import AuthModel
import NIOCore

/// Adapts a source to the client library. Each iterator reads the source from its start.
struct StreamedBody: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let source: any HTTPBodySource
    let stallDetector: StallDetector
    /// The client's event loops.
    let group: any EventLoopGroup

    func makeAsyncIterator() -> Iterator {
        Iterator(reader: source.begin(), stallDetector: stallDetector, buffers: PieceBuffers(group: group))
    }

    struct Iterator: AsyncIteratorProtocol {
        let reader: any HTTPBodyReader
        let stallDetector: StallDetector
        private var buffers: PieceBuffers
        private var rest = ByteBuffer()

        init(reader: any HTTPBodyReader, stallDetector: StallDetector, buffers: PieceBuffers) {
            self.reader = reader
            self.stallDetector = stallDetector
            self.buffers = buffers
        }

        mutating func next() async throws -> ByteBuffer? {
            while rest.readableBytes == 0 {
                let reader = reader
                let piece = try await stallDetector.pausing { () async throws(TransportError) in
                    try await reader.next()
                }
                switch piece {
                case .bytes(let bytes): rest = ByteBuffer(bytes: bytes)
                case .input(let input):
                    // Otherwise it would keep a buffer that could be used again.
                    rest = ByteBuffer()
                    rest = await buffers.read(input) ?? ByteBuffer()
                case nil:
                    stallDetector.bodySent()
                    return nil
                }
            }
            stallDetector.recordProgress()
            return rest.readSlice(length: Swift.min(rest.readableBytes, HTTPStreamLimits.pieceBytes))
        }
    }
}
