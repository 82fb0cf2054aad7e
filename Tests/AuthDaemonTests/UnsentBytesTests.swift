import AuthFiles
import AuthModel
import Glibc
import NIOCore
import Testing

@testable import AuthDaemon

@Suite("Bytes that a client has not accepted yet")
struct UnsentBytesTests {
    @Test("arrive complete and in order, however much is added and accepted at once")
    func order() throws {
        var random = SeededRandom(seed: 7)
        var unsent = UnsentBytes()
        var (next, received): (UInt8, [UInt8]) = (0, [])
        var added = 0
        for _ in 0..<200 {
            if Bool.random(using: &random) {
                let size = [1, 100, 40 << 10, 100 << 10].randomElement(using: &random) ?? 1
                unsent.append(ByteBuffer(bytes: (0..<size).map { UInt8(truncatingIfNeeded: added + $0) }))
                added += size
            } else {
                var room = [0, 1, 70 << 10, 300 << 10].randomElement(using: &random) ?? 0
                let before = received.count
                let sent = try unsent.send { piece in
                    let count = min(room, piece.readableBytes)
                    room -= count
                    received += piece.readableBytesView.prefix(count)
                    return count
                }
                #expect(sent == received.count - before)
            }
            #expect(unsent.count == added - received.count)
            #expect(unsent.isEmpty == (added == received.count))
        }
        #expect(received.count > 1 << 20)
        #expect(
            received.allSatisfy { byte in
                defer { next &+= 1 }
                return byte == next
            })
    }

    @Test("are joined if they are added little by little, so that one write sends them")
    func joined() throws {
        var unsent = UnsentBytes()
        for _ in 0..<1000 { unsent.append(ByteBuffer(string: "0123456789")) }
        var writes = 0
        let sent = try unsent.send { piece in
            writes += 1
            return piece.readableBytes
        }
        #expect(sent == 10_000 && writes == 1 && unsent.isEmpty)
    }

    @Test("a large buffer with few bytes is not kept for them", arguments: [1, 200, 10_000])
    func spareRoom(count: Int) {
        var unsent = UnsentBytes()
        var buffer = ByteBufferAllocator().buffer(capacity: 64 << 10)
        buffer.writeRepeatingByte(1, count: count)
        unsent.append(buffer)
        #expect(unsent.count == count && unsent.storedBytes <= max(2 * count, 1 << 10))
    }

    @Test("the memory of a large piece is released as it is sent")
    func sentPartly() throws {
        var unsent = UnsentBytes()
        let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        unsent.append(ByteBuffer(bytes: bytes))
        var received: [UInt8] = []
        while !unsent.isEmpty {
            _ = try unsent.send { piece in
                let count = min(1000, piece.readableBytes)
                received += piece.readableBytesView.prefix(count)
                return count
            }
            #expect(unsent.storedBytes <= max(2 * unsent.count, 1 << 10))
        }
        #expect(received == bytes)
    }

    @Test("a client that accepts everything does not get all at once")
    func turns() throws {
        var unsent = UnsentBytes()
        for _ in 1...10 { unsent.append(ByteBuffer(repeating: 1, count: 64 << 10)) }
        var counts: [Int] = []
        while !unsent.isEmpty { counts.append(try unsent.send { $0.readableBytes }) }
        #expect(counts == [256 << 10, 256 << 10, 128 << 10])
    }

    @Test("a long line is cut into pieces that have no spare memory", arguments: [64, 65, 127, 128], [-1, 0, 1])
    func longLine(kibibytes: Int, more: Int) {
        let line = (0..<(kibibytes << 10) + more).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let pieces = Connection.pieces(of: line)
        #expect(pieces.flatMap(\.readableBytesView) == line + [UInt8(ascii: "\n")])
        #expect(pieces.allSatisfy { 1...64 << 10 ~= $0.readableBytes && $0.storageCapacity <= 64 << 10 })
    }

    @Test("if the client has gone, the error is that of the system call, and what was accepted before is not kept")
    func gone() {
        var unsent = UnsentBytes()
        for _ in 1...3 { unsent.append(ByteBuffer(repeating: 1, count: 64 << 10)) }
        var writes = 0
        #expect(throws: SystemFailure("write", number: EPIPE)) {
            try unsent.send { piece throws(SystemFailure) in
                writes += 1
                guard writes < 3 else { throw SystemFailure("write", number: EPIPE) }
                return piece.readableBytes
            }
        }
        #expect(unsent.count == 64 << 10)
    }
}
