import AuthConcurrency
import AuthModel
import AuthWire

/// Follows what other hosts write. After every interruption everything is read again, so nothing depends on a complete stream.
extension EtcdStore {
    /// Pauses after failures.
    private static let shortestPause = Duration.milliseconds(100)
    private static let longestPause = Duration.seconds(2)
    /// The longest after ``longInterruption``: a laptop may be away from its cluster for days.
    private static let longestRarePause = Duration.seconds(30)
    private static let longInterruption = Duration.seconds(300)
    /// Attempts to read everything, if etcd goes back meanwhile.
    private static let snapshotAttempts = 4
    /// Somebody waits for the end of an admission.
    private static let pauseWhileAsking = Duration.milliseconds(500)
    /// How often a check compares what the watch has reported: in total, as long as a call may take.
    private static let lagChecks = 50
    private static let lagPause = Duration.milliseconds(100)

    package func run() async {
        var failures = 0
        var begin = clock.bootInstant
        while !Task.isCancelled {
            var seen = woken.current ?? 0
            let network = networks.current ?? 0
            var isUnreachable = false
            do throws(StoreError) {
                let revision = try await reporting { () throws(StoreError) in try await readAll() }
                let (end, wasOpen) = await follow(from: revision + 1, in: network)
                if wasOpen { (failures, begin) = (0, clock.bootInstant) }
                guard !Task.isCancelled else { return }
                if case .fault(let fault) = end {
                    report(fault)
                    isUnreachable = fault.isUnreachable
                }
                // That has ended the watch. If it happens again and again, there are pauses.
                if end == .fault(.wentBack) { seen = woken.current ?? 0 }
            } catch {
                // The state and the fault are reported.
                if case .cluster(let fault) = error { isUnreachable = fault.isUnreachable }
                // Only the user can open this host's key. ``unlock(with:)`` ends the wait.
                if error == .sealed {
                    _ = await woken.wait(until: { $0 > seen })
                    (failures, begin) = (0, clock.bootInstant)
                    continue
                }
            }
            failures += 1
            let pause = retryPause(after: failures, since: begin)
            waitsForEtcd = isUnreachable
            await pauseOrWake(isBeingAdmitted ? min(pause, Self.pauseWhileAsking) : pause, seen)
            waitsForEtcd = false
        }
    }

    /// Reads which sessions there are, and reports those that have changed.
    /// - Returns: the state of etcd that was read.
    private func readAll() async throws(StoreError) -> Int64 {
        let (snapshot, former, isRestored) = try await readSnapshot()
        reported.watchEnded()
        let (header, mark, clusterID) = (snapshot.header, snapshot.mark, snapshot.header.clusterID)
        let (changed, wentBack) = view.read(
            header, snapshot.sessions, since: former, isOlder: isRestored,
            shown: restores.lowestRevision(mark, in: clusterID, at: clock.bootInstant),
            mayLackSignOuts: restores.mayLackSignOuts(mark, in: clusterID, at: clock.bootInstant), held: sentHolds)
        if wentBack { isToReadAgain.set(false) }
        let toRead = changed.union(restores.removeUnread())
        defer { for session in toRead.sorted() { tellChange.yield(session) } }
        restores.readAll(mark, wentBack: wentBack)
        if wentBack { noteWentBack(header.revision, mark) }
        try await recover()
        try await readIfChanged(snapshot.cluster)
        await repeatReleases()
        processed = header.revision
        return header.revision
    }

    /// Reads the contents of etcd, requested after all evidence of a restore so far.
    /// - Returns: the state when it was requested, and whether etcd went back before that, as far as this host knows.
    private func readSnapshot() async throws(StoreError) -> (
        EtcdSnapshot, former: ClusterView.State, isRestored: Bool
    ) {
        let member = try await opened()
        for _ in 1...Self.snapshotAttempts {
            let (former, isDue, history) = (view.state, mustReadAgain, restores.history)
            let snapshot = try await snapshot()
            // A transaction of this host has written the mark meanwhile, or the recovery has.
            guard restores.history == history else { continue }
            let isOlder = snapshot.cluster.map { $0.modRevision < member.revision } ?? false
            let isRestored =
                isOlder || former.isLater(than: snapshot.header) || restores.isNoticedElsewhere(snapshot.mark)
            // Another response has shown a restore meanwhile: this one may be from before it.
            guard isDue || isRestored || !mustReadAgain else { continue }
            return (snapshot, former, isDue || isRestored)
        }
        throw .cluster(.wentBack)
    }

