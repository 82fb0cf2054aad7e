import AuthMachines
import AuthModel
import AuthWire

/// What is done to the world.
extension SimulationRun {
    func perform(_ operation: SimulatedOperation) {
        // A shortened schedule may have lost a session.
        guard operation.session.map(seats.indices.contains) ?? true else { return }
        if operation.isFault { lastFault = max(lastFault, now) }
        switch operation {
        case .ask(let session, let ask): perform(ask, of: session)
        case .leave(let session):
            guard let caller = seats[session]?.callers.first else { return }
            seats[session]?.callers.removeFirst()
            handle(session, .callerGone(caller.id))
        case .network(let state):
            // What is on its way then is lost, even if the change is not noticed.
            troubledUntil = now
            network = state
            queue.add(.networkReported, at: now + random.duration(in: .milliseconds(1)...Duration.seconds(1)))
        case .provider(let behaviour):
            troubledUntil = now
            provider.behaviour = behaviour
        case .store(let behaviour): setStore(behaviour)
        case .revoke(let session):
            if let account = provider.accounts.lastIndex(where: { $0.session == key(session) }) {
                provider.revoke(account)
            }
        case .otherWriter(let session): renewElsewhere(session)
        case .removeFromStore(let session):
            guard setting.reportsChanges, storeCalls.isEmpty else { return }
            store.carryOut(.delete, for: key(session))
            reportStoreChange(key(session))
        case .setClock(let jump):
            clockSetAt = now
            clockError += jump
            for session in seats.indices { doubt(session) }
            for session in seats.indices { handle(session, .clockSet) }
        case .sleep(let duration):
            now += duration
            queue.delay(until: now)
            for session in seats.indices { seats[session]?.sleeps(duration) }
            lastFault = max(lastFault, now)
            troubledUntil = now
        case .crash(let actions, let down, let reboot):
            fuse = (crashes % setting.agents, actions, down, reboot)
            crashes += 1
            lastFault = max(lastFault, now + down)
            if actions == 0 { die() }
        case .reload(let renewable):
            self.renewable = renewable
            troubledUntil = now
            for session in seats.indices { handle(session, .renewable(renewable ? setting.means : .none)) }
        }
    }

    /// The end of all faults. What is in progress continues.
    func heal() {
        note("· all is well again")
        fuse = nil
        lastFault = max(lastFault, now)
        provider.behaviour = .well
        troubledUntil = now
        if network != .online { perform(.network(.online)) }
        if store.behaviour != .ready { setStore(.ready) }
        if !renewable { perform(.reload(renewable: true)) }
    }

    private func setStore(_ behaviour: StoreBehaviour) {
        store.behaviour = behaviour
        troubledUntil = now
        guard behaviour == .ready else { return }
        load()
        for session in seats.indices { handle(session, .storeReady) }
    }

    // MARK: Callers

    private func perform(_ ask: Ask, of session: Int) {
        guard isRunning(session) else { return }
        if ask == .signIn { return beginSignIn(session) }
        guard let seat = seats[session] else { return }
        switch ask {
        case .token(let minValid):
            // As the dispatcher does: memory first, the session only if that cannot answer.
            if let snapshot = seat.snapshot, let token = snapshot.token?.reveal(),
                LiveToken(snapshot)?.isGood(minValid: minValid, at: moment.boot) == true
            {
                return checkReturned(token, session)
            }
            let held = goodToken(of: session)
            let caller = wait(session)
            seat.tokenCallers.insert(caller)
            handle(session, .tokenRequested(caller, minValid: minValid))
            if minValid == nil, let held { checkServed(caller, held, session) }
        case .renewal:
            calls[session].requested(at: now)
            seat.noteForced()
            handle(session, .renewalRequested(wait(session)))
        case .reject(let current):
            let token = current ? seat.snapshot?.token?.reveal() : seat.formerToken
            guard let token else { return }
            if current { noteRejection(of: token, session) }
            if mayCount(token, seat) { seat.reported.insert(token) }
            seat.noteForced()
            handle(session, .rejected(wait(session), Secret(token)))
        case .targeted(let number):
            calls[session].requested(at: now)
            // Before each such request, the session's own token may have to be renewed.
            let others = seat.callers.count
            handle(
                session,
                .targetedTokenRequested(
                    wait(session, longer: callerTimeout * (1 + others)),
                    Self.targets[number % Self.targets.count],
                    minValid: nil
                ))
        case .signOut: signOut(session, revokes: true)
        case .signOutQuietly: signOut(session, revokes: false)
        case .signIn: break
        case .write: handle(session, .writeRequested(wait(session)))
        case .userChange:
            handle(session, .userReceived(UserSummary(id: "\(nextNumber())"), raw: .null))
        case .setPassword: handle(session, .passwordSet(Secret("secret"), rememberedAs: nil))
        case .check: handle(session, .checkDue)
        case .makeDefault: handle(session, .defaultChosen())
        }
    }

