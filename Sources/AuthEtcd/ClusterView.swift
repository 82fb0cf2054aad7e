import AuthModel
import AuthWire

/// What this host has seen of the sessions in etcd, so that it can tell what has changed, and whether etcd went back.
struct ClusterView: Sendable, Equatable {
    /// A state of etcd.
    struct State: Sendable, Equatable {
        fileprivate(set) var clusterID = ""
        fileprivate(set) var revision: Int64 = 0
        /// How often this host has found that etcd went back.
        fileprivate(set) var history = 0

        /// Whether the response to a request that was sent in this state shows that etcd went back.
        func isLater(than header: EtcdHeader) -> Bool { isOther(than: header) || header.revision < revision }

        /// The same for the response to a change, whose revision is always higher than all earlier ones.
        func isLater(thanChange header: EtcdHeader) -> Bool { isOther(than: header) || header.revision <= revision }

        func isOther(than header: EtcdHeader) -> Bool {
            !clusterID.isEmpty && header.clusterID != clusterID
        }
    }

    /// A record that this host has read or written.
    private struct Copy: Sendable, Equatable {
        /// The revision of its last change.
        var revision: Int64
        /// The ID of the key that it was sealed with.
        let key: String
    }

    /// The newest one that this host has seen.
    private(set) var state = State()
    /// The last change of each session.
    private var changes: [SessionName: Int64] = [:]
    /// The highest number that a sealed record of this session had.
    private var generations: [SessionName: UInt64] = [:]
    /// Writes of this run that nobody has removed, as far as is known.
    private var written: [SessionName: Int64] = [:]
    /// The last record of each session. A watch may not have reported it.
    private var copies: [SessionName: Copy] = [:]
    /// The last sign-in that this host has read or written.
    private var signIns: [SessionName: SignInID] = [:]
    /// Sign-ins that this host has read or written before the last one, that were signed out of, or that a record or a
    /// sign-out lists as former ones.
    private var replaced: [SessionName: [SignInID]] = [:]
    /// The same since etcd went back, until there is a later one.
    private var outdated: [SessionName: Set<SignInID>] = [:]
    /// Sessions that etcd had when it was found to have gone back, and whose records this host has not read since.
    private var unread: Set<SessionName> = []
    /// The revision at which a session was last removed, if it is known.
    private var endedAt: [SessionName: Int64] = [:]
    /// Sessions whose sign-ins are remembered: twice as many as etcd may have.
    private static let maxNames = 2 * EtcdLimits.sessions
    /// Sessions that this host must write again. It has written them in this run, and they are missing because etcd
    /// went back, or were replaced by a record that does not count.
    private(set) var lost: Set<SessionName> = []

    /// Everything was read.
    /// - Parameters:
    ///   - former: the state when it was requested. A write of this host may have ended since.
    ///   - isOlder: something else that was read shows that etcd went back.
    ///   - shown: a revision that etcd had after it went back, if one is known. Later changes may have increased it.
    ///   - mayLackSignOuts: what is missing counts as signed out, not as lost.
    ///   - held: sessions that this host may have renewed, and the revision of its hold on each of them. Their records
    ///     existed then.
    /// - Returns: the sessions that have changed or are gone, all of them if etcd has an older state than before, and
    ///   whether it has.
    mutating func read(
        _ header: EtcdHeader, _ found: [SessionName: Int64], since former: State? = nil, isOlder: Bool = false,
        shown: Int64? = nil, mayLackSignOuts: Bool = false, held: [SessionName: Int64] = [:]
    ) -> (changed: Set<SessionName>, wentBack: Bool) {
        let former = former ?? state
        let isOther = former.isOther(than: header)
        // Within one history, the last change of a key is never an earlier one than before.
        let wentBack = isOlder || former.isLater(than: header) || isLater(than: found)
        var changed = Set(found.filter { changes[$0.key] != $0.value }.keys)
        changed.formUnion(changes.keys.filter { found[$0] == nil })
        let unreported = unreported(without: found, at: wentBack ? .max : header.revision)
        changed.formUnion(unreported)
        if wentBack {
            state.history += 1
            for session in unread where found[session] == nil { missed(session) }
            unread = Set(found.keys)
            written.merge(held) { max($0, $1) }
            // A record that was written since may have the revision of another one before.
            changed.formUnion(found.keys)
            // What was written since is not there any more.
            let kept = min(header.revision, shown ?? header.revision)
            if mayLackSignOuts {
                written = written.filter { found[$0.key] != nil }
            } else {
                lost.formUnion(written.filter { isOther || $0.value > kept }.keys)
            }
            changed.formUnion(lost)
            // Revisions of the former history say nothing about what is reported from now on.
            written = written.mapValues { min($0, header.revision + 1) }
            copies = copies.filter { found[$0.key] != nil || lost.contains($0.key) }
            for session in copies.keys { copies[session]?.revision = 0 }
            (generations, endedAt) = ([:], [:])
            outdated = replaced.mapValues { Set($0) }
        } else {
            for session in Set(changes.keys).union(written.keys).union(unreported) where found[session] == nil {
                guard lastKnown(session) <= header.revision else { continue }
                written[session] = nil
                if changes[session] != nil || unreported.contains(session) { ended(session, at: header.revision) }
            }
        }
        lost.subtract(found.keys)
        state.revision = wentBack ? header.revision : max(header.revision, state.revision)
        (state.clusterID, changes) = (header.clusterID, found)
        return (changed, wentBack)
    }

