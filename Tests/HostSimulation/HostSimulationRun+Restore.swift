import AuthEtcd
import AuthModel
import AuthWire

/// A backup that is restored while hosts run, and the data that the running hosts know.
struct Restore {
    let at: Duration
    /// Whether the backup lacks anything of the sessions or of the list of hosts.
    let isLacking: Bool
    /// Whether a host was renewing the session, or was about to.
    let wasRenewing: Bool
    /// The tokens that etcd had.
    let tokens: WrittenTokens?
    /// Processes that know everything that the backup lacks.
    var knowers: Set<Int>
    /// How long each of them has had no fault since the restore was marked in etcd, or since the process noticed it.
    var time: [Int: Duration] = [:]
}

/// What a response of etcd shows a process.
struct ShownState {
    let revision: Int64
    let cluster: Int
    /// How often etcd had been restored.
    let restores: Int
    /// The response has the mark.
    let hasMark: Bool
    /// The response is that of a check of the mark.
    let isCheck: Bool
    /// etcd had a different mark than the process expects: another host has noticed the restore.
    let isMarked: Bool
    /// etcd had a session.
    let hasSession: Bool
}

extension HostSimulationRun {
    /// The time in which a host writes data to etcd: missing data after it has noticed a restore, or tokens that it has
    /// received.
    static let writing = Duration.seconds(10)
    /// How long a host takes to read what has changed.
    private static let reading = Duration.seconds(2)
    /// A host that knows the missing data may be paused or disconnected for minutes. After this time the others are
    /// started.
    private static let longest = Duration.seconds(150)
    /// Hosts expect requests of others that etcd does not know of for 45 s (`EtcdLimits.recovery`).
    private static let unknownRequests = Duration.seconds(50)
    /// A host that has not read the mark for longer may have missed sign-outs: `EtcdLimits.longestSilence`, less the time
    /// that a call takes, because the host counts from the beginning of its call.
    private static let longestSilence = Duration.seconds(55)
    /// How long a watch that stays open may be silent: until the next check of it, and a call.
    private static let silence = Duration.seconds(40)

    func restore(_ members: RestoredMembers) {
        guard let backup, restore == nil, acting == nil, backup.revision < etcd.revision else {
            return note("  not now")
        }
        let former = etcd
        let wasRenewing = isRenewing
        coverage.restores += 1
        restoreCount += 1
        (restoredAt, heldOffUntil, noticed) = (time.now, time.now + Self.unknownRequests, [])
        etcd = backup
        etcd.restored(instead: former, isNew: members == .new, at: time.now)
        restoredMark = etcd.mark
        leasesProlongedAt = max(leasesProlongedAt, time.now)
        for process in processes { process.tellingHold = nil }
        expectLeaseEnd()
        if members == .behindProxy {
            silentUntil = time.now + Self.silence
        } else {
            for watch in watches { end(watch) }
        }
        let isLacking = former.lastRecordChange > backup.revision
        let knowers = self.members.compactMap(\.process).filter {
            $0.known > backup.revision && $0.knownCluster == former.clusterID && knows($0, former, without: backup)
        }
        note("  it lacks changes \(backup.revision + 1) to \(former.revision); hosts \(knowers.map(\.host)) know them")
        // A host that does not know that data is missing would act as if nothing were missing.
        for host in hosts where host.process.map({ $0.known <= backup.revision }) ?? true { holdOff(host) }
        restore = Restore(
            at: time.now, isLacking: isLacking, wasRenewing: wasRenewing, tokens: former.newestWritten,
            knowers: Set(knowers.map(\.number)))
        followRestore()
    }

