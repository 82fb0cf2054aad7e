import AuthModel
import AuthWire

/// The requests of processes to etcd, and the reports of its watches.
extension HostSimulationRun {
    typealias Answer = @Sendable (Result<HTTPResponse, TransportError>) -> Void

    /// For a request without a time limit.
    private static let etcdLimit = Duration.seconds(2)

    func isReachable(_ host: SimulatedHost) -> Bool {
        !host.isHeldOff && time.now >= max(host.cutUntil, etcdGoneUntil)
    }

    private func isConnected(_ host: SimulatedHost) -> Bool {
        isReachable(host) && time.now >= host.losesAnswersUntil
    }

    func callEtcd(_ number: Int, _ request: HTTPRequest, _ answer: @escaping Answer) {
        let process = processes[number]
        guard process.life.isAlive else { return answer(.failure(.cancelled)) }
        let (limit, requestedAt) = (request.limit ?? Self.etcdLimit, time.now)
        let path = String(Origin.path(of: request.url).dropFirst("/v3/".count))
        etcdRequests[process.host][path, default: 0] += 1
        let body = (try? JSON(parsing: request.body?.revealBytes() ?? [])) ?? [:]
        let written = Self.keysWritten(by: body)
        if fault == .neverAnswers, hasBegun, written.contains(where: EtcdDatabase.isHostList) { return }
        time.after(limit) { answer(.failure(.timedOut(host: "etcd", after: limit))) }
        // Otherwise the host would find with its next check that its watch is silent.
        if fault == .silencesWatches, hasBegun, process.host == hosts.count - 1, Self.readsMark(body),
            Self.isCheck(path, body)
        {
            return
        }
        // The store does not look at the state that these responses show.
        let isSign = !written.isEmpty && written.allSatisfy { $0.contains("/status/") || $0.contains("/up/") }
        let isHold = Self.requestsHold(body)
        let (host, known) = (hosts[process.host], (process.known, process.knownCluster))
        time.after(latency()) { [self] in
            guard isReachable(host) else { return }
            let (former, holds) = (etcd.revision, etcd.entries.filter { EtcdDatabase.isHolder($0.key) })
            let response = carryOut(path, body, for: process)
            checkHold(process, holds: holds, hasHeld: isHold && etcd.revision > former, known: known)
            if etcd.revision > former, Self.writesTokens(body) { wrote(process, requestedAt: requestedAt) }
            let isUnconditional = body["compare"]?.arrayValue?.isEmpty ?? true
            let hasMark = Self.readsMark(body) && (isUnconditional || etcd.revision > former)
            let shown = ShownState(
                revision: etcd.revision, cluster: etcd.clusterID, restores: restoreCount, hasMark: hasMark,
                isCheck: hasMark && Self.isCheck(path, body), isMarked: isMarked(for: process),
                hasSession: etcd.hasSession)
            time.after(latency()) { [self] in
                guard process.life.isAlive, isConnected(host) else { return }
                // A response with an error has no revision.
                if path.hasPrefix("kv/"), response.status == 200, !isSign, time.now >= host.pausedUntil {
                    saw(shown, process)
                }
                answer(.success(response))
            }
        }
    }

    private func carryOut(_ path: String, _ body: JSON, for process: SimulatedProcess) -> HTTPResponse {
        let former = etcd.revision
        let outcome: (status: Int, json: JSON)
        if Self.isRead(path, body), var shown = falsified(for: process) {
            outcome = shown.answer(path, body, at: time.now, fault: nil)
        } else {
            let isActive = fault.map { $0.isOfRestores ? restoreCount > 0 : hasBegun } ?? false
            outcome = etcd.answer(path, body, at: time.now, fault: isActive ? fault : nil)
        }
        note("    \(process.host): etcd \(path) → \(etcd.revision)\(Self.words(outcome.status))")
        if etcd.revision != former { changed(since: former, by: process) }
        if path.hasPrefix("lease/") { expectLeaseEnd() }
        return HTTPResponse(status: outcome.status, headers: [], body: outcome.json.serialized())
    }

    private static func words(_ status: Int) -> String { status == 200 ? "" : ", status \(status)" }

    private static func keysWritten(by body: JSON) -> [String] {
        (body["success"]?.arrayValue ?? []).compactMap {
            ($0["request_put"] ?? $0["request_delete_range"])?["key"]?.text
        }
    }

    /// Whether a request writes different tokens than etcd has: it writes how long they live, too. A record that is only
    /// sealed with another key has the tokens that etcd had.
    private static func writesTokens(_ body: JSON) -> Bool {
        (body["success"]?.arrayValue ?? []).contains {
            $0["request_put"]?["key"]?.text.map(EtcdDatabase.isLifetime) ?? false
        }
    }

    /// Whether a request only reads.
    private static func isRead(_ path: String, _ body: JSON) -> Bool {
        path == "kv/range"
            || path == "kv/txn" && (body["success"]?.arrayValue ?? []).allSatisfy { $0["request_range"] != nil }
    }

    private static func requestsHold(_ body: JSON) -> Bool {
        (body["success"]?.arrayValue ?? []).contains {
            $0["request_put"]?["key"]?.text.map(EtcdDatabase.isHolder) ?? false
        }
    }

