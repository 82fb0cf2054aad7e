import AuthMachines
import AuthModel
import AuthWire

/// The agent: what becomes of the machine's actions, and how the process dies and comes back.
extension SimulationRun {
    /// An event for a session's machine; nothing if there is no such session.
    func handle(_ session: Int, _ event: SessionEvent) {
        guard isRunning(session), violation == nil, let seat = seats[session] else { return }
        guard fault?.swallows(event) != true else { return }
        let before = MachineState(seat)
        let former = seat.forced.isEmpty ? nil : seat.machine.record.tokens.accessToken
        let turn = seat.machine.handle(event, at: moment)
        note("  \(session): \(event.words)")
        followSignIn(event, seat)
        carryOut(turn, for: session)
        if let former { seat.passOnForced(from: former) }
        if let after = seats[session].map(MachineState.init) {
            coverage.count(before, EventKind(event), after)
            checkSeat(session)
        }
    }

    func begin(_ session: Int) {
        guard let seat = seats[session] else { return }
        carryOut(seat.machine.handle(.begun, at: moment), for: session)
        checkSeat(session)
    }

    /// As ``Runner`` does it: the actions, then the replies, then the deadline.
    private func carryOut(_ turn: SessionTurn, for session: Int) {
        guard let seat = seats[session] else { return }
        let turn = fault?.changed(turn, for: seat) ?? turn
        for action in turn.actions {
            if let fuse, fuse.agent == agent(of: session) {
                guard fuse.actions > 0 else { return die() }
                self.fuse?.actions -= 1
            }
            guard violation == nil else { return }
            note("    \(session): → \(action.words)")
            carryOut(action, for: session)
        }
        for (caller, answer) in turn.replies {
            guard violation == nil, seats[session] === seat else { break }
            note("    \(session): → answer caller \(caller.number): \(answer.words)")
            if fault == .answersLate {
                delay(answer, to: caller, of: session)
                continue
            }
            deliver(answer, to: caller, of: session)
        }
        if seats[session] === seat, turn.forgets { forget(session) }
        if seats[session] === seat, turn.wakeUp != seat.wakeUp {
            seat.wakeUp = turn.wakeUp
            seat.alarm = turn.wakeUp.map { max(time(of: $0), now) }
            note("    \(session): → " + (turn.wakeUp.map { "wake at boot + \($0.sinceBoot)" } ?? "no deadline"))
        }
        if let fuse, fuse.actions <= 0 { die() }
    }

    private func carryOut(_ action: SessionAction, for session: Int) {
        switch action {
        case .renew(let currentRequest, let record):
            checkNetwork(session)
            send(currentRequest, record, for: session)
        case .requestTargeted(let currentRequest, let record, let target):
            checkNetwork(session)
            send(currentRequest, record, for: session, to: target)
        case .reread(let currentRequest): callStore(.load(currentRequest), for: session)
        case .save(let record, let replacesOther):
            checkGeneration(of: record.tokens, session, "written")
            callStore(.save(record, replacesOther: replacesOther), for: session)
        case .rewrite(let record):
            checkGeneration(of: record.tokens, session, "written")
            callStore(.save(record, replacesOther: false), for: session)
        case .compare: callStore(.compare, for: session)
        case .handOver(let handedOver):
            seats[session]?.newest = handedOver?.record
            if setting.handsOver { handovers[session] = handedOver }
        case .delete:
            if seats[session]?.signOutAsked != true { report(.deletion, "a removal without a sign-out") }
            callStore(.delete, for: session)
        case .revoke(let record): revokeLate(record, session)
        case .publish(let snapshot): publish(snapshot, for: session)
        // Once its callers have their replies.
        case .forget: break
        }
    }

    private func forget(_ session: Int) {
        checkNoCallerWaits(session)
        pauses[session] = nil
        signOuts[session] = nil
        seats[session] = nil
        updateNotices()
    }

