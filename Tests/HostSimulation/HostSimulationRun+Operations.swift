import AuthAgent
import AuthEtcd
import AuthModel
import AuthWire

/// The events that affect the hosts, and the actions of their users.
extension HostSimulationRun {
    /// How long users wait for a time without faults.
    private static let longestPause = Duration.seconds(240)

    func perform(_ operation: HostOperation) {
        switch operation {
        case .ask(let host, let ask): self.ask(host, ask)
        case .signIn(let host): act(host) { signIn($0) }
        case .signOut(let host): act(host) { signOut($0) }
        case .forget(let host, let remover): act(remover) { forget(hosts[host % hosts.count], by: $0) }
        case .changeKey(let host): act(host) { changeKey($0) }
        case .cut(let number, let duration):
            let host = fail(number, for: duration)
            host.cutUntil = max(host.cutUntil, time.now + duration)
            endWatches(of: host)
        case .loseAnswers(let number, let duration):
            let host = fail(number, for: duration)
            host.losesAnswersUntil = max(host.losesAnswersUntil, time.now + duration)
            endWatches(of: host)
        case .pause(let number, let duration):
            let host = fail(number, for: duration)
            host.pausedUntil = max(host.pausedUntil, time.now + duration)
            // The process continues after this time.
            time.after(duration) {}
        case .kill(let number, let down):
            let host = fail(number, for: down)
            kill(host)
            time.after(down) { [self] in start(host) }
        case .etcdGone(let duration):
            etcdGoneUntil = max(etcdGoneUntil, time.now + duration)
            etcd.prolongLeases(to: etcdGoneUntil)
            leasesProlongedAt = max(leasesProlongedAt, etcdGoneUntil)
            for host in hosts {
                _ = fail(host.number, for: duration)
                endWatches(of: host)
            }
        case .provider(let behaviour): self.behaviour = behaviour
        case .setClock(let number, let jump):
            let host = hosts[number % hosts.count]
            host.clockError += jump
            if fault != .hidesClocks { host.process?.sleep.clockWasSet() }
        case .backUp: backup = etcd
        case .restore(let members): restore(members)
        }
    }

    private func fail(_ number: Int, for duration: Duration) -> SimulatedHost {
        let host = hosts[number % hosts.count]
        host.lastFault = max(host.lastFault, time.now + duration)
        host.interrupt(from: time.now, to: time.now + duration)
        lastFaultBegan = time.now
        return host
    }

    func isWell(_ host: SimulatedHost) -> Bool {
        isReachable(host) && time.now >= max(host.losesAnswersUntil, host.pausedUntil)
    }

    // MARK: Programs

    private func ask(_ number: Int, _ ask: HostAsk) {
        guard let process = running(number) else { return }
        let caller = nextNumber()
        process.waiting[caller] = time.now
        let (registry, requests) = (process.registry, process.requests)
        process.perform {
            switch ask {
            case .token: _ = try? await requests.token(TokenGet(session: Self.name))
            case .renewal: try? await registry.session(named: Self.name)?.renew()
            case .reject:
                if let session = registry.session(named: Self.name) {
                    try? await session.reject(await session.record.tokens.accessToken)
                }
            }
            process.waiting[caller] = nil
        }
    }

    // MARK: Users

    /// Acts once there is no fault, so that the expected result is known.
    private func act(_ number: Int, _ act: (SimulatedHost) -> Void) {
        let end = time.now + Self.longestPause
        while violation == nil, !isQuiet, time.now < end { go(until: time.now + .seconds(1)) }
        let host = hosts[number % hosts.count]
        guard violation == nil, isQuiet, !host.isOutside, host.process != nil else { return note("  not now") }
        act(host)
    }

    private var isQuiet: Bool {
        restore == nil && acting == nil && time.now >= max(silentUntil, heldOffUntil)
            && members.allSatisfy {
                $0.process != nil && isWell($0) && time.now >= $0.lastFault + Self.convergence
            }
    }

    /// There is no fault when a user acts. So an operation that fails or does not end, without a later fault, breaks a
    /// rule.
    /// - Parameter work: returns whether it has succeeded.
    private func begin(
        _ host: SimulatedHost, _ operation: String, _ work: @escaping @Sendable (SimulatedProcess) async -> Bool
    ) {
        guard let process = host.process else { return }
        let (began, caller) = (time.now, nextNumber())
        acting = process.number
        process.waiting[caller] = began
        process.perform { [self] in
            let hasSucceeded = await work(process)
            process.waiting[caller] = nil
            if acting == process.number { acting = nil }
            guard !hasSucceeded, process.life.isAlive, lastFaultBegan < began else { return }
            report(.liveness, "host \(process.host): \(operation) failed, and nothing else has since \(began)")
        }
    }