    /// - Parameter longer: than other callers.
    func wait(_ session: Int, longer: Duration = .zero) -> CallerID {
        let caller = CallerID(UInt64(nextNumber()))
        seats[session]?.callers.append((caller, now + longer))
        return caller
    }

    /// Another program does with the store's record what we do: it renews, and writes.
    private func renewElsewhere(_ session: Int) {
        guard var record = store.records[key(session)], storeCalls.isEmpty, network != .offline, network != .portal,
            provider.accepts(record.tokens, at: now)
        else { return }
        let result = provider.renew(
            record.tokens, statedLife: setting.life, sentAt: now, wallAtSending: moment.wall, at: now)
        guard case .success(let grant) = result else { return }
        if grant.accessToken == nil { provider.prolong(record.tokens, grant, sentAt: now) }
        record.tokens.accessToken = grant.accessToken ?? record.tokens.accessToken
        record.tokens.refreshToken = grant.refreshToken ?? record.tokens.refreshToken
        record.tokens.issuedAt = grant.issuedAt
        record.tokens.expiresAt = grant.expiresAt
        record.generation += 1
        guard setting.reportsChanges else { return store.writeUnreported(record, for: key(session)) }
        store.carryOut(.save(record, replacesOther: false), for: key(session))
        reportStoreChange(key(session))
    }

    /// The store reports to all agents that a record was written or removed.
    func reportStoreChange(_ key: Int) {
        guard setting.reportsChanges else { return }
        for session in seats(of: key) { handle(session, .storeChanged) }
    }

    static let names: [SessionName] = (0..<1000).compactMap { try? SessionName("s\($0)") }
    static let targets: [TokenTarget] = [
        TokenGet(scopes: ["read"]), TokenGet(scopes: ["read", "write"]),
        TokenGet(audience: "https://api.example"),
    ].compactMap { try? TokenTarget($0) }
}

extension SimulatedSession {
    /// Time asleep does not count as waiting.
    func sleeps(_ duration: Duration) {
        for index in callers.indices { callers[index].since += duration }
    }

    /// A new sign-in: what was known of the former one is of no use.
    func begins(account: Int) {
        self.account = account
        signOutAsked = false
        sawFinal = false
        readAgain = false
        rejected = []
        reported = []
        formerToken = nil
        targetedTokens = [:]
    }
}

extension SimulatedOperation {
    fileprivate var session: Int? {
        switch self {
        case .ask(let session, _), .leave(let session), .revoke(let session), .otherWriter(let session),
            .removeFromStore(let session):
            session
        case .network, .provider, .store, .setClock, .sleep, .crash, .reload: nil
        }
    }

    /// See ``SimulationRun/mayNeedTwoRequests``.
    var doublesWaits: Bool {
        switch self {
        case .otherWriter, .ask(_, .targeted): true
        default: false
        }
    }

    /// Whether the time for the recovery begins again after it.
    var isFault: Bool {
        switch self {
        case .ask(_, .reject), .ask(_, .signOut), .ask(_, .signOutQuietly), .ask(_, .signIn): true
        case .ask, .leave: false
        case .network, .provider, .store, .revoke, .otherWriter, .removeFromStore, .setClock, .sleep, .crash, .reload:
            true
        }
    }
}

extension StoreBehaviour {
    var isSlow: Bool { if case .slow = self { true } else { false } }
}
