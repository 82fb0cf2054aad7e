import AuthWire
import NIOCore
import TestSupport
import Testing

@testable import AuthDaemon

@Suite("Responses reach their destination")
struct PendingRequestsTests {
    @Test("a batch is complete with its last response")
    func batch() throws {
        var pending = PendingRequests(limit: 2, batchBytes: 1 << 20)
        let batch = pending.openBatch(of: 3)
        let first = pending.deliver(.success(.value(1)), at: .batch(batch, .integer(1)))
        let second = pending.deliver(.success(.value(2)), at: .silentInBatch(batch))
        #expect(first == nil && second == nil)
        #expect(!pending.isIdle)
        let whole = pending.deliver(.failure(.parseError("x")), at: .batch(batch, .integer(3)))
        let answers = try JSON(parsing: try #require(whole).bytes)
        #expect(answers.arrayValue?.count == 2)
        #expect(pending.isIdle)
    }

    @Test("JSON text is added unchanged, and a response beyond the limit becomes an error")
    func largeBatch() throws {
        let limit = 100 << 10
        var pending = PendingRequests(limit: 2, batchBytes: limit)
        let (batch, other) = (pending.openBatch(of: 4), pending.openBatch(of: 1))
        // Not JSON: it is not parsed.
        let text = [UInt8](repeating: UInt8(ascii: "x"), count: 10 << 10)
        for id in 1...3 {
            let line = pending.deliver(.success(.text(text)), at: .batch(batch, .integer(Int64(id))))
            #expect(line == nil)
        }
        #expect(pending.bufferedBytes > 30 << 10)
        // The limit applies to all batches of the connection.
        let put = pending.deliver(.success(.text(text)), at: .batch(other, .integer(9)))
        let small = try JSON(parsing: try #require(put).bytes)
        #expect(small[0]?.errorKind == "too_large" && small[0]?["id"] == 9)
        let whole = pending.deliver(.success(.value(true)), at: .batch(batch, .integer(4)))
        let line = String(decoding: try #require(whole).bytes, as: UTF8.self)
        #expect(line.utf8.count < limit)
        #expect(line.hasPrefix("[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":xxx"))
        #expect(line.hasSuffix("\"result\":true}]\n"))
        #expect(pending.bufferedBytes == 0 && pending.isIdle)
    }

    @Test("a large batch is answered in pieces, and a lock replaces the responses that it ends in any piece")
    func pieces() throws {
        var pending = PendingRequests(limit: 2, batchBytes: 1 << 20)
        let batch = pending.openBatch(of: 9)
        for id in 1...8 {
            let text = [UInt8](repeating: UInt8(ascii: "0") + UInt8(id), count: 40 << 10)
            let early = pending.deliver(
                .success(.text(text)), at: .batch(batch, .integer(Int64(id))), endsAtLock: id.isMultiple(of: 3))
            #expect(early == nil)
        }
        pending.agentLocked()
        #expect(pending.bufferedBytes < 250 << 10)
        let whole = pending.deliver(.success(.value("end")), at: .batch(batch, .integer(9)))
        guard case .batch(let pieces)? = whole else {
            Issue.record("no batch")
            return
        }
        #expect(pieces.count == 8)
        #expect(pieces.allSatisfy { $0.readableBytes <= 64 << 10 })
        let text = String(decoding: try #require(whole).bytes, as: UTF8.self)
        let answers = text.dropFirst().dropLast(2).split(separator: #"{"jsonrpc""#)
        #expect(answers.map { $0.contains("agent_locked") } == (1...9).map { $0 == 3 || $0 == 6 })
        for (index, answer) in answers.enumerated() where index < 8 && index % 3 != 2 {
            #expect(answer.count { $0 == Character("\(index + 1)") } >= 40 << 10)
        }
        #expect(text.hasSuffix("\"result\":\"end\"}]\n") && pending.bufferedBytes == 0)
    }

    @Test("a full piece includes the separators and the end of a batch, and does not grow for them", arguments: [0, 1])
    func fullPiece(more: Int) throws {
        var pending = PendingRequests(limit: 2, batchBytes: 1 << 20)
        let batch = pending.openBatch(of: 2)
        let around = RPCReply.line(.integer(1), .success(Payload.text([]))).count
        // "[", ",", "]" and the line feed have 4 bytes.
        let sizes = [(32 << 10) - 2, (32 << 10) - 2 + more]
        let lines = sizes.enumerated().map { index, size in
            let text = [UInt8](repeating: UInt8(ascii: "1"), count: size - around)
            return pending.deliver(.success(.text(text)), at: .batch(batch, .integer(Int64(index + 1))))
        }
        guard case .batch(let pieces)? = lines[1] else {
            Issue.record("no batch")
            return
        }
        #expect(pieces.count == 1 + more)
        #expect(pieces.reduce(0) { $0 + $1.readableBytes } == (64 << 10) + more)
        #expect(pieces.allSatisfy { $0.storageCapacity <= 64 << 10 })
        #expect(pieces.last.map { Array($0.readableBytesView.suffix(2)) } == Array("]\n".utf8))
    }

    @Test("what an unfinished batch holds back is refused if the agent is locked, unless a locked agent serves it")
    func locked() throws {
        var pending = PendingRequests(limit: 2, batchBytes: 1 << 20)
        let (batch, other) = (pending.openBatch(of: 4), pending.openBatch(of: 2))
        for (id, endsAtLock) in [(1, true), (2, false), (3, true)] as [(Int64, Bool)] {
            let early = pending.deliver(
                .success(.value(.string("secret \(id)"))), at: .batch(batch, .integer(id)), endsAtLock: endsAtLock)
            #expect(early == nil)
        }
        _ = pending.deliver(.success(.value("secret")), at: .batch(other, .integer(9)), endsAtLock: true)
        pending.agentLocked()
        let bytes = pending.bufferedBytes
        let whole = pending.deliver(.success(.value(4)), at: .batch(batch, .integer(4)))
        let answers = try JSON(parsing: try #require(whole).bytes).arrayValue ?? []
        #expect(answers.map { $0["id"] } == [1, 2, 3, 4])
        #expect(answers.map(\.errorKind) == ["agent_locked", nil, "agent_locked", nil])
        #expect(answers[1]["result"] == "secret 2")
        #expect(pending.bufferedBytes > 0 && pending.bufferedBytes < bytes)
        let last = pending.deliver(.success(.value(5)), at: .batch(other, .integer(5)))
        #expect(try JSON(parsing: try #require(last).bytes)[0]?.errorKind == "agent_locked")
        #expect(pending.bufferedBytes == 0 && pending.isIdle)
    }

    @Test("a ticket is reserved until it is released, answered or not")
    func tickets() throws {
        var pending = PendingRequests(limit: 1, batchBytes: 1)
        let taken = pending.reserve(for: .line(.integer(1)))
        let ticket = try #require(taken)
        let (place, again) = (pending.removeDestination(of: ticket), pending.removeDestination(of: ticket))
        #expect(place == .line(.integer(1)))
        #expect(again == nil)
        #expect(pending.isIdle)
        let refused = pending.reserve(for: .notification)
        #expect(refused == nil)
        pending.release(ticket)
        let next = pending.reserve(for: .notification)
        #expect(next != nil)
    }
}

extension PendingRequests.Line {
    fileprivate var bytes: [UInt8] {
        switch self {
        case .response(let bytes): bytes
        case .batch(let pieces): pieces.flatMap(\.readableBytesView)
        }
    }
}
