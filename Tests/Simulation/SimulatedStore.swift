import AuthMachines
import AuthModel

/// A store as ``SessionStore`` promises it: whole records, one call after the other, errors of every kind.
final class SimulatedStore {
    var behaviour = StoreBehaviour.ready
    /// What survives everything.
    private(set) var records: [Int: SessionRecord] = [:]
    /// Records that another program has written since an agent last read or wrote them, without a report.
    private(set) var unseen: Set<Int> = []

    enum Call {
        indirect case save(SessionRecord, replacesOther: Bool)
        case delete
        case compare
        case load(RenewalRequestID)

        var isChange: Bool {
            switch self {
            case .save, .delete: true
            case .compare, .load: false
            }
        }
    }

    /// How a call made now goes on: whether it is carried out, and what is answered when.
    func fate(usual time: Duration) -> (carriedOut: Bool, error: StoreError?, after: Duration) {
        switch behaviour {
        case .ready: (true, nil, time)
        case .slow(let time): (true, nil, time)
        case .locked: (false, .locked, time)
        case .failing: (false, .failed(reason: "disk full"), time)
        case .silent(let carriesOut): (carriesOut, .notAnswering(after: Self.limit), Self.limit)
        }
    }

    /// - Returns: what was not overwritten, as it is newer.
    @discardableResult
    func carryOut(_ call: Call, for session: Int) -> SessionRecord? {
        switch call {
        case .save(let record, let replacesOther):
            if let stored = newer(than: record, for: session, replacesOther: replacesOther) { return stored }
            write(record, for: session)
        case .delete: records[session] = nil
        case .compare, .load: break
        }
        return nil
    }

    /// What must not be overwritten with the record.
    func newer(than record: SessionRecord, for session: Int, replacesOther: Bool) -> SessionRecord? {
        records[session].flatMap { record.mayReplace($0, replacesOther: replacesOther) ? nil : $0 }
    }

    func write(_ record: SessionRecord, for session: Int) {
        records[session] = record
        unseen.remove(session)
    }

    /// What a restart reads: through the real coding, as from a keyring.
    func restored(_ session: Int) -> SessionRecord? {
        read(session).flatMap { try? SessionRecord(decoding: $0.encoded()) }
    }

    func read(_ session: Int) -> SessionRecord? {
        markSeen(session)
        return records[session]
    }

    /// An agent has got what is stored.
    func markSeen(_ session: Int) {
        unseen.remove(session)
    }

    /// Another program writes, and no agent learns of it.
    func writeUnreported(_ record: SessionRecord, for session: Int) {
        carryOut(.save(record, replacesOther: false), for: session)
        unseen.insert(session)
    }

    /// What the keyring's adapter waits for an answer.
    static let limit = Duration.seconds(5)
}
