import AuthMachines
import AuthModel
import AuthWire

/// The agent: what becomes of the machine's actions, and how the process dies and comes back.
extension OutboxSimulationRun {
    func tell(_ event: OutboxEvent) {
        guard isRunning, violation == nil else { return }
        note("  \(event.words)")
        var actions = machine.handle(tampering?.changed(event) ?? event, at: moment)
        if tampering == .hastens, case .answered(let id, _) = event {
            actions += machine.handle(.settled(id, nil), at: moment)
        }
        for action in tampering.map({ actions.flatMap($0.changed) }) ?? actions {
            if let fuse {
                guard fuse.actions > 0 else { return die() }
                self.fuse?.actions -= 1
            }
            guard violation == nil else { return }
            carryOut(action)
        }
        if let fuse, fuse.actions <= 0 { die() }
    }

    private func carryOut(_ action: OutboxAction) {
        note("    → \(action.words)")
        switch action {
        case .send(let entry):
            checkSend(entry)
            callDisk(.read(entry), for: .sending)
        case .remove(let id):
            checkStrike(id)
            callDisk(.remove(id), for: .settling)
        case .note(let error, let id):
            checkGivenUp(id)
            callDisk(.note(error, on: id), for: .settling)
        case .answer(let id, let answer): deliver(answer, to: id)
        case .tell(let name, _): coverage.count(name)
        case .wakeAt(let deadline): alarm = deadline.map { max($0.sinceBoot, now) }
        }
    }

    private func deliver(_ answer: OutboxReply, to id: String) {
        guard let index = callers.firstIndex(where: { $0.id == id }) else {
            return report(.writeAnswers, "an answer for somebody who does not wait for \(id)")
        }
        callers.remove(at: index)
        checkAnswer(answer, id)
    }

    /// As ``Outbox`` does it: what was written before is read first, and after that how each session is placed.
    func look() {
        guard isRunning else { return }
        guard isLoaded else {
            if !diskCalls.values.contains(where: { $0.purpose == .start }) { callDisk(.all, for: .start) }
            return
        }
        var sights: [SessionName: Deliverability] = [:]
        for session in accounts.indices where accounts[session] != .nobody {
            sights[SimulationRun.names[session]] = Deliverability(
                maySend: network == .online || network == .limited, isReached: mood != .down,
                since: networkSince.seconds)
        }
        for session in lanes.indices { lanes[session].see(sights[SimulationRun.names[session]]) }
        tell(.looked(sights))
    }

    // MARK: The disk

    func callDisk(_ call: SimulatedDisk.Call, for purpose: SimulatedDisk.Purpose) {
        var time = random.duration(in: .milliseconds(1)...Duration.milliseconds(10))
        if case .slow(let more) = disk.mood { time = more }
        let number = nextNumber()
        let start = max(now, diskIsFreeAt)
        diskCalls[number] = DiskCall(call: call, purpose: purpose, process: process, fails: disk.mood == .failing)
        diskIsFreeAt = start + time
        queue.add(.diskCarriesOut(number), at: start + time / 2)
        queue.add(.diskAnswers(number), at: start + time)
    }

    func carryOut(_ number: Int) {
        guard let call = diskCalls[number], !call.fails else { return }
        diskCalls[number]?.isCarriedOut = true
        disk.carryOut(call.call)
        switch call.call {
        case .remove(let id):
            writes[id]?.isStruckOut = true
            // Of two wishes to drop it the one that failed says nothing any more.
            if call.purpose == .dropping { writes[id]?.isDropped = true }
        case .note(nil, let id): writes[id]?.said = nil
        case .all, .read, .add, .note: break
        }
    }

    func takeDiskAnswer(_ number: Int) {
        guard let call = diskCalls.removeValue(forKey: number), call.process == process, isRunning else { return }
        let error: OutboxError? = call.fails ? .disk(reason: "disk full") : nil
        switch (call.call, call.purpose) {
        case (.all, _): taken(error)
        case (.read(let entry), _): launch(entry, error)
        case (.add(let entry), _):
            guard error == nil else { return }
            callers.append((entry.id, now))
            tell(.added(entry, isAwaited: true))
        case (.remove(let id), .dropping):
            guard error != nil else { return tell(.dropped([id])) }
            // Unless it went by an earlier wish.
            if writes[id]?.isStruckOut == false { writes[id]?.isDropped = false }
        case (.note(_, let id), .reviving):
            writes[id]?.isBeingRevived = false
            guard error == nil else { return }
            tell(.revived(id))
            flush([id])
        case (.remove(let id), _), (.note(_, let id), _): tell(.settled(id, error))
        }
    }

    /// What was written before this process is read; where that fails, it is tried again.
    private func taken(_ error: OutboxError?) {
        guard error == nil else {
            alarm = now + Backoff.longest
            return
        }
        isLoaded = true
        tell(.loaded(disk.entries))
        look()
    }

    func flush(_ ids: [String]) {
        for session in lanes.indices { lanes[session].flushed() }
        tell(.flush(ids))
        for session in lanes.indices { lanes[session].isFlushing = false }
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
        callers = []
        alarm = nil
        // Calls before it are carried out where a later one is: one connection, one after the other.
        for (number, call) in diskCalls.sorted(by: { $0.key < $1.key }) where !call.isCarriedOut && !call.fails {
            guard random.next() & 1 == 0 else { break }
            carryOut(number)
        }
        diskCalls = [:]
        diskIsFreeAt = now
        for id in writes.keys { writes[id]?.forget() }
        for session in lanes.indices { lanes[session] = WatchedLane() }
        queue.add(.restart, at: now + fuse.down)
        lastFault = max(lastFault, now + fuse.down)
    }

    func restart() {
        guard !isRunning else { return }
        note("† it starts again")
        isRunning = true
        isLoaded = false
        machine = OutboxMachine(seed: random.next())
        look()
    }
}