    private func publish(_ snapshot: SessionSnapshot, for session: Int) {
        checkPublished(snapshot, session)
        if let token = seats[session]?.snapshot?.token, token != snapshot.token {
            seats[session]?.formerToken = token.reveal()
        }
        if snapshot.status.state != .stale {
            seats[session]?.staleSince = nil
        } else if seats[session]?.staleSince == nil {
            seats[session]?.staleSince = now
        }
        checkLastChance(snapshot, session)
        seats[session]?.snapshot = snapshot
        pauses[session] = snapshot.pause
        history?[session].note(snapshot.status.state, at: now)
        updateNotices()
    }

    private func deliver(_ answer: SessionReply, to caller: CallerID, of session: Int) {
        guard let index = seats[session]?.callers.firstIndex(where: { $0.id == caller }) else {
            return report(.answers, "a reply to a caller that does not wait")
        }
        if let since = seats[session]?.callers.remove(at: index).since { checkWait(of: caller, since: since) }
        let wantsToken = seats[session]?.tokenCallers.remove(caller) != nil
        if case .failure(let error) = answer, wantsToken { checkRefused(caller, error, session) }
        if case .token(let result) = answer {
            checkReturned(result.accessToken, session)
            if let target = seats[session]?.targets[result.accessToken] {
                seats[session]?.targetedTokens[target] = result.accessToken
            }
        }
        if seats[session]?.revokers.remove(caller) != nil { reportSignOut(session) }
    }

    /// Carries out the injected fault `answersLate`.
    private func delay(_ answer: SessionReply, to caller: CallerID, of session: Int) {
        let number = nextNumber()
        lateReplies[number] = LateReply(
            reply: answer, caller: caller, session: session, process: process(of: session))
        queue.add(.repliesLate(number), at: now + .seconds(120))
    }

    func replyLate(_ number: Int) {
        guard let late = lateReplies.removeValue(forKey: number), late.process == process(of: late.session) else {
            return
        }
        deliver(late.reply, to: late.caller, of: late.session)
    }

    /// Another program has signed in again, and put that into the store in place of ours.
    private func followSignIn(_ event: SessionEvent, _ seat: SimulatedSession) {
        switch event {
        case .compared, .saveRefused, .storeReread: break
        default: return
        }
        guard setting.agents > 1, let account = provider.account(of: seat.machine.record.tokens),
            account != seat.account
        else { return }
        seat.begins(account: account)
    }

    // MARK: The store's answers

    func callStore(_ call: SimulatedStore.Call, for session: Int) {
        let usual = random.duration(in: setting.storeTime)
        let fate = store.fate(usual: usual)
        let number = nextNumber()
        storeCalls[number] = StoreCall(session: session, call: call, seat: seats[session], error: fate.error)
        if fate.carriedOut, fault != .losesWrites {
            if !setting.hasAtomicUpdates { queue.add(.storeCompares(number), at: now + fate.after / 4) }
            queue.add(.storeCarriesOut(number), at: now + fate.after / 2)
        }
        queue.add(.storeAnswers(number), at: now + fate.after)
    }

    func storeReplied(_ number: Int) {
        guard let call = storeCalls.removeValue(forKey: number), let seat = call.seat,
            seat === seats[call.session]
        else { return }
        let session = call.session
        switch (call.call, call.error) {
        case (.save(let record, _), nil):
            settle(record, session)
            guard let found = call.found else {
                seats[session]?.storeAccepted = true
                return handle(session, .saved(record.version))
            }
            store.markSeen(key(session))
            adopt(found.tokens, session)
            handle(session, .saveRefused(record.version, found))
        case (.save(let record, _), let error?):
            settle(record, session)
            handle(session, .saveFailed(record.version, error))
        case (.delete, nil): handle(session, .deleted())
        case (.delete, let error?): handle(session, .deleteFailed(error))
        case (.compare, nil):
            let own = seat.machine.record.tokens
            if let tokens = store.records[key(session)]?.tokens,
                !tokens.areSame(as: own) || tokens.issuedAt != own.issuedAt
            {
                adopt(tokens, session)
            }
            handle(session, .compared(.success(store.read(key(session)))))
        case (.compare, let error?):
            // What was to be written after it counts as refused.
            if let newest = seat.newest { settle(newest, session) }
            handle(session, .compared(.failure(error)))
        case (.load(let currentRequest), nil):
            seats[session]?.readAgain = true
            if let tokens = store.records[key(session)]?.tokens { adopt(tokens, session) }
            handle(session, .storeReread(currentRequest, .success(store.read(key(session)))))
        case (.load(let currentRequest), let error?): handle(session, .storeReread(currentRequest, .failure(error)))
        }
    }

