package import AuthModel
package import AuthWire

/// Decides what becomes of the writes that wait, and which call the store carries out next.
///
/// Invariants:
/// 1. The store carries out one call at a time.
/// 2. A session has one entry in progress, the oldest that is not given up. The next one is sent after the store has the end
///    of it.
/// 3. An entry ends with a final answer, or because the user drops it.
/// 4. Each caller gets one reply, even if it no longer waits.
package struct OutboxMachine: Machine {
    /// More is no longer a queue, but a program that does not check.
    package static let maxEntries = 1000
    package static let wake = OutboxEvent.wake
    package static func callerGone(_ caller: CallerID) -> OutboxEvent { .callerGone(caller) }

    package typealias OutboxTurn = Turn<OutboxAction, OutboxReply>

    private struct Failures {
        var tries = 0
        var error: AgentError?
    }

    private struct Flush {
        let caller: CallerID
        let chosen: Set<String>
        /// Those of them that have not been tried since.
        var untried: Set<String>
    }

    package private(set) var entries: [OutboxEntry] = []
    package private(set) var isLoaded = false
    /// The queues of sessions that have had writes.
    private var queues: [SessionName: WriteQueue] = [:]
    /// Whether the writes of each session can be sent.
    private var deliverability: [SessionName: Deliverability] = [:]
    private var failures: [String: Failures] = [:]
    /// The callers that wait for an entry's outcome, by entry.
    private var callers: [String: CallerID] = [:]
    /// Entries that the user named to be sent after a new sign-in.
    private var named: Set<String> = []
    /// The first one is in progress.
    private var jobs: [OutboxStoreJob] = []
    /// What was asked before the store was read.
    private var pending: [(caller: CallerID, command: OutboxCommand)] = []
    private var mayLoad = false
    private var loadAt: BootInstant?
    private var flushes: [Flush] = []
    /// What was dropped, for callers that have no reply yet.
    private var drops: [(caller: CallerID, items: [OutboxItem])] = []
    private var isStopping = false
    private var random: SeededRandom

    /// - Parameter seed: of jitter.
    package init(seed: UInt64) {
        random = SeededRandom(seed: seed)
    }

    /// Whether each change of a session matters. If not, the store was read and the outbox has no writes.
    package var needsStatus: Bool { !isLoaded || !entries.isEmpty || !jobs.isEmpty || !queues.isEmpty }

    package func item(_ entry: OutboxEntry, at now: Moment) -> OutboxItem {
        let queue = queues[entry.session]
        let isNext = next(of: entry.session)?.id == entry.id
        let isInProgress = queue?.work.id == entry.id && queue?.isIdle == false
        let state: OutboxItem.State = entry.finalRefusal != nil ? .givenUp : isInProgress ? .sending : .waiting
        return OutboxItem(
            id: entry.id, session: entry.session, state: state, request: entry.title,
            idempotencyKey: entry.idempotencyKey, queuedAt: entry.queuedAt.unixSeconds,
            tries: failures[entry.id]?.tries ?? 0,
            retryAt: isNext && state == .waiting ? queue?.notBefore.map { now.date(of: $0).unixSeconds } : nil,
            error: entry.finalRefusal ?? failures[entry.id]?.error)
    }

    package mutating func handle(_ event: OutboxEvent, in turn: inout OutboxTurn) {
        switch event {
        case .requested(let caller, let command): carryOut(command, for: caller, &turn)
        case .callerGone(let caller): callerGone(caller, &turn)
        case .statusChanged(let sessions, let mayLoad):
            let begins = mayLoad && !self.mayLoad
            self.mayLoad = mayLoad
            // After a failure it is read again later, whatever changes until then.
            if begins || mayLoad && loadAt == nil { load(&turn) }
            statusChanged(sessions, &turn)
        case .stored(let result): stored(result, &turn)
        case .answered(let id, let result): answered(id, result, &turn)
        case .wake:
            if let loadAt, loadAt <= turn.now.boot {
                self.loadAt = nil
                if mayLoad { load(&turn) }
            }
            advanceAll(&turn)
        case .stopping: stop(&turn)
        }
        endFlushes(&turn)
        turn.wakeUp = isStopping ? nil : (queues.values.map(\.notBefore) + [loadAt]).compactMap(\.self).min()
    }

    // MARK: Commands

    private mutating func carryOut(_ command: OutboxCommand, for caller: CallerID, _ turn: inout OutboxTurn) {
        guard !isStopping else { return turn.reply(.refused(.stopping), to: caller) }
        guard isLoaded else {
            pending.append((caller, command))
            return load(&turn)
        }
        switch command {
        case .post(let entry, let write):
            let additions = jobs.count { if case .add = $0 { true } else { false } }
            guard entries.count + additions < Self.maxEntries else { return turn.reply(.refused(.full), to: caller) }
            submit(.add(entry, write, caller, isCallerGone: false), &turn)
        case .list(let params), .flush(let params), .drop(let params):
            let chosen = entries.filter(params.matches)
            if let id = params.id, chosen.isEmpty { return turn.reply(.refused(.noEntry(id)), to: caller) }
            if case .flush = command {
                flush(chosen, params, caller, &turn)
            } else {
                let items = chosen.map { item($0, at: turn.now) }
                guard case .drop = command, !items.isEmpty else { return turn.reply(.list(items), to: caller) }
                submit(.drop(items.map(\.id), caller, items), &turn)
            }
        }
    }

    private mutating func flush(
        _ chosen: [OutboxEntry], _ params: OutboxParams, _ caller: CallerID, _ turn: inout OutboxTurn
    ) {
        if params.id != nil, let entry = chosen.first {
            named.insert(entry.id)
            if entry.finalRefusal != nil { return submit(.revive(entry.id, caller, params), &turn) }
        }
        for session in Set(chosen.map(\.session)).sorted() { advance(session, isUserWaiting: true, &turn) }
        let ids = Set(chosen.map(\.id))
        flushes.append(Flush(caller: caller, chosen: ids, untried: ids))
    }

    /// An entry also counts as tried when the queue of its session stops: what is before it must be sent first.
    private mutating func endFlushes(_ turn: inout OutboxTurn) {
        for (index, flush) in flushes.enumerated() {
            let untried = entries.filter { entry in
                flush.untried.contains(entry.id) && entry.finalRefusal == nil && queues[entry.session]?.isIdle == false
            }
            flushes[index].untried = Set(untried.map(\.id))
            guard untried.isEmpty else { continue }
            let items = entries.filter { flush.chosen.contains($0.id) }.map { item($0, at: turn.now) }
            turn.reply(.list(items), to: flush.caller)
        }
        flushes.removeAll(where: \.untried.isEmpty)
    }

    private mutating func callerGone(_ caller: CallerID, _ turn: inout OutboxTurn) {
        flushes.removeAll { $0.caller == caller }
        if let id = callers.first(where: { $0.value == caller })?.key {
            leaveWaiting(id, &turn)
        } else if case .add(let entry, let write, caller, _) = jobs.first {
            jobs[0] = .add(entry, write, caller, isCallerGone: true)
        } else {
            pending.removeAll { $0.caller == caller }
            jobs.removeAll { if case .add(_, _, caller, _) = $0 { true } else { false } }
            turn.reply(.refused(.callerGone), to: caller)
        }
    }

    /// Ends the wait for an entry that is in the store, unless its end is known as soon as the store has recorded it.
    private mutating func leaveWaiting(_ id: String, _ turn: inout OutboxTurn) {
        guard !queues.values.contains(where: { $0.work.isSettling && $0.work.id == id }) else { return }
        if let caller = callers.removeValue(forKey: id) { turn.reply(.queued, to: caller) }
    }

    private mutating func stop(_ turn: inout OutboxTurn) {
        isStopping = true
        for id in callers.keys.sorted() { leaveWaiting(id, &turn) }
        for caller in pending.map(\.caller) + flushes.map(\.caller) { turn.reply(.refused(.stopping), to: caller) }
        // What the provider has answered is recorded; else the next run would send it again.
        var kept = Array(jobs.prefix(1))
        for job in jobs.dropFirst() {
            if case .end = job { kept.append(job) }
            if let caller = job.caller { turn.reply(.refused(.stopping), to: caller) }
        }
        (jobs, pending, flushes) = (kept, [], [])
        // Ends that the store has refused get another attempt.
        for session in queues.keys.sorted() where queues[session]?.isUnrecorded == true {
            advance(session, isUserWaiting: true, &turn)
        }
    }

    // MARK: The store

    private mutating func submit(_ job: OutboxStoreJob, _ turn: inout OutboxTurn) {
        jobs.append(job)
        if jobs.count == 1 { turn.act(.store(job.call)) }
    }

    private mutating func load(_ turn: inout OutboxTurn) {
        let isLoading = jobs.contains { if case .load = $0 { true } else { false } }
        if !isLoaded, !isLoading, !isStopping { submit(.load, &turn) }
    }

    private mutating func stored(_ result: Result<[OutboxEntry], OutboxError>, _ turn: inout OutboxTurn) {
        guard let job = jobs.first else { return }
        let error: OutboxError? = if case .failure(let error) = result { error } else { nil }
        if let error, let caller = job.caller {
            turn.reply(.refused(AgentError(error)), to: caller)
        } else {
            finish(job, result, error, &turn)
        }
        jobs.removeFirst()
        // A write that an earlier request has revived need not be revived again: it may have its next response by then.
        while case .revive(let id, let caller, let params) = jobs.first,
            entries.first(where: { $0.id == id })?.finalRefusal == nil
        {
            jobs.removeFirst()
            carryOut(.flush(params), for: caller, &turn)
        }
        if case .release = job {} else if jobs.isEmpty, isLoaded, entries.isEmpty { jobs = [.release] }
        if let next = jobs.first { turn.act(.store(next.call)) }
        // The file is deleted before the caller learns that the last entry is gone.
        if case .release = jobs.first { return }
        for (caller, items) in drops { turn.reply(.list(items), to: caller) }
        drops = []
    }

    private mutating func finish(
        _ job: OutboxStoreJob, _ result: Result<[OutboxEntry], OutboxError>, _ error: OutboxError?,
        _ turn: inout OutboxTurn
    ) {
        switch job {
        case .load: loaded(result, &turn)
        case .release: break
        case .end(let id, _): settled(id, error, &turn)
        case .add(let entry, let write, let caller, let isCallerGone):
            entries.append(entry)
            if isStopping || isCallerGone { turn.reply(.queued, to: caller) } else { callers[entry.id] = caller }
            advance(entry.session, added: (entry.id, write), &turn)
            if queues[entry.session]?.work.id != entry.id { waits(entry, &turn) }
        case .revive(let id, let caller, let params):
            if let index = entries.firstIndex(where: { $0.id == id }) { entries[index].finalRefusal = nil }
            failures[id] = nil
            carryOut(.flush(params), for: caller, &turn)
        case .drop(let ids, let caller, let items):
            dropped(ids[0], &turn)
            guard ids.count > 1 else { return drops.append((caller, items)) }
            submit(.drop(Array(ids.dropFirst()), caller, items), &turn)
        }
    }

    private mutating func loaded(_ result: Result<[OutboxEntry], OutboxError>, _ turn: inout OutboxTurn) {
        let waiting = pending
        pending = []
        switch result {
        case .success(let found):
            (entries, isLoaded, loadAt) = (found, true, nil)
            advanceAll(&turn)
            for (caller, command) in waiting { carryOut(command, for: caller, &turn) }
        case .failure(let error):
            // A disk that failed does not notify us when it works again.
            loadAt = turn.now.boot + Backoff.longest
            for (caller, _) in waiting { turn.reply(.refused(AgentError(error)), to: caller) }
        }
    }

    // MARK: Sending

    private func next(of session: SessionName) -> OutboxEntry? {
        entries.first { $0.session == session && $0.finalRefusal == nil }
    }

    private mutating func advanceAll(_ turn: inout OutboxTurn) {
        for session in Set(entries.map(\.session)).union(queues.keys).sorted() { advance(session, &turn) }
    }

    /// - Parameter added: what was added just now: it need not be read from the store.
    private mutating func advance(
        _ session: SessionName, isUserWaiting: Bool = false, added: (id: String, write: OutboxWrite)? = nil,
        _ turn: inout OutboxTurn
    ) {
        var queue = queues[session] ?? WriteQueue()
        defer { queues[session] = queue }
        let isDue = isUserWaiting || queue.notBefore.map { $0 <= turn.now.boot } ?? true
        if case .settling(let id, let end) = queue.work {
            guard queue.notBefore != nil, isDue else { return }
            queue.notBefore = nil
            return submit(.end(id, end), &turn)
        }
        guard case .none = queue.work, isDue, !isStopping, let entry = next(of: session),
            isUserWaiting || deliverability[session]?.maySend == true
        else {
            if isDue { (queue.notBefore, queue.isHeld) = (nil, false) }
            return
        }
        (queue.notBefore, queue.isHeld) = (nil, false)
        queue.work = .sending(entry.id)
        let write = added?.id == entry.id ? added?.write : nil
        turn.act(.send(entry, write, inAnySignIn: named.contains(entry.id)))
    }

    private mutating func statusChanged(_ sessions: [SessionName: Deliverability], _ turn: inout OutboxTurn) {
        let former = deliverability
        deliverability = sessions
        for session in Set(entries.map(\.session)).union(queues.keys).sorted() {
            let queue = queues[session] ?? WriteQueue()
            guard let present = sessions[session], present.improves(than: former[session]), !queue.isHeld,
                !queue.work.isSettling
            else { continue }
            queues[session]?.notBefore = nil
            queues[session]?.backoff.reset()
            advance(session, &turn)
        }
    }

    // MARK: Answers

    private mutating func answered(
        _ id: String, _ result: Result<APIResponse, AgentError>, _ turn: inout OutboxTurn
    ) {
        guard let entry = entries.first(where: { $0.id == id }), case .sending(id)? = queues[entry.session]?.work else {
            return
        }
        switch result {
        case .success(let response):
            // There was a response, so the provider is reachable.
            deliverability[entry.session]?.maySend = true
            settle(entry, .done(response), &turn)
        case .failure(let error) where error.isFinalForWrite:
            settle(entry, callers[id] != nil ? .refused(error) : .givenUp(error), &turn)
        case .failure(let error):
            failures[id, default: Failures()].tries += 1
            failures[id]?.error = error
            queues[entry.session]?.work = .none
            queues[entry.session]?.postpone(retryAfter: error.retryAfter, from: turn.now.boot, using: &random)
            queues[entry.session]?.isHeld = error.retryAfter != nil
            waits(entry, &turn)
        }
    }

    private mutating func settle(_ entry: OutboxEntry, _ end: WriteQueue.End, _ turn: inout OutboxTurn) {
        queues[entry.session]?.work = .settling(entry.id, end)
        submit(.end(entry.id, end), &turn)
    }

    private mutating func settled(_ id: String, _ error: OutboxError?, _ turn: inout OutboxTurn) {
        guard let index = entries.firstIndex(where: { $0.id == id }) else { return }
        var entry = entries[index]
        guard case .settling(id, let end)? = queues[entry.session]?.work else { return }
        if let error {
            // It must not be sent again, and the next one only when this is on disk.
            queues[entry.session]?.postpone(from: turn.now.boot, using: &random)
            failures[id, default: Failures()].error = .notRecorded(error)
            // Its caller gets a reply now, and cannot get the refusal later.
            if case .refused(let refusal) = end { queues[entry.session]?.work = .settling(id, .givenUp(refusal)) }
            return waits(entry, &turn)
        }
        queues[entry.session]?.work = .none
        queues[entry.session]?.backoff.reset()
        let caller = callers.removeValue(forKey: id)
        switch end {
        case .done(let response):
            turn.act(.publish("sent", item(entry, at: turn.now)))
            if let caller { turn.reply(.sent(response), to: caller) }
            forget(id)
        case .refused(let error), .givenUp(let error):
            entry.finalRefusal = error
            turn.act(.publish("given_up", item(entry, at: turn.now)))
            if case .givenUp = end {
                entries[index] = entry
            } else {
                if let caller { turn.reply(.refused(error), to: caller) }
                forget(id)
            }
        }
        advance(entry.session, &turn)
    }

    /// Its caller gets the reply that it waits.
    private mutating func waits(_ entry: OutboxEntry, _ turn: inout OutboxTurn) {
        guard let caller = callers.removeValue(forKey: entry.id) else { return }
        turn.act(.publish("queued", item(entry, at: turn.now)))
        turn.reply(.queued, to: caller)
    }

    // MARK: Ends

    private mutating func dropped(_ id: String, _ turn: inout OutboxTurn) {
        guard let entry = entries.first(where: { $0.id == id }) else { return }
        turn.act(.publish("dropped", item(entry, at: turn.now)))
        if let caller = callers.removeValue(forKey: id) { turn.reply(.refused(.dropped), to: caller) }
        if queues[entry.session]?.work.id == id { queues[entry.session]?.work = .none }
        forget(id)
        advance(entry.session, &turn)
    }

    private mutating func forget(_ id: String) {
        entries.removeAll { $0.id == id }
        failures[id] = nil
        named.remove(id)
    }
}
