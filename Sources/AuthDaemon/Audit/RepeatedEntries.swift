import AuthMachines
import AuthModel
import AuthWire
import Synchronization

/// Counts the repeated requests of one connection in the audit log. Any thread uses it.
///
/// Invariant: at most ``most`` entries, and none after the connection has ended.
final class RepeatedEntries: Sendable {
    /// A program rarely repeats more requests than that at the same time, and each connection holds as many.
    static let most = 8

    private struct Contents {
        /// The first one began first.
        var entries: [RepeatedEntry] = []
        var hasEnded = false
    }

    private let inside = Mutex(Contents())

    /// Counts one more plain token request.
    /// - Parameter token: ``LiveToken/number``
    /// - Returns: the entry that counted it; `nil` if there is none.
    func count(plain token: UInt64, at now: BootInstant, generation: Int, in log: AuditLog) -> RepeatedEntry? {
        inside.withLock { inside in
            guard let entry = inside.entries.first(where: { $0.plainToken == token }),
                entry.covers(now, generation: generation), log.repeated(entry.place, at: now)
            else { return nil }
            return entry
        }
    }

    /// Counts the request in the entry for requests like it, or begins one.
    /// - Parameter token: that was returned.
    /// - Returns: the entry; `nil` if the connection has ended.
    @discardableResult
    func record(_ answered: AnsweredRequest, token: Secret?, generation: Int, in log: AuditLog) -> RepeatedEntry? {
        let (now, digest) = (log.now, answered.digest)
        return inside.withLock { inside in
            if let index = inside.entries.firstIndex(where: { $0.digest == digest }) {
                let entry = inside.entries[index]
                if entry.covers(now, generation: generation), log.repeated(entry.place, at: now) { return entry }
                inside.entries.remove(at: index)
                log.ended(entry.place)
            }
            let place = log.record(
                answered.request, by: answered.caller, rule: answered.rule, enforced: answered.enforced,
                error: answered.error, isCancelled: answered.isCancelled, token: token)
            guard !inside.hasEnded else { return nil }
            if inside.entries.count == Self.most { log.ended(inside.entries.removeFirst().place) }
            let entry = RepeatedEntry(answered, at: place, began: now, generation: generation)
            inside.entries.append(entry)
            return entry
        }
    }

    /// The connection has ended. Requests in progress each get a separate entry.
    func end(in log: AuditLog) {
        inside.withLock { inside in
            for entry in inside.entries { log.ended(entry.place) }
            inside.entries = []
            inside.hasEnded = true
        }
    }
}