    /// A watch reported changes.
    /// - Returns: the sessions that have changed or are gone.
    mutating func apply(_ header: EtcdHeader, _ reported: [(session: SessionName, at: Int64, isGone: Bool)]) -> Set<
        SessionName
    > {
        state.revision = max(state.revision, header.revision)
        for change in reported {
            state.revision = max(state.revision, change.at)
            changes[change.session] = change.isGone ? nil : change.at
            // A late report may be about what was there before this host's last write, or its last reading.
            if change.isGone, lastKnown(change.session) <= change.at { ended(change.session, at: change.at) }
        }
        return Set(reported.map(\.session))
    }

    /// Whether a session had a later change before.
    func isLater(than found: [SessionName: Int64]) -> Bool { found.contains { $0.value < changes[$0.key] ?? 0 } }

    /// Whether etcd had changes at this revision that have not been reported here.
    func lacks(_ found: [SessionName: Int64], at revision: Int64) -> Bool {
        found.contains { $0.value > changes[$0.key] ?? 0 }
            || changes.contains { found[$0.key] == nil && $0.value <= revision }
            || !unreported(without: found, at: revision).isEmpty
    }

    /// The change of the last record that this host has read or written.
    private func lastKnown(_ session: SessionName) -> Int64 {
        max(written[session] ?? 0, copies[session]?.revision ?? 0)
    }

    /// Sessions that this host has read or written, that no watch or earlier reading has reported, and that etcd does not
    /// have any more at this revision. Those that are to be written again are not among them.
    private func unreported(without found: [SessionName: Int64], at revision: Int64) -> Set<SessionName> {
        Set(
            copies.keys.filter {
                changes[$0] == nil && found[$0] == nil && lastKnown($0) <= revision && !isSignedOut($0)
                    && !lost.contains($0)
            })
    }

    /// Whether this host's record was sealed with one of these keys.
    func hasCopy(_ session: SessionName, sealedWith keys: [String]) -> Bool {
        copies[session].map { keys.contains($0.key) } ?? false
    }

    /// Another host has removed it.
    private mutating func ended(_ session: SessionName, at revision: Int64) {
        written[session] = nil
        generations[session] = nil
        // What is gone is the outdated record. This host may have a later sign-in.
        guard outdated[session] == nil else { return lose(session) }
        copies[session] = nil
        lost.remove(session)
        guard let signIn = signIns[session] else { return }
        endedAt[session] = revision
        note(signIn, of: session)
    }

    /// A response shows this state.
    /// - Parameter former: the state when it was requested.
    mutating func saw(_ header: EtcdHeader, since former: State) {
        // The response may be from before etcd went back.
        guard former.history == state.history else { return }
        if state.clusterID.isEmpty { state.clusterID = header.clusterID }
        guard header.clusterID == state.clusterID else { return }
        state.revision = max(state.revision, header.revision)
    }

    /// - Parameter key: the ID of the one that it is sealed with.
    mutating func wrote(_ session: SessionName, at revision: Int64, generation: UInt64, key: String) {
        state.revision = max(state.revision, revision)
        written[session] = revision
        copies[session] = Copy(revision: revision, key: key)
        generations[session] = generation
        lost.remove(session)
        unread.remove(session)
        outdated[session] = nil
    }