    /// Reads the record of the cluster again if it has changed and no watch has reported that. Nothing else shows a host
    /// that it was removed, as long as there is no record that is sealed with a newer key.
    private func readIfChanged(_ cluster: EtcdEntry?) async throws(StoreError) {
        // Otherwise everything is about to be read again.
        guard isToReadAgain.current != true else { return }
        let member = try await opened()
        guard let cluster, cluster.modRevision > member.revision else { return }
        _ = try await reopened(instead: member)
    }

    /// Watches until that ends, or until a response shows that etcd went back, or the network changes: a watch may stay open
    /// and silent then.
    private func follow(from revision: Int64, in network: Int) async -> (end: WatchEnd, wasOpen: Bool) {
        let used = client.endpoint
        return await withTaskGroup(of: WatchEnd.self) { group in
            group.addTask {
                .fault(
                    await self.client.watch(self.places.watched, to: self.places.watchedEnd, from: revision) {
                        await self.handle($0)
                    })
            }
            group.addTask { await self.check(used) }
            group.addTask { await self.isToReadAgain.wait { $0 } ? .fault(.wentBack) : .cancelled }
            group.addTask { await self.networks.wait { $0 > network } ? .moved : .cancelled }
            let end = await group.next() ?? .cancelled
            group.cancelAll()
            if case .fault(let fault) = end { client.watchEnded(fault, at: used) }
            return (end, clearOpenMark())
        }
    }

    private func clearOpenMark() -> Bool {
        defer { isWatchOpen = false }
        return isWatchOpen
    }

    /// - Returns: why the watch must end; `nil`: it continues.
    func handle(_ message: WatchMessage) async -> ClusterFault? {
        switch message {
        case .created(let header):
            isWatchOpen = true
            saw(clusterOf: header)
            return nil
        case .cancelled: return nil
        case .changes(let header, let changes): return await handle(changes, header)
        }
    }

    private func handle(_ changes: [WatchChange], _ header: EtcdHeader) async -> ClusterFault? {
        saw(clusterOf: header)
        var sessions: [(session: SessionName, at: Int64, isGone: Bool)] = []
        var released: [SessionName] = []
        for change in changes {
            if change.entry.key == places.cluster, let member, change.entry.modRevision != member.revision {
                // New keys are needed before the records that are sealed with them.
                _ = try? await reporting { () throws(StoreError) in try await reopened(instead: member) }
            }
            if change.entry.key == places.history { saw(mark: change.isDeletion ? nil : change.entry) }
            if change.isDeletion, let session = places.heldSession(of: change.entry.key) {
                released.append(session)
                reportsForWrites[session]?.set(change.entry.modRevision)
            }
            guard let session = places.sessionName(of: change.entry.key) else { continue }
            reportsForWrites[session]?.set(change.entry.modRevision)
            sessions.append((session, change.entry.modRevision, change.isDeletion))
        }
        for session in released { tellReleased.yield(session) }
        // A deleted record may be the earlier sign-in of a backup, which another host has removed again.
        if sessions.contains(where: { $0.isGone && view.signIn(of: $0.session) != nil }) {
            do throws(StoreError) {
                saw(mark: try await readMarked().mark)
            } catch {
                return .watchLost(reason: error.reason)
            }
        }
        // Then everything is read again. A deletion in another history is not a sign-out in this one.
        guard !mustReadAgain else { return nil }
        if restores.noticedAt != nil, !removesEnded { view.endRecovery() }
        reported.apply(changes, at: places)
        for session in view.apply(header, sessions).sorted() { tellChange.yield(session) }
        // A host that does not know of a sign-out may write the session again. What fails is left to `readAll`.
        if !sessions.isEmpty, removesEnded { try? await removeEndedAgain() }
        // A message without changes says that there are none up to its revision.
        processed = max(processed, changes.map(\.entry.modRevision).max() ?? header.revision)
        return nil
    }

