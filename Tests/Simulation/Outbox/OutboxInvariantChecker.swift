import AuthMachines
import AuthModel
import AuthWire

/// What the referee knows of a write.
struct WatchedWrite {
    enum Word {
        case yes, no
    }

    let session: Int
    /// Of two of a session the one with the smaller number was written down first.
    let order: Int
    /// What the provider said of it, in this process.
    var said: Word?
    var wasStored = false
    /// The disk no longer has it.
    var isStruckOut = false
    /// Its caller was refused before the disk had it.
    var isRefusedUnstored = false
    /// The user's requests to drop it that have no reply yet.
    var drops = 0
    /// It was removed while one of them was open.
    var wasDropped = false
    var isBeingRevived = false
    /// The provider's no, in whatever process.
    var wasRefused = false
    var timesDone = 0
    /// When it was sent, within the last hour.
    var sent: [Duration] = []

    var isDropped: Bool { drops > 0 || wasDropped }

    /// What a new process no longer knows.
    mutating func forget() {
        (said, drops, isBeingRevived) = (nil, 0, false)
    }
}

/// What the referee knows of a session, in this process.
struct WatchedLane {
    var underWay: Set<String> = []
    var heldUntil = Duration.zero
    private var deliverability: Deliverability?
    var wasAnswered = false
    /// A person is having the outbox tried.
    var isFlushing = false
    /// What may have begun the waits between tries anew.
    private(set) var beginnings = 0

    var maySend: Bool { isFlushing || wasAnswered || deliverability?.maySend == true }

    mutating func see(_ deliverability: Deliverability?) {
        guard deliverability != self.deliverability else { return }
        self.deliverability = deliverability
        wasAnswered = false
        beginnings += 1
    }

    mutating func flushed() {
        (isFlushing, heldUntil) = (true, .zero)
        beginnings += 1
    }
}

/// How much of the outbox was played.
package struct OutboxCoverage: Sendable {
    package internal(set) var writes = 0
    package internal(set) var sendings = 0
    /// Writes that a provider carried out twice: its answer was lost, or the process died before it was written down.
    package internal(set) var repeated = 0
    package internal(set) var deaths = 0
    private(set) var told: [String: Int] = [:]

    package init() {}

    mutating func count(_ name: String) { told[name, default: 0] += 1 }

    package mutating func add(_ other: OutboxCoverage) {
        writes += other.writes
        sendings += other.sendings
        repeated += other.repeated
        deaths += other.deaths
        told.merge(other.told, uniquingKeysWith: +)
    }

    var words: String {
        let ends = told.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        return "Writes: \(writes) (\(ends)), sent \(sendings) times, \(repeated) done twice, \(deaths) deaths"
    }
}

// MARK: Checks at each step

extension OutboxSimulationRun {
    func checkSend(_ entry: OutboxEntry) {
        coverage.sendings += 1
        guard let write = writes[entry.id] else { return report(.lostWrite, "\(entry.id) was never handed in") }
        if !disk.holds(entry.id), !write.isDropped {
            report(.repeatedWrite, "\(entry.id) is sent, and not on the disk")
        }
        if write.said != nil { report(.repeatedWrite, "\(entry.id) is sent after its answer") }
        if lanes[write.session].underWay.contains(where: { writes[$0]?.isDropped == false }) {
            report(.oneWrite, "\(entry.id) is sent while another is under way")
        }
        lanes[write.session].underWay.insert(entry.id)
        let former = disk.entries.first { other in
            guard let known = writes[other.id], known.session == write.session else { return false }
            return known.order < write.order && other.finalRefusal == nil && !known.isDropped && !known.isBeingRevived
        }
        if let former { report(.writeOrder, "\(entry.id) is sent before \(former.id) has its end on the disk") }
        if now < lanes[write.session].heldUntil { report(.writeHold, "\(entry.id) is sent before Retry-After is over") }
        if !lanes[write.session].maySend { report(.writeHold, "\(entry.id) is sent, and nothing gets out") }
        checkThrift(entry.id, write)
    }

    /// Tries within an hour: the back-off's own, and a few more each time it begins anew.
    private func checkThrift(_ id: String, _ write: WatchedWrite) {
        let sent = write.sent.filter { $0 > now - .seconds(3600) } + [now]
        writes[id]?.sent = sent
        let most = 80 + 12 * lanes[write.session].beginnings
        if sent.count > most { report(.writeThrift, "\(id) is tried \(sent.count) times within an hour") }
    }

    func checkStrike(_ id: String) {
        guard let write = writes[id] else { return }
        if write.said == nil, !write.isDropped { report(.lostWrite, "\(id) is struck out without an answer") }
    }

    func checkGivenUp(_ id: String) {
        if writes[id]?.said != .no { report(.lostWrite, "\(id) is given up without a no") }
    }

    func checkAnswer(_ answer: OutboxReply, _ id: String) {
        guard let write = writes[id] else { return }
        switch answer {
        case .sent:
            if write.said != .yes { report(.writeAnswers, "\(id) is told as sent, and has no answer") }
            if !write.isStruckOut { report(.repeatedWrite, "\(id) is told before its end is on the disk") }
        case .refused where !write.wasStored: writes[id]?.isRefusedUnstored = true
        case .refused:
            if write.said != .no, !write.isDropped {
                report(.writeAnswers, "\(id) is reported as refused, and was not")
            }
        case .list: report(.writeAnswers, "a list for the caller of \(id)")
        case .queued:
            // A person may have dropped it this moment.
            if !disk.holds(id), !write.isDropped {
                report(.lostWrite, "\(id) is told as waiting, and is not on the disk")
            }
        }
    }

    /// Who waits is answered when the transport gives up at the latest, and the disk has had its turn.
    func checkCallers() {
        guard disk.mood == .ready, let first = callers.first else { return }
        if now - max(first.since, lastFault) > SimulationRun.patience + Backoff.longest + .seconds(30) {
            report(.writeAnswers, "who handed in \(first.id) waits since \(first.since)")
        }
    }

    // MARK: When all is well again

    func checkRecovered() {
        guard violation == nil else { return }
        guard isRunning, machine.isLoaded else { return report(.writeLiveness, "the outbox is not open") }
        if let caller = callers.first { report(.writeAnswers, "who handed in \(caller.id) waits for ever") }
        if let entry = machine.entries.first(where: { $0.finalRefusal == nil }) {
            report(.writeLiveness, "\(entry.id) still waits")
        }
        if machine.entries.map(\.id) != disk.entries.map(\.id) {
            report(.writeLiveness, "what waits in memory is not what is on the disk")
        }
        for (id, write) in writes where write.isStruckOut && write.timesDone == 0 {
            if !write.isDropped, !write.wasRefused { report(.lostWrite, "\(id) has gone, and nobody did it") }
        }
    }
}
