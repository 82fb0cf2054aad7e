import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

/// Collects the body of a response in memory.
struct CollectingWriter: ResponseBodyWriter {
    final class Collected: Sendable {
        let pieces = Mutex<[ByteBuffer]>([])
    }

    let collected: Collected

    mutating func write(_ buffer: ByteBuffer) async throws {
        collected.pieces.withLock { $0.append(buffer) }
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
