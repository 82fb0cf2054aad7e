import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

/// Takes the body of a response into memory.
struct CollectingWriter: ResponseBodyWriter {
    final class Collected: Sendable {
        let bytes = Mutex(ByteBuffer())
    }

    let collected: Collected

    mutating func write(_ buffer: ByteBuffer) async throws {
        collected.bytes.withLock { _ = $0.writeImmutableBuffer(buffer) }
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
