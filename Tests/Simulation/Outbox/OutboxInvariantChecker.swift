import AuthMachines
import AuthModel
import AuthWire

// MARK: Checks at each step

extension OutboxSimulationRun {
    func checkSend(_ entry: OutboxEntry) {
        coverage.sendings += 1
        guard let write = writes[entry.id] else { return report(.lostWrite, "\(entry.id) was never handed in") }
        if !disk.holds(entry.id), !write.isDropped {
            report(.repeatedWrite, "\(entry.id) is sent, and not on the disk")
        }
        if write.answer != nil { report(.repeatedWrite, "\(entry.id) is sent after its answer") }
        if sessions[write.session].inProgress.contains(where: { writes[$0]?.isDropped == false }) {
            report(.oneWrite, "\(entry.id) is sent while another is in progress")
        }
        sessions[write.session].inProgress.insert(entry.id)
        let former = disk.entries.first { other in
            guard let known = writes[other.id], known.session == write.session else { return false }
            return known.order < write.order && other.finalRefusal == nil && !known.isDropped && !known.isBeingRevived
        }
        if let former { report(.writeOrder, "\(entry.id) is sent before \(former.id) has its end on the disk") }
        if now < sessions[write.session].heldUntil {
            report(.writeHold, "\(entry.id) is sent before Retry-After is over")
        }
        if !sessions[write.session].maySend { report(.writeHold, "\(entry.id) is sent, and nothing gets out") }
        checkThrift(entry.id, write)
    }

    /// Tries within an hour: those of the back-off, and a few more each time it begins again.
    private func checkThrift(_ id: String, _ write: WatchedWrite) {
        let sent = write.sent.filter { $0 > now - .seconds(3600) } + [now]
        writes[id]?.sent = sent
        let most = 80 + 12 * sessions[write.session].beginnings
        if sent.count > most { report(.writeThrift, "\(id) is tried \(sent.count) times within an hour") }
    }

    func checkRemoval(_ id: String) {
        guard let write = writes[id] else { return }
        if write.answer == nil, !write.isDropped { report(.lostWrite, "\(id) is removed without an answer") }
    }

    func checkGivenUp(_ id: String) {
        if writes[id]?.answer != .refused { report(.lostWrite, "\(id) is given up without a final refusal") }
    }

    func checkAnswer(_ answer: OutboxReply, _ id: String) {
        guard let write = writes[id] else { return }
        switch answer {
        case .sent:
            if write.answer != .done { report(.writeAnswers, "\(id) is reported as sent, and has no answer") }
            if !write.isRemoved { report(.repeatedWrite, "\(id) is reported before its end is on the disk") }
        case .refused where !write.wasStored: writes[id]?.isRefusedUnstored = true
        case .refused:
            if write.answer != .refused, !write.isDropped {
                report(.writeAnswers, "\(id) is reported as refused, and was not")
            }
        case .list: report(.writeAnswers, "a list for the caller of \(id)")
        case .queued:
            // The user may have dropped it at this moment.
            if !disk.holds(id), !write.isDropped {
                report(.lostWrite, "\(id) is reported as waiting, and is not on the disk")
            }
        }
    }

    /// A caller gets its reply at the latest when the request times out and the disk has replied. A slow disk may have
    /// had some calls left when it became fast.
    private static let longestWait = SimulationRun.requestTimeout + .seconds(30)

    func checkCallers() {
        if let first = callers.first { checkWait(of: first.id, since: first.since) }
    }

    func checkWait(of id: String, since: Duration) {
        guard disk.behaviour == .ready, now - max(since, lastFault) > Self.longestWait else { return }
        report(.writeAnswers, "the caller of \(id) waits since \(since)")
    }

    /// These writes need not be waited for any more.
    func tried(_ isTried: (String) -> Bool) {
        for (caller, ids) in flushes { flushes[caller] = ids.filter { !isTried($0) } }
    }

    /// A flush waits for what was there when it was requested, and for one attempt of each session.
    func checkFlushes() {
        guard let caller = flushes.filter(\.value.isEmpty).keys.min(by: { $0.number < $1.number }) else { return }
        report(.writeAnswers, "caller \(caller.number) waits for its flush, and all of it has been tried")
    }

    // MARK: When all is well again

    func checkRecovered() {
        guard violation == nil else { return }
        guard isRunning, machine.isLoaded else { return report(.writeLiveness, "the outbox is not open") }
        if let caller = callers.first { report(.writeAnswers, "the caller of \(caller.id) never gets a reply") }
        if let caller = userRequests.keys.min(by: { $0.number < $1.number }) {
            report(.writeAnswers, "the user's request \(caller.number) never gets a reply")
        }
        if let entry = machine.entries.first(where: { $0.finalRefusal == nil }) {
            report(.writeLiveness, "\(entry.id) still waits")
        }
        if machine.entries.map(\.id) != disk.entries.map(\.id) {
            report(.writeLiveness, "what waits in memory is not what is on the disk")
        }
        for (id, write) in writes where write.isRemoved && write.timesDone == 0 {
            if !write.isDropped, !write.wasRefused { report(.lostWrite, "\(id) was removed, and never carried out") }
        }
    }
}