    func admit(_ host: SimulatedHost, by member: SimulatedHost) {
        guard let newcomer = host.process, let admitting = member.process else { return }
        newcomer.perform { [self] in
            guard let code = try? await newcomer.store.requestAdmission() else {
                return report(.liveness, "host \(host.number) cannot ask to be admitted")
            }
            admitting.perform { [self] in
                guard (try? await admitting.store.admit(code)) == host.name else {
                    return report(.liveness, "host \(host.number) is not admitted")
                }
            }
        }
    }

    func signIn(_ host: SimulatedHost) {
        let (account, access, refresh) = provider.signIn()
        endSignIn()
        // Without a record, the host reads which sign-ins the last sign-out lists.
        let listed = etcd.hasSession ? [] : etcd.endedAccounts
        formerAccounts[account] = listed.union(host.process?.endedAccounts ?? [])
        let life = schedule.life
        tokenTimes[access] = (time.now, time.now + life)
        begin(host, "a sign-in") { [self] process in
            let now = process.clock.now()
            let record = SessionRecord(
                session: Self.name, provider: SimulatedProfile.name, environment: "local", method: "password",
                tokens: TokenSet(
                    accessToken: Secret(access), refreshToken: Secret(refresh), issuedAt: now.wall,
                    expiresAt: now.wall + life),
                user: nil, rawUser: nil, signedInAt: now.wall)
            guard (try? await process.registry.signedIn(record, sentAt: now)) != nil, await isSaved(by: process) else {
                return false
            }
            expected = .signedIn(account: account)
            // They may have been renewed before they were written.
            guard commit?.tokens.account != account else { return true }
            (isLossExcused, commit) = (false, nil)
            etcd.newestWritten = WrittenTokens(account: account, number: 1)
            return true
        }
    }

    /// The present sign-in is about to be replaced or to end.
    private func endSignIn() {
        expected = .unknown
        for process in members.compactMap(\.process) {
            guard let account = process.refresh?.account else { continue }
            process.endedAccounts.formUnion(formerAccounts[account] ?? [])
            process.endedAccounts.insert(account)
        }
    }

    /// Waits until the session of this process is in etcd. The host may find only with its write that etcd was restored
    /// while it was held off, and writes no record until it has read everything again.
    private func isSaved(by process: SimulatedProcess) async -> Bool {
        let end = time.now + Self.writing
        while process.life.isAlive, process.context.board.status(Self.name)?.unsaved != false {
            guard time.now < end, (try? await process.life.wait(for: .milliseconds(100))) != nil else { return false }
        }
        return process.life.isAlive
    }

    private func signOut(_ host: SimulatedHost) {
        // A host that has not heard of the last sign-in yet would end the former one.
        guard let account, host.process?.refresh?.account == account else { return note("  not now") }
        endSignIn()
        begin(host, "a sign-out") { [self] process in
            guard (try? await process.requests.logout(SessionLogout(session: Self.name))) != nil, process.life.isAlive
            else { return false }
            (expected, etcd.endedAccounts) = (.signedOut, process.endedAccounts)
            coverage.signOuts += 1
            return true
        }
    }

    private func forget(_ host: SimulatedHost, by remover: SimulatedHost) {
        guard !host.isOutside, host !== remover, members.count > 2 else { return }
        host.outsideSince = time.now
        formerHosts = etcd.entries.first { EtcdDatabase.isHostList($0.key) }?.value
        begin(remover, "the removal of host \(host.number)") { [self] process in
            let found = try? await process.store.members().first { $0.name == host.name }
            guard let found else { return false }
            let failed = try? await process.registry.renewAll { [self] () throws(AgentError) in
                guard (try? await process.store.remove(found)) != nil, process.life.isAlive else {
                    throw AgentError(.busy, "The host was not removed.")
                }
                host.removedAt = time.now
                coverage.removedHosts += 1
            }
            guard failed != nil else { return false }
            try? await process.store.endKeyChange()
            return true
        }
    }

    private func changeKey(_ host: SimulatedHost) {
        begin(host, "a change of the key") { [self] process in
            guard (try? await process.store.rekey(.sameOutside, current: nil)) != nil else { return false }
            if (try? await process.store.isRekeying()) ?? false { try? await process.store.endKeyChange() }
            coverage.keyChanges += 1
            return true
        }
    }
}
