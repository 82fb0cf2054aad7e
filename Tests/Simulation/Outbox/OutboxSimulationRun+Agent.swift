import AuthMachines
import AuthModel
import AuthWire

/// The agent: what becomes of the machine's actions, and how the process dies and comes back.
extension OutboxSimulationRun {
    func handle(_ event: OutboxEvent) {
        guard isRunning, violation == nil else { return }
        note("  \(event.words)")
        var turn = machine.handle(fault?.changed(event) ?? event, at: moment)
        if fault == .advancesBeforeRecorded, case .answered = event {
            let next = machine.handle(.stored(.success([])), at: moment)
            turn.actions += next.actions
            turn.replies += next.replies
            turn.wakeUp = next.wakeUp
        }
        if fault == .repeatsAnsweredWrites, case .answered(let id, .success) = event,
            let entry = machine.entries.first(where: { $0.id == id })
        {
            turn.act(.send(entry, nil, inAnySignIn: false))
        }
        for action in fault.map({ turn.actions.flatMap($0.changed) }) ?? turn.actions {
            guard survives() else { return }
            carryOut(action)
        }
        for (caller, reply) in turn.replies {
            guard survives() else { return }
            if fault == .answersLate {
                queue.add(.replies(reply, caller, process: process), at: now + .seconds(120))
                continue
            }
            deliver(reply, to: caller)
            if fault == .answersTwice { deliver(reply, to: caller) }
        }
        checkFlushes()
        if turn.wakeUp != wakeUp, fault != .ignoresDeadlines {
            wakeUp = turn.wakeUp
            alarm = wakeUp.map { max(time(of: $0), now) }
        }
        if let fuse, fuse.actions <= 0 { die() }
    }

    /// Whether the process goes on after this action or reply.
    private func survives() -> Bool {
        if let fuse {
            guard fuse.actions > 0 else {
                die()
                return false
            }
            self.fuse?.actions -= 1
        }
        return violation == nil
    }

    private func carryOut(_ action: OutboxAction) {
        note("    → \(action.words)")
        switch action {
        case .send(let entry, let write, _):
            checkSend(entry)
            if write == nil { callDisk(.read(entry)) } else { queue.add(.launches(entry, process: process), at: now) }
        case .store(let call):
            switch call {
            case .remove(let id): checkRemoval(id)
            case .record(_?, let id): checkGivenUp(id)
            case .load, .add, .record, .release: break
            }
            checkOneCall()
            callDisk(.store(call))
        case .publish(let name, let item):
            coverage.count(name)
            if name != "queued" { tried { $0 == item.id } }
        }
    }

    private func checkOneCall() {
        let isBusy = diskCalls.values.contains { call in
            if case .store = call.call { call.process == process } else { false }
        }
        if isBusy { report(.writeOrder, "the disk is called while it is busy") }
    }

    func deliver(_ reply: OutboxReply, to caller: CallerID) {
        note("    → to caller \(caller.number): \(reply.words)")
        if let index = callers.firstIndex(where: { $0.caller == caller }) {
            let (_, id, since) = callers.remove(at: index)
            checkWait(of: id, since: since)
            checkAnswer(reply, id)
        } else if let dropped = userRequests.removeValue(forKey: caller) {
            (revivals[caller], flushes[caller]) = (nil, nil)
            if let dropped { writes[dropped]?.drops -= 1 }
        } else {
            report(.writeAnswers, "a reply for caller \(caller.number), which does not wait")
        }
    }

    /// As ``Outbox`` does it.
    func look() {
        guard isRunning else { return }
        var sights: [SessionName: Deliverability] = [:]
        for session in accounts.indices where accounts[session] != .signedOut {
            sights[SimulationRun.names[session]] = Deliverability(
                maySend: network == .online || network == .limited, isReached: behaviour != .down,
                since: networkSince.seconds)
        }
        for session in sessions.indices { sessions[session].see(sights[SimulationRun.names[session]]) }
        handle(.statusChanged(sights, mayLoad: true))
    }

    // MARK: The disk

    func callDisk(_ call: SimulatedDisk.Call) {
        var time = random.duration(in: .milliseconds(1)...Duration.milliseconds(10))
        if case .slow(let more) = disk.behaviour { time = more }
        let number = nextNumber()
        let start = max(now, diskIsFreeAt)
        diskCalls[number] = DiskCall(call: call, process: process, fails: disk.behaviour == .failing)
        diskIsFreeAt = start + time
        queue.add(.diskCarriesOut(number), at: start + time / 2)
        queue.add(.diskAnswers(number), at: start + time)
    }

    func carryOut(_ number: Int) {
        guard let call = diskCalls[number], !call.fails else { return }
        diskCalls[number]?.isCarriedOut = true
        guard case .store(let call) = call.call else { return }
        disk.carryOut(call)
        switch call {
        case .add(let entry, _):
            writes[entry.id]?.wasStored = true
            if writes[entry.id]?.isRefusedUnstored == true {
                report(.writeAnswers, "\(entry.id) was refused, and is stored all the same")
            }
        case .remove(let id):
            writes[id]?.isRemoved = true
            if writes[id]?.drops ?? 0 > 0 { writes[id]?.wasDropped = true }
        case .record(nil, let id): writes[id]?.answer = nil
        case .load, .record, .release: break
        }
    }

    func diskReplied(_ number: Int) {
        guard let call = diskCalls.removeValue(forKey: number), call.process == process, isRunning else { return }
        let error: OutboxError? = call.fails ? .disk(reason: "disk full") : nil
        switch call.call {
        case .read(let entry): launch(entry, error)
        case .store(.load): handle(.stored(error.map { .failure($0) } ?? .success(disk.entries)))
        case .store(.record(nil, let id)):
            writes[id]?.isBeingRevived = false
            if let error { return handle(.stored(.failure(error))) }
            flushing { handle(.stored(.success([]))) }
        case .store:
            let work = { self.handle(.stored(error.map { .failure($0) } ?? .success([]))) }
            // Another user's request has revived it already: this one is carried out with the next reply of the disk.
            let isRevived = machine.entries.contains { $0.finalRefusal == nil && revivals.values.contains($0.id) }
            if isRevived { flushing(work) } else { work() }
        }
    }

    // MARK: Death and return

    func die() {
        guard let fuse else { return }
        self.fuse = nil
        guard isRunning else { return }
        note("† the process dies")
        coverage.deaths += 1
        isRunning = false
        process += 1
        (callers, userRequests, revivals, flushes) = ([], [:], [:], [:])
        (alarm, wakeUp) = (nil, nil)
        // Calls before it are carried out where a later one is: one connection, one after the other.
        for (number, call) in diskCalls.sorted(by: { $0.key < $1.key }) where !call.isCarriedOut && !call.fails {
            guard random.next() & 1 == 0 else { break }
            carryOut(number)
        }
        diskCalls = [:]
        diskIsFreeAt = now
        for id in writes.keys { writes[id]?.forget() }
        for session in sessions.indices { sessions[session] = WatchedSession() }
        queue.add(.restart, at: now + fuse.down)
        lastFault = max(lastFault, now + fuse.down)
    }

    func restart() {
        guard !isRunning else { return }
        note("† it starts again")
        isRunning = true
        machine = OutboxMachine(seed: random.next())
        look()
    }
}
