import AuthModel
import AuthWire
import NIOCore

/// Where each response of a connection goes: to a line, into a batch, or nowhere.
///
/// Invariant: a ticket is reserved from ``reserve(for:)`` until ``release(_:)``, its destination until
/// ``removeDestination(of:)``. Unfinished batches have at most `batchBytes` in total, not counting errors.
struct PendingRequests {
    enum Destination: Equatable {
        case line(RPCID)
        case batch(_ number: Int, RPCID)
        /// A notification.
        case notification
        case silentInBatch(_ number: Int)
    }

    /// A complete line for the client.
    enum Line {
        /// Without its line feed.
        case response([UInt8])
        /// The responses of a batch, with the line feed: to add it later could copy a piece.
        case batch([ByteBuffer])
    }

    private struct Batch {
        var missing: Int
        /// The array so far, without its end. One buffer that grows to megabytes would be copied again and again.
        var pieces: [ByteBuffer] = []
        var byteCount = 0
        /// The responses in it that a lock of the agent ends: which piece, and which of its bytes.
        var endsAtLock: [(id: RPCID, piece: Int, place: Range<Int>)] = []

        /// - Returns: the piece and the place in it.
        mutating func append(_ answer: [UInt8]) -> (piece: Int, place: Range<Int>) {
            let separator = UInt8(ascii: pieces.isEmpty ? "[" : ",")
            let needed = 1 + answer.count + PendingRequests.end.utf8.count
            if pieces.last.map({ $0.readableBytes + needed > PendingRequests.pieceLimit }) ?? true {
                pieces.append(ByteBuffer())
            }
            let last = pieces.count - 1
            pieces[last].writeInteger(separator)
            let start = pieces[last].writerIndex
            pieces[last].writeBytes(answer)
            byteCount += 1 + answer.count
            return (last, start..<pieces[last].writerIndex)
        }

        mutating func replace(_ place: Range<Int>, of piece: Int, with answer: [UInt8]) {
            let former = pieces[piece].readableBytesView
            var bytes = ByteBuffer()
            bytes.writeBytes(former[..<place.lowerBound])
            bytes.writeBytes(answer)
            bytes.writeBytes(former[place.upperBound...])
            byteCount += bytes.readableBytes - pieces[piece].readableBytes
            pieces[piece] = bytes
        }
    }

    /// A response is added to the last piece of a batch if both, with ``end``, have at most this many bytes. With one
    /// more, the piece would get twice the memory.
    private static let pieceLimit = 64 << 10
    private static let end = "]\n"
    private let limit: Int
    private let batchBytes: Int
    private var last = 0
    private var places: [Int: Destination] = [:]
    private var running: Set<Int> = []
    private var batches: [Int: Batch] = [:]
    /// The bytes of unfinished batches.
    private(set) var bufferedBytes = 0

    /// - Parameters:
    ///   - limit: tickets that may be reserved at once.
    ///   - batchBytes: for all unfinished batches.
    init(limit: Int, batchBytes: Int) {
        self.limit = limit
        self.batchBytes = batchBytes
    }

    /// No response is pending.
    var isIdle: Bool { places.isEmpty && batches.isEmpty }

    mutating func openBatch(of count: Int) -> Int {
        last += 1
        batches[last] = Batch(missing: count)
        return last
    }

    /// `nil` if all are reserved.
    mutating func reserve(for place: Destination) -> Int? {
        guard running.count < limit else { return nil }
        last += 1
        places[last] = place
        running.insert(last)
        return last
    }

    mutating func removeDestination(of ticket: Int) -> Destination? { places.removeValue(forKey: ticket) }

    mutating func release(_ ticket: Int) { running.remove(ticket) }

    /// The line to send, if this completes one.
    /// - Parameter endsAtLock: whether ``agentLocked()`` replaces the response while its batch is unfinished.
    mutating func deliver(
        _ result: Result<Payload, AgentError>, at place: Destination, endsAtLock: Bool = false
    ) -> Line? {
        switch place {
        case .line(let id): return .response(RPCReply.line(id, result))
        case .notification: return nil
        case .batch(let number, let id):
            var answer = RPCReply.line(id, result)
            if bufferedBytes + answer.count > batchBytes - Self.errorRoom {
                answer = RPCReply.line(id, .failure(.batchTooLarge(batchBytes)))
            }
            return add(answer, to: number, replaceable: endsAtLock ? id : nil)
        case .silentInBatch(let number): return add(nil, to: number)
        }
    }

    /// Replaces responses that unfinished batches hold back, such as those with tokens.
    mutating func agentLocked() {
        for number in batches.keys {
            guard var batch = batches[number], !batch.endsAtLock.isEmpty else { continue }
            bufferedBytes -= batch.byteCount
            // From the end, so that earlier places stay the same.
            for (id, piece, place) in batch.endsAtLock.reversed() {
                batch.replace(place, of: piece, with: RPCReply.line(id, .failure(.agentLocked)))
            }
            batch.endsAtLock = []
            bufferedBytes += batch.byteCount
            batches[number] = batch
        }
    }

    /// For errors that replace responses: 128 of them have 40 kB.
    private static let errorRoom = 64 << 10

    private mutating func add(_ answer: [UInt8]?, to number: Int, replaceable id: RPCID? = nil) -> Line? {
        // Removed, so that its last piece is not copied when it grows.
        guard var batch = batches.removeValue(forKey: number) else { return nil }
        batch.missing -= 1
        bufferedBytes -= batch.byteCount
        if let answer {
            let (piece, place) = batch.append(answer)
            if let id { batch.endsAtLock.append((id, piece, place)) }
        }
        guard batch.missing == 0 else {
            bufferedBytes += batch.byteCount
            batches[number] = batch
            return nil
        }
        // A batch of notifications has no response (JSON-RPC 2.0 §6).
        guard let last = batch.pieces.indices.last else { return nil }
        batch.pieces[last].writeString(Self.end)
        return .batch(batch.pieces)
    }
}

extension AgentError {
    fileprivate static func batchTooLarge(_ limit: Int) -> AgentError {
        AgentError(
            .tooLarge,
            "Responses of unfinished batches on this connection may have at most \(limit >> 20) MiB, and this response "
                + "does not fit: send the request outside of a batch.")
    }
}
