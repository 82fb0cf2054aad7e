import AuthModel
import AuthWire

/// What etcd has at one revision: the sessions, and the mark of the history that they belong to.
struct EtcdSnapshot: Sendable {
    let header: EtcdHeader
    let cluster: EtcdEntry?
    let mark: EtcdEntry?
    /// The last change of each.
    let sessions: [SessionName: Int64]
}

extension EtcdStore {
    func snapshot() async throws(StoreError) -> EtcdSnapshot {
        let (former, sentAt) = (view.state, clock.bootInstant)
        let answer: JSON
        do throws(ClusterFault) {
            answer = try await client.call(
                .transaction(
                    [], then: [.read(places.cluster), .read(places.history), .readKeys(below: places.sessions)],
                    otherwiseReading: []))
        } catch {
            // Early releases of etcd 3.4 and 3.5 refuse every transaction when there is no space, even one that only
            // reads.
            guard error == .noSpace else { throw failure(.cluster(error)) }
            return try await snapshotInParts()
        }
        let read = try cluster { () throws(ClusterFault) in try EtcdTransaction(answer) }
        saw(read.header, since: former)
        let mark = read.entries[places.history]
        restores.checked(mark, at: sentAt)
        return EtcdSnapshot(
            header: read.header, cluster: read.entries[places.cluster], mark: mark,
            sessions: try changes(of: Array(read.entries.values)))
    }

    /// The mark after the sessions: if another host has written it meanwhile, it is found. If etcd went back meanwhile, these
    /// are sessions of the former history.
    private func snapshotInParts() async throws(StoreError) -> EtcdSnapshot {
        let end = EtcdPlaces.end(of: places.sessions)
        let answer = try await call(
            .range(places.sessions, end: end, atMost: EtcdLimits.sessions + 1, keysOnly: true))
        let range = try cluster { () throws(ClusterFault) in try EtcdRange(answer) }
        let (former, isDue) = (view.state, mustReadAgain)
        let (cluster, mark) = try await readMarked()
        saw(mark: mark)
        guard isDue || !hasGoneBack(since: former) else { throw .cluster(.wentBack) }
        return EtcdSnapshot(
            header: range.header, cluster: cluster, mark: mark, sessions: try changes(of: range.entries))
    }

    private func changes(of entries: [EtcdEntry]) throws(StoreError) -> [SessionName: Int64] {
        var sessions: [SessionName: Int64] = [:]
        for entry in entries {
            if let name = places.sessionName(of: entry.key) { sessions[name] = entry.modRevision }
        }
        guard sessions.count <= EtcdLimits.sessions else {
            throw .cluster(.invalid(reason: "more than \(EtcdLimits.sessions) sessions"))
        }
        return sessions
    }
}
