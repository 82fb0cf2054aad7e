import AuthMachines
import AuthModel
import AuthWire

/// What is done to the world.
extension OutboxSimulationRun {
    func perform(_ operation: OutboxOperation) {
        // A shortened schedule may have lost a session.
        guard operation.session.map(accounts.indices.contains) ?? true else { return }
        lastFault = max(lastFault, now)
        switch operation {
        case .post(let session): post(session)
        case .leave:
            guard let caller = callers.first else { return }
            handle(.callerGone(caller.caller))
        case .network(let state):
            guard state != network else { return }
            (network, networkSince) = (state, now)
            queue.add(.looks, at: now + random.duration(in: .milliseconds(1)...Duration.seconds(1)))
        case .provider(let behaviour):
            self.behaviour = behaviour
            queue.add(.looks, at: now + random.duration(in: .milliseconds(1)...Duration.seconds(1)))
        case .disk(let behaviour): disk.behaviour = behaviour
        case .signOut(let session): become(.signedOut, session)
        case .signIn(let session, let other): become(other ? .other : .owner, session)
        case .flush:
            guard isRunning, machine.isLoaded else { return }
            flushing { request(.flush(OutboxParams())) }
        case .drop(let session): drop(session)
        case .revive(let session): revive(session)
        case .setClock(let jump): clockError += jump
        case .sleep(let duration):
            now += duration
            queue.delay(until: now)
            for index in callers.indices { callers[index].since += duration }
            lastFault = max(lastFault, now)
        case .crash(let actions, let down):
            fuse = (actions, down)
            lastFault = max(lastFault, now + down)
            if actions == 0 { die() }
        }
    }

    /// The end of all faults. What is in progress continues.
    func heal() {
        note("· all is well again")
        fuse = nil
        disk.behaviour = .ready
        for session in accounts.indices where accounts[session] == .signedOut { become(.owner, session) }
        perform(.provider(.well))
        if network != .online { perform(.network(.online)) }
        lastFault = max(lastFault, now)
    }

    private func become(_ account: Account, _ session: Int) {
        accounts[session] = account
        queue.add(.looks, at: now + random.duration(in: .milliseconds(1)...Duration.milliseconds(100)))
    }

    private func post(_ session: Int) {
        // Without an account nothing is accepted.
        guard isRunning, accounts[session] != .signedOut else { return }
        look()
        // It may have died of what it saw.
        guard isRunning else { return }
        let number = nextNumber()
        let entry = OutboxEntry(
            id: "w\(number)", session: SimulationRun.names[session],
            owner: OutboxEntry.Owner(provider: "example", environment: "production", userID: userID(session)),
            title: "POST /votes", idempotencyKey: "key-\(number)", queuedAt: moment.wall)
        writes[entry.id] = WatchedWrite(session: session, order: number)
        coverage.writes += 1
        let caller = CallerID(UInt64(number))
        callers.append((caller, entry.id, now))
        handle(.requested(caller, .post(entry, OutboxWrite(.request(APIRequest(method: "POST", path: "/votes"))))))
    }

    func userID(_ session: Int) -> String? {
        switch accounts[session] {
        case .signedOut: nil
        case .owner: "1"
        case .other: "2"
        }
    }

    private func drop(_ session: Int) {
        guard isRunning, machine.isLoaded,
            let entry = machine.entries.first(where: { $0.session == SimulationRun.names[session] })
        else { return }
        writes[entry.id]?.drops += 1
        request(.drop(OutboxParams(id: entry.id)), dropping: entry.id)
    }

    private func revive(_ session: Int) {
        let name = SimulationRun.names[session]
        guard isRunning, machine.isLoaded,
            let entry = machine.entries.first(where: { $0.session == name && $0.finalRefusal != nil })
        else { return }
        writes[entry.id]?.isBeingRevived = true
        request(.flush(OutboxParams(id: entry.id)), reviving: entry.id)
    }

    private func request(_ command: OutboxCommand, dropping id: String? = nil, reviving: String? = nil) {
        let caller = CallerID(UInt64(nextNumber()))
        userRequests[caller] = id
        revivals[caller] = reviving
        if case .flush(let params) = command, params.id == nil {
            flushes[caller] = Set(machine.entries.filter { $0.finalRefusal == nil }.map(\.id))
        }
        handle(.requested(caller, command))
    }

    /// Everything may be sent meanwhile: the user wants it.
    func flushing(_ work: () -> Void) {
        for session in sessions.indices { sessions[session].flushed() }
        work()
        for session in sessions.indices { sessions[session].isFlushing = false }
    }
}

extension OutboxOperation {
    fileprivate var session: Int? {
        switch self {
        case .post(let session), .signOut(let session), .signIn(let session, _), .drop(let session),
            .revive(let session):
            session
        case .leave, .network, .provider, .disk, .flush, .setClock, .sleep, .crash: nil
        }
    }
}