    /// Whether the process has the data that etcd had, and has not only been notified of a change.
    private func knows(_ process: SimulatedProcess, _ former: EtcdDatabase, without backup: EtcdDatabase) -> Bool {
        let host = hosts[process.host]
        guard process.known >= former.lastRecordChange, time.now >= host.pausedUntil else { return false }
        let hasRead = time.now - changedAt >= Self.reading && host.lastFault < changedAt
        guard hasRead || process.number == changer else { return false }
        // A host that was started since a sign-in has ended treats it as a new one, unless a record lists it.
        let ended = backup.hasSession ? backup.newestWritten?.account : nil
        let listed = account.flatMap { formerAccounts[$0] } ?? []
        let knowsEnded = ended.map(process.endedAccounts.union(listed).contains) ?? true
        switch expected {
        case .unknown: return true
        case .signedOut: return process.tokens == nil && knowsEnded
        case .signedIn(let account):
            guard ended == account || knowsEnded else { return false }
            let parts = process.refresh
            // A record that is missing altogether counts as lost only for a host that has written it.
            guard backup.hasSession || process.lastWrite > backup.revision else { return false }
            let least = former.newestWritten.flatMap { $0.account == account ? $0.number : nil } ?? 1
            return parts?.account == account && parts?.number ?? 0 >= least
        }
    }

    private func holdOff(_ host: SimulatedHost) {
        host.isHeldOff = true
        host.interrupt(from: time.now, to: time.now + Self.longest + Self.unknownRequests)
        endWatches(of: host)
    }

    /// Whether another host has noticed a restore, and this process will find its mark with the next check.
    func isMarked(for process: SimulatedProcess) -> Bool { process.mark.map { $0 != etcd.mark } ?? false }

    /// Whether the process may not know yet that etcd was restored a short time ago: no other host had noticed the
    /// restore when this one got its hold. The page about clusters names this limit.
    func isUnaware(_ process: SimulatedProcess) -> Bool {
        time.now - restoredAt < Self.unknownRequests && !noticed.contains(process.number)
    }

    /// Checks that a host which notices the restore by its own hold gives that back together with the mark: no other
    /// host can hold the session in between without seeing that.
    /// - Parameters:
    ///   - holds: the holders in etcd before a request of this process.
    ///   - hasHeld: the request was for a hold, and has succeeded.
    ///   - known: the state of etcd that the process knew when it sent the request.
    func checkHold(
        _ process: SimulatedProcess, holds: [String: EtcdDatabase.Entry], hasHeld: Bool,
        known: (revision: Int64, cluster: Int)
    ) {
        let isGone = holds.contains { $0.value.revision == process.tellingHold && etcd.entries[$0.key] == nil }
        if isGone, etcd.mark == restoredMark {
            report(.alone, "host \(process.host) gives its hold back, and the restore is not marked in etcd")
        }
        guard hasHeld else { return }
        let showsRestore = known.cluster != 0 && (known.cluster != etcd.clusterID || etcd.revision < known.revision)
        process.tellingHold = showsRestore ? etcd.revision : nil
    }

    /// A process has received a response.
    func saw(_ shown: ShownState, _ process: SimulatedProcess) {
        // The response was sent before the backup was restored.
        guard shown.restores == restoreCount else { return }
        let (number, isOther) = (process.number, shown.cluster != process.knownCluster)
        let wentBack = process.knownCluster != 0 && (isOther || shown.revision < process.known)
        // Otherwise there have been more changes since the restore than the backup lacks. A host then notices the
        // restore only by the mark of another host. Until then, a missing session counts as signed out.
        let keeps = wentBack || noticed.contains(number) || shown.isMarked && shown.hasSession
        if shown.isCheck, !shown.isMarked { process.markReadAt = time.now }
        // A session that is missing counts as signed out then.
        let isLate = shown.isMarked && !shown.hasSession && time.now - process.markReadAt > Self.longestSilence
        if !keeps || isLate { restore?.knowers.remove(number) }
        if wentBack || shown.isMarked && shown.hasMark, noticed.insert(number).inserted {
            restore?.time[number] = .zero
        }
        process.known = wentBack ? shown.revision : max(process.known, shown.revision)
        process.knownCluster = shown.cluster
    }

