import AuthModel
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import AuthHTTP

@Suite("Buffers for pieces of a body")
struct PieceBuffersTests {
    /// A socket that always has more: each read brings another byte, as often as fits.
    private final class Endless: HTTPBodyInput {
        private let last = Mutex<UInt8>(0)
        private let most: Int

        init(most: Int = .max) { self.most = most }

        func read(into room: UnsafeMutableRawBufferPointer) -> Int {
            let byte = last.withLock { last in
                last += 1
                return last
            }
            let count = min(room.count, most)
            for place in 0..<count { room[place] = byte }
            return count
        }
    }

    @Test("pieces that are still being sent keep their bytes, however many there are")
    func kept() async throws {
        var buffers = PieceBuffers(group: MultiThreadedEventLoopGroup.singleton)
        let input = Endless(most: 10)
        var pieces: [ByteBuffer] = []
        for _ in 1...12 { pieces.append(try #require(await buffers.read(input))) }
        for (place, piece) in pieces.enumerated() {
            #expect(Array(piece.readableBytesView) == Array(repeating: UInt8(place + 1), count: 10))
        }
        // Otherwise a client that writes little at a time would have a whole buffer kept for each write.
        #expect(buffers.allocations <= PieceBuffers.count)
        #expect(pieces.reduce(0) { $0 + $1.storageCapacity } < HTTPStreamLimits.pieceBytes)
    }

    @Test("buffers whose bytes were sent are used again, and others are not")
    func again() async throws {
        var buffers = PieceBuffers(group: MultiThreadedEventLoopGroup.singleton)
        let input = Endless()
        for _ in 1...10 * PieceBuffers.count { _ = try #require(await buffers.read(input)) }
        #expect(buffers.allocations == PieceBuffers.count)
        var held: [ByteBuffer] = []
        for _ in 1...2 * PieceBuffers.count { held.append(try #require(await buffers.read(input))) }
        // The first of them were made before.
        #expect(buffers.allocations == 2 * PieceBuffers.count)
        // A part of a buffer keeps the whole of it.
        var last = try #require(held.last)
        let part = last.readSlice(length: 1)
        held = []
        last = ByteBuffer()
        for _ in 1...PieceBuffers.count { _ = try #require(await buffers.read(input)) }
        #expect(buffers.allocations == 2 * PieceBuffers.count + 1)
        #expect(part?.readableBytes == 1)
    }

    @Test("reads begin short, grow to a limit while the connection is quick, and are short again after a slow one")
    func sizes() async throws {
        let start = ContinuousClock.now
        let passed = Mutex(Duration.zero)
        var buffers = PieceBuffers(group: MultiThreadedEventLoopGroup.singleton) { start + passed.withLock { $0 } }
        let input = Endless()
        func read(after wait: Duration) async throws -> Int {
            passed.withLock { $0 += wait }
            return try #require(await buffers.read(input)).readableBytes
        }
        let (short, long) = (HTTPStreamLimits.pieceBytes, HTTPStreamLimits.longestRead)
        var sizes: [Int] = []
        for _ in 1...4 { sizes.append(try await read(after: .milliseconds(500))) }
        #expect(sizes == [short, long, long, long])
        #expect(try await read(after: .milliseconds(501)) == short)
        #expect(try await read(after: .zero) == long)
        let none = await buffers.read(Endless(most: 0))
        #expect(none == nil)
    }

    @Test("the connection gets no piece that takes a slow one longer than the limit for silence")
    func passedOn() async throws {
        let body = StreamedBody(
            source: Repeating(count: 3), stallDetector: StallDetector(),
            group: MultiThreadedEventLoopGroup.singleton)
        var sizes: [Int] = []
        for try await piece in body { sizes.append(piece.readableBytes) }
        let piece = HTTPStreamLimits.pieceBytes
        #expect(sizes == Array(repeating: piece, count: sizes.count))
        // The first read is short, later ones may be longer.
        #expect(sizes.count >= 3)
    }

    /// A body of a few reads.
    private struct Repeating: HTTPBodySource, HTTPBodyReader {
        let count: Int
        let length: Int? = nil
        private let left: Left
        private let input = Endless()

        private final class Left: Sendable {
            let count: Mutex<Int>

            init(_ count: Int) { self.count = Mutex(count) }
        }

        init(count: Int) {
            self.count = count
            left = Left(count)
        }

        func begin() -> any HTTPBodyReader { self }

        func next() async throws(TransportError) -> HTTPBodyPiece? {
            let isLeft = left.count.withLock { left in
                left -= 1
                return left >= 0
            }
            return isLeft ? .input(input) : nil
        }
    }
}