    private func settle(_ record: SessionRecord, _ session: Int) {
        let token = record.tokens.accessToken.reveal()
        seats[session]?.settled.insert(token)
        if let refresh = record.tokens.refreshToken { seats[session]?.settledRefreshTokens.insert(refresh.reveal()) }
        if seats[session]?.measured[token] == record.tokens.issuedAt {
            seats[session]?.readings[token]?.doubtfulUntil = nil
        }
    }

    /// What the store holds of another writer is settled, and read under the clock of now: its dates may have been made
    /// under another one.
    private func adopt(_ tokens: TokenSet, _ session: Int) {
        seats[session]?.settled.insert(tokens.accessToken.reveal())
        if let refresh = tokens.refreshToken { seats[session]?.settledRefreshTokens.insert(refresh.reveal()) }
        let token = tokens.accessToken.reveal()
        if let facts = provider.issued[token] {
            // An agent keeps the dates of the token in use only: of a former one it knows what it reads now.
            if seats[session]?.machine.record.tokens.accessToken != tokens.accessToken {
                seats[session]?.readings[token] = nil
            }
            seats[session]?.readings[token, default: .init(facts: facts)].validSince = tokens.issuedAt
        }
        doubt(session)
    }

    // MARK: Death and return

    func die() {
        guard let fuse else { return }
        self.fuse = nil
        let dying = fuse.reboot ? Array(running.indices) : [fuse.agent]
        guard dying.contains(where: { running[$0] }) else { return }
        note("† the process dies" + (setting.agents > 1 ? " of agents \(dying)" : ""))
        for agent in dying { end(agent) }
        // A call that has left the process is carried out or not.
        for (number, call) in storeCalls.sorted(by: { $0.key < $1.key }) where dying.contains(agent(of: call.session)) {
            storeCalls[number] = nil
            guard call.error == nil, random.next() & 1 == 0 else { continue }
            call.carryOut(in: store, at: key(call.session))
            // The store notifies the other agents, even of a call by an agent that died.
            if setting.agents > 1, call.call.isChange { reportStoreChange(key(call.session)) }
        }
        if !running.contains(true) {
            (line, lineWakesAt) = (RenewalQueue(), nil)
            heldUntil = .zero
            lately = []
        }
        if fuse.reboot {
            bootedAt = now + fuse.down - .seconds(20)
            // Their files do not outlive a reboot.
            pauses = [:]
            handovers = [:]
        }
        for agent in dying { queue.add(.restart(agent), at: now + fuse.down) }
        lastFault = max(lastFault, now + fuse.down)
    }

    private func end(_ agent: Int) {
        running[agent] = false
        processes[agent] += 1
        for session in seats.indices where self.agent(of: session) == agent {
            // A sign-out that ends with its process: the next one revokes what the store has.
            if let account = seats[session]?.account, signedOut[account]?.hasReached == false {
                signedOut[account] = nil
            }
            seats[session] = nil
        }
        // The process that was to revoke these tokens has ended.
        for (number, revocation) in revocations where self.agent(of: revocation.session) == agent {
            signedOut[revocation.account]?.isExcused = true
            revocations[number] = nil
        }
        if agent == 0 { forgetNotices() }
    }

