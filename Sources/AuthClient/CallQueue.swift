import AuthConnection
import AuthWire

/// The calls of an asynchronous client: unsent ones, and those in flight.
///
/// Invariant: every call is returned exactly once, by one of the functions that return calls.
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
    /// In the order of adding. Some may no longer be in `live`.
    private var unsent: [Int64] = []
    /// Sent without a response yet, even for cancelled calls: the agent counts them (`requestsPerConnection`).
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

    /// Whether cancelled calls use up the agent's limit, so that only a new connection helps.
    var isBlocked: Bool { hasUnsent && isFull && !inFlight.contains { live[$0] != nil } }

    private var isFull: Bool { inFlight.count >= Limits.requestsPerConnection }

    /// Removes the unsent calls that may only go to an agent of the same user.
    mutating func unsentSecrets() -> [Call] {
        let waiting = Set(unsent)
        return remove { $0.sendsSecrets && waiting.contains($0.id) }
    }

    /// The lines that may be sent now. They count as sent.
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

    /// Removes the calls that were sent on a lost connection.
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
