import AuthModel
import AuthWire

/// What this host has seen of the sessions in etcd, so that it can tell what has changed, and whether etcd went back.
struct ClusterView: Sendable, Equatable {
    /// The newest state of etcd that this host has seen.
    private(set) var revision: Int64 = 0
    private var clusterID = ""
    /// The last change of each session.
    private var changes: [SessionName: Int64] = [:]
    /// The highest number that a sealed record of this session had.
    private var generations: [SessionName: UInt64] = [:]
    /// Writes of this run that nobody has removed, as far as is known.
    private var written: [SessionName: Int64] = [:]
    /// The last sign-in that this host has read or written.
    private var signIns: [SessionName: SignInID] = [:]
    /// Written in this run, and missing because etcd went back.
    private(set) var lost: Set<SessionName> = []

    /// Everything was read.
    /// - Returns: the sessions that have changed or are gone, and whether etcd has an older state than before.
    mutating func read(
        _ header: EtcdHeader, _ found: [SessionName: Int64]
    ) -> (changed: Set<SessionName>, wentBack: Bool) {
        let isOther = !clusterID.isEmpty && header.clusterID != clusterID
        let wentBack = isOther || header.revision < revision
        var changed = Set(found.filter { changes[$0.key] != $0.value }.keys)
        changed.formUnion(changes.keys.filter { found[$0] == nil })
        if wentBack {
            // What was written since is not there any more.
            lost.formUnion(written.filter { isOther || $0.value > header.revision }.keys)
            changed.formUnion(lost)
            generations = [:]
        } else {
            for session in written.keys where found[session] == nil { written[session] = nil }
        }
        lost.subtract(found.keys)
        (revision, clusterID, changes) = (header.revision, header.clusterID, found)
        return (changed, wentBack)
    }

    /// A watch reported changes.
    /// - Returns: the sessions that have changed or are gone.
    mutating func apply(_ header: EtcdHeader, _ reported: [(session: SessionName, at: Int64, isGone: Bool)]) -> Set<
        SessionName
    > {
        revision = max(revision, header.revision)
        for change in reported {
            revision = max(revision, change.at)
            changes[change.session] = change.isGone ? nil : change.at
            if change.isGone {
                written[change.session] = nil
                lost.remove(change.session)
                generations[change.session] = nil
            }
        }
        return Set(reported.map(\.session))
    }

    mutating func wrote(_ session: SessionName, at revision: Int64, generation: UInt64) {
        self.revision = max(self.revision, revision)
        written[session] = revision
        generations[session] = generation
        lost.remove(session)
    }

    mutating func removed(_ session: SessionName) {
        signIns[session] = nil
        written[session] = nil
        generations[session] = nil
        lost.remove(session)
    }

    /// A record was read.
    /// - Returns: whether it is at least as new as what was read or written before.
    mutating func accepts(_ session: SessionName, generation: UInt64) -> Bool {
        guard generation >= generations[session] ?? 0 else { return false }
        generations[session] = generation
        return true
    }

    mutating func saw(_ signIn: SignInID, of session: SessionName) { signIns[session] = signIn }

    func signIn(of session: SessionName) -> SignInID? { signIns[session] }

    func generation(of session: SessionName) -> UInt64 { generations[session] ?? 0 }
}
