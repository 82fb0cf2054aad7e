import AuthWire

/// Where each answer of one connection goes: to a line of its own, into a batch, or nowhere.
///
/// Invariant: a ticket is out from ``takeTicket(for:)`` until ``giveBack(_:)``, its place until ``takePlace(of:)``.
struct AnswerDesk {
    enum Place: Equatable {
        case line(RPCID)
        case batch(_ number: Int, RPCID)
        /// A notification.
        case nobody
        case silentInBatch(_ number: Int)
    }

    private struct Batch {
        var missing: Int
        var answers: [JSON] = []
    }

    private let limit: Int
    private var last = 0
    private var places: [Int: Place] = [:]
    private var running: Set<Int> = []
    private var batches: [Int: Batch] = [:]

    /// - Parameter limit: of tickets that are out at once.
    init(limit: Int) {
        self.limit = limit
    }

    /// Nobody waits for an answer.
    var isIdle: Bool { places.isEmpty && batches.isEmpty }

    mutating func openBatch(of count: Int) -> Int {
        last += 1
        batches[last] = Batch(missing: count)
        return last
    }

    /// `nil` when all are out.
    mutating func takeTicket(for place: Place) -> Int? {
        guard running.count < limit else { return nil }
        last += 1
        places[last] = place
        running.insert(last)
        return last
    }

    mutating func takePlace(of ticket: Int) -> Place? { places.removeValue(forKey: ticket) }

    mutating func giveBack(_ ticket: Int) { running.remove(ticket) }

    /// The line to send, if this makes one whole.
    mutating func put(_ result: Result<JSON, AgentError>, at place: Place) -> JSON? {
        switch place {
        case .line(let id): return Self.reply(id, result)
        case .nobody: return nil
        case .batch(let number, let id): return add(Self.reply(id, result), to: number)
        case .silentInBatch(let number): return add(nil, to: number)
        }
    }

    private mutating func add(_ answer: JSON?, to number: Int) -> JSON? {
        guard var batch = batches[number] else { return nil }
        batch.missing -= 1
        if let answer { batch.answers.append(answer) }
        batches[number] = batch.missing > 0 ? batch : nil
        // A batch of notifications is answered with nothing at all (JSON-RPC 2.0 §6).
        return batch.missing > 0 || batch.answers.isEmpty ? nil : .array(batch.answers)
    }

    private static func reply(_ id: RPCID, _ result: Result<JSON, AgentError>) -> JSON {
        switch result {
        case .success(let value): RPCReply.result(id, value)
        case .failure(let error): RPCReply.failure(id, error)
        }
    }
}
