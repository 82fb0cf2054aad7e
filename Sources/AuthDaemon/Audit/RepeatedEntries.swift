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
    /// - Returns: `false` if there is no entry for it.
    func count(plain token: UInt64, at now: BootInstant, generation: Int, in log: AuditLog) -> Bool {
        inside.withLock { inside in
            for index in inside.entries.indices where inside.entries[index].plainToken == token {
                guard inside.entries[index].covers(now, generation: generation) else { return false }
                return log.repeated(inside.entries[index].place, at: now)
            }
            return false
        }
    }

    /// Counts the request in the entry for requests like it, or begins one.
    /// - Parameter token: that was returned.
    func record(_ answered: AnsweredRequest, token: Secret?, generation: Int, in log: AuditLog) {
        let (now, digest) = (log.now, answered.digest)
        inside.withLock { inside in
            if let index = inside.entries.firstIndex(where: { $0.digest == digest }) {
                let entry = inside.entries[index]
                if entry.covers(now, generation: generation), log.repeated(entry.place, at: now) { return }
                inside.entries.remove(at: index)
                log.ended(entry.place)
            }
            let place = log.record(
                answered.request, by: answered.caller, rule: answered.rule, enforced: answered.enforced,
                error: answered.error, token: token)
            guard !inside.hasEnded else { return }
            if inside.entries.count == Self.most { log.ended(inside.entries.removeFirst().place) }
            inside.entries.append(RepeatedEntry(answered, at: place, began: now, generation: generation))
        }
    }

    /// The connection has ended. Requests in progress are recorded each with an entry of their own.
    func end(in log: AuditLog) {
        inside.withLock { inside in
            for entry in inside.entries { log.ended(entry.place) }
            inside.entries = []
            inside.hasEnded = true
        }
    }
}
