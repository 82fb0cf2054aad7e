import AuthModel
import NIOCore

/// Adapts a source to the client library. Each iterator reads the source from its start.
struct StreamedBody: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let source: any HTTPBodySource
    let stallDetector: StallDetector

    func makeAsyncIterator() -> Iterator { Iterator(reader: source.begin(), stallDetector: stallDetector) }

    struct Iterator: AsyncIteratorProtocol {
        let reader: any HTTPBodyReader
        let stallDetector: StallDetector
        private var rest = ByteBuffer()

        init(reader: any HTTPBodyReader, stallDetector: StallDetector) {
            self.reader = reader
            self.stallDetector = stallDetector
        }

        mutating func next() async throws -> ByteBuffer? {
            while rest.readableBytes == 0 {
                let reader = reader
                let piece = try await stallDetector.pausing { () async throws(TransportError) in try await reader.next()
                }
                guard let piece else {
                    stallDetector.bodySent()
                    return nil
                }
                rest = ByteBuffer(bytes: piece)
            }
            stallDetector.recordProgress()
            return rest.readSlice(length: Swift.min(rest.readableBytes, HTTPStreamLimits.pieceBytes))
        }
    }
}