    /// Whether a successful response to this request contains the mark, as for a regular check, and for those before a
    /// refresh token is sent.
    private static func readsMark(_ body: JSON) -> Bool {
        guard body["key"] == nil else {
            return body["range_end"] != nil && body["key"]?.text.map(EtcdDatabase.isHostList) ?? false
        }
        return (body["success"]?.arrayValue ?? []).contains { step in
            step["request_put"]?["key"]?.text.map(EtcdDatabase.isHolder)
                ?? step["request_range"]?["key"]?.text.map(EtcdDatabase.isMark) ?? false
        }
    }

    /// Whether a request that reads the mark is a regular check, or a read of everything: it reads a range of keys.
    private static func isCheck(_ path: String, _ body: JSON) -> Bool {
        path == "kv/range" || (body["success"]?.arrayValue ?? []).contains { $0["request_range"]?["range_end"] != nil }
    }

    /// The state that an injected fault shows the process instead of etcd's.
    private func falsified(for process: SimulatedProcess) -> EtcdDatabase? {
        switch fault {
        case .hidesSessions where process.number >= hosts.count: etcd.replacing(EtcdDatabase.isSession, by: nil)
        case .showsFormerHosts where hosts[process.host].isOutside:
            etcd.replacing(EtcdDatabase.isHostList, by: formerHosts)
        default: nil
        }
    }

    private func changed(since former: Int64, by process: SimulatedProcess?) {
        let changes = etcd.history.reversed().prefix { $0.revision > former }
        if etcd.lastRecordChange > former { (changedAt, changer) = (time.now, process?.number) }
        for change in changes where trace != nil {
            // Without the IDs of hosts, which are random.
            let kind = change.key.split(separator: "/").dropFirst(2).first ?? ""
            note("      \(change.revision): \(kind)\(change.entry == nil ? " is gone" : "")")
        }
        for watch in watches { send(to: watch) }
    }

    /// The tokens that the process had at that time are in etcd.
    private func wrote(_ process: SimulatedProcess, requestedAt: Duration) {
        process.lastWrite = etcd.revision
        guard let known = commit, known.process == process.number, let answeredAt = known.answeredAt,
            answeredAt <= requestedAt
        else { return }
        commit?.isWritten = true
        etcd.newestWritten = known.tokens
    }

    // MARK: Watches

    func openWatch(
        _ number: Int, _ request: HTTPRequest, limit: Duration, _ lines: AsyncStream<[UInt8]>.Continuation
    ) -> SimulatedWatch {
        let process = processes[number]
        let body = (try? JSON(parsing: request.body?.revealBytes() ?? [])) ?? [:]
        let watch = SimulatedWatch(process: number, body, lines)
        process.mark = etcd.mark
        time.after(latency()) { [self] in
            guard process.life.isAlive, watch.isOpen, isConnected(hosts[process.host]) else {
                return time.after(limit) { [self] in end(watch) }
            }
            watches.append(watch)
            deliver(etcd.createdLine, to: watch, at: etcd.revision)
            send(to: watch)
        }
        return watch
    }

    func end(_ watch: SimulatedWatch) {
        guard watch.isOpen else { return }
        watch.isOpen = false
        watch.lines.finish()
        watches.removeAll { $0 === watch }
    }

    func endWatches(of host: SimulatedHost) {
        for watch in watches where processes[watch.process].host == host.number { end(watch) }
    }

    private func send(to watch: SimulatedWatch) {
        let changes = etcd.history.filter { $0.revision >= watch.next && watch.covers($0.key) }
        watch.next = max(watch.next, etcd.revision + 1)
        guard let last = changes.last else { return }
        deliver(etcd.line(of: changes), to: watch, at: last.revision)
    }

    private func deliver(_ line: [UInt8], to watch: SimulatedWatch, at revision: Int64) {
        let (process, cluster, restores) = (processes[watch.process], etcd.clusterID, restoreCount)
        watch.lastLine = max(watch.lastLine, time.now + latency())
        time.after(watch.lastLine - time.now) { [self] in
            guard watch.isOpen, process.life.isAlive else { return }
            let host = hosts[process.host]
            if fault == .silencesWatches, hasBegun, host === hosts.last { return }
            guard isConnected(host) else { return end(watch) }
            // A stopped process learns it later.
            if cluster == process.knownCluster, restores == restoreCount, time.now >= host.pausedUntil {
                process.known = max(process.known, revision)
            }
            watch.lines.yield(line)
        }
    }

    // MARK: Leases

    /// Leases end in time, or when etcd is back.
    func expectLeaseEnd() {
        guard let end = etcd.nextLeaseEnd.map({ max($0, etcdGoneUntil, time.now) }) else { return }
        if let planned = leaseCheckAt, planned <= end { return }
        leaseCheckAt = end
        time.after(end - time.now) { [self] in
            guard leaseCheckAt == end else { return }
            leaseCheckAt = nil
            let former = etcd.revision
            if time.now >= etcdGoneUntil { etcd.endLeases(at: time.now, keepsHolds: fault == .keepsHolds) }
            if etcd.revision != former { changed(since: former, by: nil) }
            expectLeaseEnd()
        }
    }

    /// Whether a host is about to renew the session, or does so.
    var isRenewing: Bool {
        !requests.isEmpty || etcd.entries.keys.contains(where: EtcdDatabase.isHolder)
    }
}