    /// A watch shows another cluster, as after a restore with new members. Its revision is no evidence: a member may
    /// lag behind others.
    private func saw(clusterOf header: EtcdHeader) {
        if !header.clusterID.isEmpty, view.state.isOther(than: header) { readAgain() }
    }

    /// A member that hangs keeps its connections, and sends nothing. A read needs a majority, and moves to another
    /// member if this one does not take part. It shows whether etcd went back, or another host has noticed that, and what
    /// the watch has not reported. While there is no space, it also finds out when there is space again. In between, this
    /// host shows that it is connected.
    /// - Returns: when another member is used.
    private func check(_ used: String?) async -> WatchEnd {
        while !Task.isCancelled {
            await showPresence()
            guard (try? await pause(configuration.checkInterval)) != nil else { break }
            // The watch may report later changes meanwhile.
            let known = view
            var current: EtcdSnapshot?
            do throws(StoreError) {
                current = try await reporting { () throws(StoreError) in
                    let snapshot = try await snapshot()
                    saw(mark: snapshot.mark)
                    if known.isLater(than: snapshot.sessions) { readAgain() }
                    try await readIfChanged(snapshot.cluster)
                    return snapshot
                }
            } catch {
                // The watch's connection may be dead as well, without an error. A new watch is tried soon.
                if case .cluster(let fault) = error, fault.isUnreachable { return .fault(fault) }
            }
            await repeatReleases()
            if present == .cluster(.noSpace), let status = await client.status(), !status.isOutOfSpace { succeeded() }
            await writeDueMark()
            if let current, await isBehind(current) { return .fault(.lagging) }
            guard client.endpoint == used else { return .fault(.lagging) }
            await client.goBack()
            guard client.endpoint == used else { return .moved }
            await sealFormerAgain()
        }
        return .cancelled
    }

    /// Whether the watch has not reported for some time what etcd has: its member lags behind, or a proxy holds back
    /// messages.
    private func isBehind(_ snapshot: EtcdSnapshot) async -> Bool {
        for _ in 1...Self.lagChecks {
            guard !mustReadAgain, view.lacks(snapshot.sessions, at: snapshot.header.revision) else { return false }
            guard (try? await pause(Self.lagPause)) != nil else { return false }
        }
        return !mustReadAgain && view.lacks(snapshot.sessions, at: snapshot.header.revision)
    }

    private enum WatchEnd: Equatable {
        case fault(ClusterFault)
        /// The preferred member responds again, or the network is another one.
        case moved

        static let cancelled = WatchEnd.fault(.watchLost(reason: "the call was cancelled"))
    }

    /// The state follows from the next read.
    private func report(_ end: ClusterFault) {
        switch end {
        case .unreachable(let reason): note(.watchLost(reason: reason))
        case .denied, .noQuorum: failure(.cluster(end))
        // It is reported when it is known what that means here.
        case .wentBack: break
        default: note(end)
        }
    }

    // MARK: Pauses

    /// Somebody may be about to admit this host: its request is still valid.
    private var isBeingAdmitted: Bool {
        admissionRequestedAt.map { clock.bootInstant - $0 < .seconds(EtcdLimits.admissionSeconds) } ?? false
    }

    /// Doubled after each failure, and between one half and all of that, so that hosts do not return at the same time.
    private func retryPause(after failures: Int, since begin: BootInstant) -> Duration {
        let isLong = clock.bootInstant - begin >= Self.longInterruption
        let longest = isLong ? Self.longestRarePause : Self.longestPause
        return min(Self.shortestPause * (1 << min(failures - 1, 16)), longest) * share(0.5...1)
    }

    private func pauseOrWake(_ duration: Duration, _ seen: Int) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await self.pause(duration) }
            group.addTask { _ = await self.woken.wait(until: { $0 > seen }) }
            await group.next()
            group.cancelAll()
        }
    }
}

extension ClusterFault {
    /// Whether any response of etcd shows that the fault is over.
    var isUnreachable: Bool {
        switch self {
        case .unreachable, .noQuorum: true
        default: false
        }
    }
}
