import AuthWire

/// The calls of an asynchronous client: which wait to be sent, which for their answer.
///
/// Invariant: every call that was added leaves exactly once, by one of the functions that return calls.
struct CallQueue {
    typealias Answer = Result<JSON, ClientError>

    struct Call {
        let id: Int64
        let line: [UInt8]
        let sendsSecrets: Bool
        let deadline: Deadline
        let finish: CheckedContinuation<Answer, Never>
    }

    private var live: [Int64: Call] = [:]
    /// In the order they came; some may have left `live` since.
    private var unsent: [Int64] = []
    /// Sent and not answered, also those whose callers have gone: the agent counts them (`requestsPerConnection`).
    private var inFlight: Set<Int64> = []
    private var lastID: Int64 = 0

    mutating func nextID() -> Int64 {
        lastID += 1
        return lastID
    }

    mutating func add(_ call: Call) {
        live[call.id] = call
        unsent.append(call.id)
    }

    var earliestDeadline: Deadline { live.values.lazy.map(\.deadline).min() ?? .never }

    var hasUnsent: Bool { unsent.contains { live[$0] != nil } }

    /// Whether the agent's limit is used up by calls nobody waits for any more: only a new connection helps.
    var isBlocked: Bool { hasUnsent && isFull && !inFlight.contains { live[$0] != nil } }

    private var isFull: Bool { inFlight.count >= Limits.requestsPerConnection }

    /// Those that are not sent yet and may only go to an agent of the same user.
    mutating func unsentSecrets() -> [Call] {
        let waiting = Set(unsent)
        return remove { $0.sendsSecrets && waiting.contains($0.id) }
    }

    /// The lines that may go out now, which count as sent from here on.
    mutating func removeUnsentLines() -> [UInt8] {
        var lines: [UInt8] = []
        var count = 0
        for id in unsent {
            guard !isFull else { break }
            count += 1
            guard let call = live[id] else { continue }
            lines += call.line
            inFlight.insert(id)
        }
        unsent.removeFirst(count)
        return lines
    }

    mutating func answered(_ id: Int64) -> Call? {
        inFlight.remove(id)
        return live.removeValue(forKey: id)
    }

    mutating func cancelled(_ id: Int64) -> Call? {
        live.removeValue(forKey: id)
    }

    mutating func overdue(at now: Deadline) -> [Call] {
        remove { $0.deadline <= now }
    }

    /// The connection is gone: the calls that were sent on it.
    mutating func disconnected() -> [Call] {
        let lost = inFlight
        inFlight = []
        return remove { lost.contains($0.id) }
    }

    mutating func all() -> [Call] {
        unsent = []
        inFlight = []
        return remove { _ in true }
    }

    private mutating func remove(where condition: (Call) -> Bool) -> [Call] {
        let gone = live.values.filter(condition)
        for call in gone { live[call.id] = nil }
        return gone
    }
}