    func restart(_ agent: Int) {
        guard !running[agent] else { return }
        note("† it starts again")
        troubledUntil = max(troubledUntil, now)
        if !running.contains(true) {
            reportedNetwork = network
            networkReportedAt = now
        }
        running[agent] = true
        restoreHandedOver()
        load()
    }

    /// What the process before handed over is served, whatever the store does.
    private func restoreHandedOver() {
        for (session, handover) in handovers.sorted(by: { $0.key < $1.key })
        where isRunning(session) && seats[session] == nil {
            guard signOuts[session] != handover.record.signIn else { continue }
            let machine = SessionMachine(
                handedOver: handover, means: renewable ? setting.means : .none, pause: pauses[session],
                now: moment, seed: random.next())
            sit(machine, session)
        }
    }

    /// Loads sessions that only the store has, if it is open, as ``SessionRegistry`` does.
    func load() {
        guard store.behaviour == .ready || store.behaviour.isSlow else { return }
        for session in seats.indices where isRunning(session) && seats[session] == nil {
            guard let record = store.restored(key(session)) else { continue }
            if let signIn = signOuts.removeValue(forKey: session), signIn == record.signIn {
                store.carryOut(.delete, for: key(session))
                reportStoreChange(key(session))
                continue
            }
            let machine = SessionMachine(
                stored: record, means: renewable ? setting.means : .none, pause: pauses[session], now: moment,
                seed: random.next())
            sit(machine, session)
        }
    }

    private func sit(_ machine: SessionMachine, _ session: Int) {
        let tokens = machine.record.tokens
        guard let account = provider.account(of: tokens) else { return }
        seats[session] = SimulatedSession(machine: machine, account: account, process: process(of: session))
        adopt(tokens, session)
        if let pause = pauses[session], pause.isRequestedByProvider {
            // Under a clock that was set back it begins again.
            provider.holdsOffUntil = max(provider.holdsOffUntil, now + pause.left(at: moment.wall))
        }
        handle(session, .networkChanged(reportedNetwork))
        begin(session)
    }

    /// What the clock of now says of tokens that were read. If they were dated under the same clock, their age is known,
    /// and stays so for one that can be renewed; otherwise it is only known that they end a whole life from now.
    func doubt(_ session: Int) {
        guard let seat = seats[session] else { return }
        let inUse = seat.machine.record.tokens
        let factsInUse = provider.issued[inUse.accessToken.reveal()]
        let isRenewed = setting.canRenew && renewable
        // In seconds: arithmetic with durations is slow, and much is compared here.
        let expected = Self.begin + clockError.seconds
        var index = seat.readings.values.startIndex
        while index != seat.readings.values.endIndex {
            defer { seat.readings.values.formIndex(after: &index) }
            var reading = seat.readings.values[index]
            if reading.prolongations != reading.facts.prolongations {
                reading = SimulatedSession.Reading(facts: reading.facts, validSince: reading.validSince)
                seat.readings.values[index] = reading
            }
            guard let asRead = reading.validSince else { continue }
            let validSince = reading.facts === factsInUse ? inUse.issuedAt : asRead
            if abs(validSince.unixSeconds - reading.facts.sentAtSeconds - expected) <= 0.001 {
                seat.readings.values[index].isKnown = true
                seat.readings.values[index].doubtfulUntil = nil
            } else if !reading.isKnown || !isRenewed {
                let end = reading.facts.life.map { now + $0 } ?? Self.never
                seat.readings.values[index].isKnown = false
                seat.readings.values[index].doubtfulUntil = min(reading.doubtfulUntil ?? end, end)
            }
        }
    }

    func reportNetwork() {
        guard running.contains(true), reportedNetwork != network else { return }
        troubledUntil = max(troubledUntil, now)
        reportedNetwork = network
        networkReportedAt = now
        updateNotices()
        for session in seats.indices { handle(session, .networkChanged(network)) }
    }
}

extension SessionTurn {
    fileprivate var forgets: Bool { actions.contains { if case .forget = $0 { true } else { false } } }
}