    /// Runs once a second, until a host has written the missing data or no host can.
    func followRestore() {
        let step = Duration.seconds(1)
        time.after(step) { [self] in
            guard var known = restore else { return }
            let able = known.knowers.filter { processes[$0].life.isAlive }
            guard !able.isEmpty, time.now - known.at < Self.longest else { return endRestore(by: nil) }
            for number in able.sorted() {
                let (process, hasNoticed) = (processes[number], noticed.contains(number))
                guard hasNoticed || isMarked(for: process) else { continue }
                let passed = isWell(hosts[process.host]) ? known.time[number, default: .zero] + step : .zero
                known.time[number] = passed
                // The mark is read within 30 s, or when the host reaches etcd again.
                let limit = hasNoticed ? Self.writing : Self.noticing + Self.writing
                if passed >= limit { return endRestore(by: process) }
            }
            restore = known
            followRestore()
        }
    }

    /// - Parameter writer: a process that knows the missing data, and has had the time to write it.
    private func endRestore(by writer: SimulatedProcess?) {
        guard let ended = restore else { return }
        restore = nil
        time.after(heldOffUntil - time.now) { [self] in
            guard restore == nil, time.now >= heldOffUntil else { return }
            for host in hosts { host.isHeldOff = false }
        }
        guard let writer else {
            note("  nobody can write what the backup lacks")
            coverage.unknown += 1
            if ended.isLacking {
                expected = .unknown
                for host in hosts { host.removedAt = nil }
            }
            if ended.isLacking || ended.wasRenewing { isLossExcused = true }
            return
        }
        inspect(through: hosts[writer.host], after: ended)
    }

    /// Reads etcd's data in the same way as a host that starts now.
    private func inspect(through host: SimulatedHost, after ended: Restore) {
        let process = SimulatedProcess(processes.count, host, disk: SimulatedDisk(copying: host.disk), in: self)
        processes.append(process)
        let (known, writer, began) = (expected, host.process?.number, time.now)
        inspecting.insert(process.number)
        time.after(Self.longestWait) { [self] in
            if inspecting.contains(process.number) { notRead(by: process, of: host, since: began) }
        }
        process.perform { [self] in
            let found = try? await process.store.loadAll()
            inspecting.remove(process.number)
            guard let found else { return notRead(by: process, of: host, since: began) }
            defer { process.life.end() }
            // Another event may have happened since then.
            guard known == expected, restore == nil, host.process?.number == writer else {
                coverage.notInspected += 1
                return note("  too late to see what etcd has")
            }
            if ended.isLacking, known != .unknown { coverage.writtenAgain += 1 }
            let records = found.compactMap { if case .record(let record) = $0 { record } else { nil } }
            let stored = records.first { $0.session == Self.name }?.tokens.refreshToken?.reveal()
            let parts = stored.flatMap(RotatingProvider.parts)
            switch known {
            case .unknown: break
            case .signedOut:
                if let stored { report(.signOut, "etcd has \(stored) again") }
            case .signedIn(let account):
                let former = ended.tokens.flatMap { $0.account == account ? $0.number : nil } ?? 1
                // A host whose own tokens were refused tries those that etcd has, and the provider refuses them, too.
                let least = provider.hasEnded(account) ? 1 : former
                guard parts?.account == account, parts?.number ?? 0 >= least else {
                    return report(.writtenAgain, "etcd has \(stored ?? "nothing"), and had r\(account).\(least)")
                }
                etcd.newestWritten = WrittenTokens(account: account, number: parts?.number ?? least)
            }
        }
    }

    /// This breaks no rule if there was a fault since then, or if a user has removed the host.
    private func notRead(by process: SimulatedProcess, of host: SimulatedHost, since began: Duration) {
        guard process.life.isAlive else { return }
        process.life.end()
        guard isWell(host), lastFaultBegan < began, !host.isOutside else { return coverage.notInspected += 1 }
        report(.writtenAgain, "a host that starts cannot read what etcd has, as host \(host.number) does")
    }
}
