package import AuthModel
package import AuthWire

/// What becomes of the writes that wait: events in, actions out, without a clock, a store or a wire.
///
/// Invariants: of a session one entry is under way, the oldest that was not given up; the next is not sent before the
/// store has the end of the former; an entry ends by an answer or by a person.
package struct OutboxMachine: Sendable {
    private enum End: Sendable {
        case done(APIResponse)
        /// The caller is there to be told.
        case toldNo(AgentError)
        case givenUp(AgentError)
    }

    private enum Work {
        case none
        case sending(String)
        /// The store is to have it; what it had to say, until it does.
        case settling(String, End)

        /// Then it is the disk that is waited for, and no network helps.
        var isSettling: Bool { if case .settling = self { true } else { false } }

        var id: String? {
            switch self {
            case .none: nil
            case .sending(let id), .settling(let id, _): id
            }
        }
    }

    /// The writes of one session, one after the other.
    private struct SessionQueue {
        var work = Work.none
        var backoff = Backoff()
        var notBefore: BootInstant?
        /// The provider asked for it: nothing but a person, or its end, breaks it.
        var isHeld = false
        var deliverability: Deliverability?

        /// Nothing is under way: there is no work, or its end waits for a store that did not take it.
        var isIdle: Bool {
            switch work {
            case .none: true
            case .sending: false
            case .settling: notBefore != nil
            }
        }
    }

    private struct Failures {
        var tries = 0
        var error: AgentError?
    }

    package private(set) var entries: [OutboxEntry] = []
    private var lanes: [SessionName: SessionQueue] = [:]
    private var troubles: [String: Failures] = [:]
    private var awaited: Set<String> = []
    private var random: SeededRandom

    /// - Parameter seed: of jitter.
    package init(seed: UInt64) {
        random = SeededRandom(seed: seed)
    }

    /// Whether nothing is under way, so that what was asked for has been tried.
    package var isIdle: Bool { lanes.values.allSatisfy(\.isIdle) }

    package func item(_ entry: OutboxEntry, at now: Moment) -> OutboxItem {
        let lane = lanes[entry.session]
        let isNext = next(of: entry.session)?.id == entry.id
        let state: OutboxItem.State =
            entry.finalRefusal != nil
            ? .givenUp : lane?.work.id == entry.id && lane?.isIdle == false ? .sending : .waiting
        return OutboxItem(
            id: entry.id, session: entry.session, state: state, request: entry.title,
            idempotencyKey: entry.idempotencyKey, queuedAt: entry.queuedAt.unixSeconds,
            tries: troubles[entry.id]?.tries ?? 0,
            retryAt: isNext && state == .waiting ? lane?.notBefore.map { now.date(of: $0).unixSeconds } : nil,
            error: entry.finalRefusal ?? troubles[entry.id]?.error)
    }

    package mutating func handle(_ event: OutboxEvent, at now: Moment) -> [OutboxAction] {
        var actions: [OutboxAction] = []
        switch event {
        case .loaded(let found):
            entries = found + entries
            actions = advanceAll(at: now)
        case .added(let entry, let isAwaited):
            entries.append(entry)
            if isAwaited { awaited.insert(entry.id) }
            actions = advance(entry.session, at: now)
            if lanes[entry.session]?.work.id != entry.id { actions += waits(entry, at: now) }
        case .looked(let sights): actions = looked(sights, at: now)
        case .answered(let id, let result): actions = answered(id, result, at: now)
        case .settled(let id, let error): actions = settled(id, error, at: now)
        case .callerGone(let id): awaited.remove(id)
        case .wake: actions = advanceAll(at: now)
        case .flush(let ids):
            for session in Set(entries.filter { ids.contains($0.id) }.map(\.session)) {
                actions += advance(session, at: now, asAPersonWants: true)
            }
        case .revived(let id):
            guard let index = entries.firstIndex(where: { $0.id == id }) else { break }
            entries[index].finalRefusal = nil
            troubles[id] = nil
        case .dropped(let ids): actions = dropped(ids, at: now)
        }
        return actions + [.wakeAt(lanes.values.compactMap(\.notBefore).min())]
    }

    // MARK: Sending

    private func next(of session: SessionName) -> OutboxEntry? {
        entries.first { $0.session == session && $0.finalRefusal == nil }
    }

    private mutating func advanceAll(at now: Moment) -> [OutboxAction] {
        Set(entries.map(\.session)).union(lanes.keys).sorted().flatMap { advance($0, at: now) }
    }

    private mutating func advance(
        _ session: SessionName, at now: Moment, asAPersonWants: Bool = false
    ) -> [OutboxAction] {
        var lane = lanes[session] ?? SessionQueue()
        defer { lanes[session] = lane }
        let isDue = asAPersonWants || lane.notBefore.map { $0 <= now.boot } ?? true
        if case .settling(let id, let end) = lane.work {
            guard lane.notBefore != nil, isDue else { return [] }
            lane.notBefore = nil
            return [Self.settling(id, end)]
        }
        guard case .none = lane.work, isDue, let entry = next(of: session),
            asAPersonWants || lane.deliverability?.maySend == true
        else {
            if isDue { (lane.notBefore, lane.isHeld) = (nil, false) }
            return []
        }
        (lane.notBefore, lane.isHeld) = (nil, false)
        lane.work = .sending(entry.id)
        return [.send(entry)]
    }

    private mutating func looked(_ sights: [SessionName: Deliverability], at now: Moment) -> [OutboxAction] {
        var actions: [OutboxAction] = []
        for session in Set(entries.map(\.session)).union(lanes.keys).union(sights.keys).sorted() {
            let former = lanes[session]?.deliverability
            let deliverability = sights[session]
            guard deliverability != former else { continue }
            lanes[session, default: SessionQueue()].deliverability = deliverability
            guard let deliverability, deliverability.improves(than: former), let lane = lanes[session], !lane.isHeld,
                !lane.work.isSettling
            else { continue }
            lanes[session]?.notBefore = nil
            lanes[session]?.backoff.reset()
            actions += advance(session, at: now)
        }
        return actions
    }

    // MARK: Answers

    private mutating func answered(
        _ id: String, _ result: Result<APIResponse, AgentError>, at now: Moment
    ) -> [OutboxAction] {
        guard let entry = entries.first(where: { $0.id == id }), case .sending(id)? = lanes[entry.session]?.work else {
            return []
        }
        switch result {
        case .success(let response):
            // An answer came: whatever was known of the way there, it is open.
            lanes[entry.session]?.deliverability?.maySend = true
            return settle(entry, .done(response))
        case .failure(let error) where error.isFinalForWrite:
            return settle(entry, awaited.contains(id) ? .toldNo(error) : .givenUp(error))
        case .failure(let error):
            troubles[id, default: Failures()].tries += 1
            troubles[id]?.error = error
            let wait = lanes[entry.session]?.backoff.next(retryAfter: error.retryAfter, using: &random) ?? .zero
            lanes[entry.session]?.work = .none
            lanes[entry.session]?.notBefore = now.boot + wait
            lanes[entry.session]?.isHeld = error.retryAfter != nil
            return waits(entry, at: now)
        }
    }

    private mutating func settle(_ entry: OutboxEntry, _ end: End) -> [OutboxAction] {
        lanes[entry.session]?.work = .settling(entry.id, end)
        return [Self.settling(entry.id, end)]
    }

    private static func settling(_ id: String, _ end: End) -> OutboxAction {
        switch end {
        case .done, .toldNo: .remove(id)
        case .givenUp(let error): .note(error, on: id)
        }
    }

    private mutating func settled(_ id: String, _ error: OutboxError?, at now: Moment) -> [OutboxAction] {
        guard let index = entries.firstIndex(where: { $0.id == id }) else { return [] }
        var entry = entries[index]
        guard case .settling(id, let end)? = lanes[entry.session]?.work else { return [] }
        if let error {
            // Sent again it must not be, and the next one only when this is on disk.
            let wait = lanes[entry.session]?.backoff.next(retryAfter: nil, using: &random) ?? .zero
            lanes[entry.session]?.notBefore = now.boot + wait
            troubles[id, default: Failures()].error = .notStruckOut(error)
            // Its caller goes, and is not there to be told a no.
            if case .toldNo(let no) = end { lanes[entry.session]?.work = .settling(id, .givenUp(no)) }
            return waits(entry, at: now)
        }
        lanes[entry.session]?.work = .none
        lanes[entry.session]?.backoff.reset()
        let isAwaited = awaited.remove(id) != nil
        var actions: [OutboxAction] = []
        switch end {
        case .done(let response):
            actions.append(.tell("sent", item(entry, at: now)))
            if isAwaited { actions.append(.answer(id, .sent(response))) }
        case .toldNo(let error):
            entry.finalRefusal = error
            actions.append(.tell("given_up", item(entry, at: now)))
            if isAwaited { actions.append(.answer(id, .refused(error))) }
        case .givenUp(let error):
            entry.finalRefusal = error
            actions.append(.tell("given_up", item(entry, at: now)))
        }
        if case .givenUp = end { entries[index] = entry } else { forget(id) }
        return actions + advance(entry.session, at: now)
    }

    /// Its caller is told once that it waits.
    private mutating func waits(_ entry: OutboxEntry, at now: Moment) -> [OutboxAction] {
        guard awaited.remove(entry.id) != nil else { return [] }
        return [.tell("queued", item(entry, at: now)), .answer(entry.id, .queued)]
    }

    // MARK: Ends

    private mutating func dropped(_ ids: [String], at now: Moment) -> [OutboxAction] {
        var actions: [OutboxAction] = []
        for entry in entries where ids.contains(entry.id) {
            actions.append(.tell("dropped", item(entry, at: now)))
            if awaited.remove(entry.id) != nil { actions.append(.answer(entry.id, .refused(.dropped))) }
            if lanes[entry.session]?.work.id == entry.id { lanes[entry.session]?.work = .none }
            forget(entry.id)
        }
        return actions + advanceAll(at: now)
    }

    private mutating func forget(_ id: String) {
        entries.removeAll { $0.id == id }
        troubles[id] = nil
    }
}

extension AgentError {
    fileprivate static let dropped = AgentError(.denied, "It was dropped from the outbox.", cause: "dropped")

    fileprivate static func notStruckOut(_ error: OutboxError) -> AgentError {
        var told = AgentError(error)
        told.message = "It has been answered, and is not sent again. \(told.message)"
        return told
    }
}
