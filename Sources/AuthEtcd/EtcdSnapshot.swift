import AuthModel
import AuthWire

/// What etcd has at one revision: the sessions, and the mark of the history that they belong to.
///
/// Read apart, the mark may be that of another history than the sessions, because etcd may go back between two requests.
struct EtcdSnapshot: Sendable {
    let header: EtcdHeader
    let cluster: EtcdEntry?
    let mark: EtcdEntry?
    /// The last change of each.
    let sessions: [SessionName: Int64]
}

extension EtcdStore {
    func snapshot() async throws(StoreError) -> EtcdSnapshot {
        let sentAt = clock.bootInstant
        let read = try await transaction(
            .transaction(
                [], then: [.read(places.cluster), .read(places.history), .readKeys(below: places.sessions)],
                otherwiseReading: []))
        let mark = read.entries[places.history]
        restores.checked(mark, at: sentAt)
        var sessions: [SessionName: Int64] = [:]
        for entry in read.entries.values {
            if let name = places.sessionName(of: entry.key) { sessions[name] = entry.modRevision }
        }
        guard sessions.count <= EtcdLimits.sessions else {
            throw .cluster(.invalid(reason: "more than \(EtcdLimits.sessions) sessions"))
        }
        return EtcdSnapshot(
            header: read.header, cluster: read.entries[places.cluster], mark: mark, sessions: sessions)
    }
}