    /// This host has signed out.
    /// - Parameters:
    ///   - revision: of the change; `nil`: it is unknown.
    ///   - isRepeated: whether the sign-out is repeated if another host writes the session again.
    mutating func removed(_ session: SessionName, at revision: Int64? = nil, isRepeated: Bool = false) {
        if let revision { endedAt[session] = max(revision, endedAt[session] ?? 0) }
        if let signIn = signIns[session] { note(signIn, of: session) }
        outdated[session] = isRepeated ? replaced[session].map { Set($0) } : nil
        signIns[session] = nil
        written[session] = nil
        copies[session] = nil
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

    mutating func saw(_ signIn: SignInID, of session: SessionName) {
        if let former = signIns[session], former != signIn { note(former, of: session) }
        replaced[session]?.removeAll { $0 == signIn }
        unread.remove(session)
        outdated[session] = nil
        signIns[session] = signIn
    }

    /// A record of this sign-in was read, or replaced.
    mutating func saw(_ record: FormerSignIns, of session: SessionName) {
        saw(record.signIn, of: session)
        saw(former: record.list, of: session)
    }

    /// A record, or the list of a sign-out, was read that has these sign-ins as former ones. Those that this host has seen
    /// are later.
    mutating func saw(former: [SignInID], of session: SessionName) {
        let known = replaced[session] ?? []
        let others = former.filter { $0 != signIns[session] && !known.contains($0) }
        if !others.isEmpty { note(others + known, of: session) }
    }

    /// The sign-ins that have ended when this one is written, as far as this host knows.
    /// - Parameters:
    ///   - signIn: `nil`: the session is being signed out of.
    ///   - record: what is replaced.
    func signIns(
        before signIn: SignInID?, of session: SessionName, replacing record: FormerSignIns? = nil
    ) -> [SignInID] {
        let last = signIns[session].map { [$0] } ?? []
        var all = (replaced[session] ?? []).filter { !last.contains($0) } + last
        if let record {
            all = record.list.filter { !all.contains($0) } + all.filter { $0 != record.signIn } + [record.signIn]
        }
        return all.filter { $0 != signIn }.suffix(FormerSignIns.limit)
    }

    private mutating func note(_ replaced: SignInID, of session: SessionName) {
        note((self.replaced[session] ?? []).filter { $0 != replaced } + [replaced], of: session)
    }

    private mutating func note(_ all: [SignInID], of session: SessionName) {
        replaced[session] = all.suffix(FormerSignIns.limit)
        guard replaced.count > Self.maxNames else { return }
        // Runners of a CI farm may use other names every day. Those that etcd does not have are left out.
        replaced = replaced.filter { changes[$0.key] != nil || $0.key == session }
        endedAt = endedAt.filter { replaced[$0.key] != nil }
        signIns = signIns.filter { changes[$0.key] != nil || written[$0.key] != nil || $0.key == session }
        copies = copies.filter { signIns[$0.key] != nil }
    }

    /// Whether etcd has this sign-in because it went back, and this host has seen that it ended.
    func isOutdated(_ signIn: SignInID, of session: SessionName) -> Bool {
        outdated[session]?.contains(signIn) ?? false
    }

    /// Whether a record with this last change is older than the end of its sign-in. Such a record may arrive late, and
    /// does not bring the sign-in back.
    func isEnded(_ signIn: SignInID, of session: SessionName, at revision: Int64) -> Bool {
        revision < endedAt[session] ?? 0 && replaced[session]?.contains(signIn) ?? false
    }

    /// Whether the session has ended, as far as this host knows.
    func isSignedOut(_ session: SessionName) -> Bool {
        signIns[session].map { replaced[session]?.contains($0) ?? false } ?? true
    }

    /// Sessions that have ended, and that etcd has again.
    var endedAgain: [SessionName] { outdated.keys.filter { changes[$0] != nil && isSignedOut($0) }.sorted() }

    /// Every host has had the time to write what it knows. What is written from now on is no effect of the backup.
    mutating func endRecovery() { outdated = outdated.filter { changes[$0.key] != nil } }

    /// The session is missing, in the present history. The deleted record may be the earlier sign-in of a backup, which
    /// another host has removed again before this one could read it: then this host has a later one.
    mutating func missed(_ session: SessionName) {
        if unread.contains(session), outdated[session] != nil { lose(session) }
    }

    /// A read that counts has not found the session.
    /// - Parameter former: the state when it was requested.
    mutating func wasAbsent(_ session: SessionName, since former: State) {
        missed(session)
        guard changes[session] == nil, let copy = copies[session], lastKnown(session) <= former.revision,
            !lost.contains(session)
        else { return }
        ended(session, at: copy.revision + 1)
    }

    /// A record that counts was read.
    /// - Parameters:
    ///   - revision: of its last change.
    ///   - key: the ID of the one that it is sealed with.
    mutating func found(_ session: SessionName, at revision: Int64, key: String) {
        if revision >= copies[session]?.revision ?? 0 { copies[session] = Copy(revision: revision, key: key) }
        // A late response may be from before etcd went back, and have a record that is missing now.
        if let change = changes[session], revision >= change { lost.remove(session) }
    }

    /// What etcd has of the session is older than what this host has, or does not count.
    mutating func lose(_ session: SessionName) {
        if !isSignedOut(session) { lost.insert(session) }
    }

    func signIn(of session: SessionName) -> SignInID? { signIns[session] }

    func generation(of session: SessionName) -> UInt64 { generations[session] ?? 0 }
}
