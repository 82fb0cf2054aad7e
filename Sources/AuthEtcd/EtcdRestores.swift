import AuthModel
import AuthWire

/// What this host knows about restores of etcd from a backup, and what is still to be done after one. It only decides;
/// ``EtcdStore`` reads and writes.
///
/// Invariants: what etcd had at ``revision`` is of the backup, and what was noted later counts. A host that has noticed
/// a restore begins no hold until etcd has the mark, or has refused it.
struct EtcdRestores: Sendable {
    /// What is still to be done.
    struct Recovery: Sendable {
        /// Holds under which a request may be on its way to the provider.
        fileprivate(set) var sending: [SessionName: EtcdStore.Hold]
        /// The cluster as it was before.
        let former: EtcdStore.Member?
        /// Other hosts can see in etcd that it went back, or etcd has refused the mark.
        fileprivate(set) var isMarked = false
    }

    private(set) var recovery: Recovery?
    private(set) var history = EtcdHistory()
    /// When this host noticed the last restore.
    private(set) var noticedAt: BootInstant?
    /// The same by a clock that stands still while the machine sleeps.
    private var noticedAwake: SuspendingClock.Instant?
    /// The revision that etcd had then, or a later one.
    private(set) var revision: Int64?
    /// The lowest revision in the responses that have shown that etcd went back, until everything has been read again.
    private(set) var shownRevision: Int64?
    /// etcd had no space for the mark, which is written once there is space.
    private(set) var isMarkDue = false
    /// Whether a refusal of the mark was reported.
    private var isRefusalReported = false
    /// Sessions whose records were not used because etcd went back. They are read again with everything else.
    private(set) var unread: Set<SessionName> = []
    /// The lease from before etcd went back. It ends, even if etcd has it again.
    private var formerLease: LeaseID?
    /// The mark that this host has written for a restore whose recovery has not ended.
    private var ownMark: EtcdEntry?
    /// When this host last found the mark that it expects.
    private var markReadAt: BootInstant?

    // MARK: Noticing

    /// A response has shown that etcd went back.
    mutating func saw(_ revision: Int64?) { shownRevision = [shownRevision, revision].compactMap(\.self).min() }

    /// Whether another host has noticed that etcd went back, and this one has not.
    func isNoticedElsewhere(_ mark: EtcdEntry?) -> Bool {
        // Otherwise this host is about to read that value.
        recovery?.isMarked != false && history.isOther(mark)
    }

    /// A check that began at this time has found this mark.
    mutating func checked(_ mark: EtcdEntry?, at now: BootInstant) {
        if !history.isOther(mark) { markReadAt = now }
    }

    /// A revision that etcd had after it went back, if one is known: that of a response, or the one before the mark of
    /// another host, which writes it first.
    /// - Parameter cluster: the one that had this mark.
    func lowestRevision(_ mark: EtcdEntry?, in cluster: String, at now: BootInstant) -> Int64? {
        [shownRevision, revision(before: mark, in: cluster, at: now)].compactMap(\.self).min()
    }

    /// - Returns: `nil` if no host has noticed the restore, or if this one may have missed sign-outs.
    private func revision(before mark: EtcdEntry?, in cluster: String, at now: BootInstant) -> Int64? {
        guard let mark, history.isRead, history.isOfThisRestore(mark, in: cluster),
            !mayLackSignOuts(mark, in: cluster, at: now)
        else { return nil }
        return mark.modRevision - 1
    }

    /// Whether another host has noticed the restore, and this one has not read the mark for so long that it may have
    /// missed sign-outs which the others no longer repeat. A session that is missing then counts as signed out.
    func mayLackSignOuts(_ mark: EtcdEntry?, in cluster: String, at now: BootInstant) -> Bool {
        guard history.isRead, history.isOfThisRestore(mark, in: cluster) else { return false }
        return markReadAt.map { now - $0 > EtcdLimits.longestSilence } ?? true
    }

    /// This record is read again with everything else.
    mutating func postpone(_ session: SessionName) { unread.insert(session) }

    mutating func removeUnread() -> Set<SessionName> {
        defer { unread = [] }
        return unread
    }

    // MARK: Recovery

    /// Everything was read, and the mark before that.
    mutating func readAll(_ mark: EtcdEntry?, wentBack: Bool) {
        if wentBack { shownRevision = nil }
        if !history.isRead { history.accept(mark) }
    }

    /// Everything was read, which has shown that etcd went back.
    /// - Parameters:
    ///   - revision: of etcd then.
    ///   - mark: what etcd had at ``EtcdPlaces/history`` then.
    ///   - cluster: the ID of etcd's cluster then.
    ///   - holds: of this host, with the change of the intent that it has made.
    mutating func begin(
        at now: BootInstant, awake: SuspendingClock.Instant, revision: Int64, mark: EtcdEntry?, in cluster: String,
        holds: [SessionName: EtcdStore.Hold], lease: LeaseID?, former: EtcdStore.Member?
    ) {
        let sending = holds.filter { $0.value.intentRevision != nil }
            .merging(recovery?.sending ?? [:]) { later, _ in later }
        formerLease = lease
        // If etcd has another one now, it went back again since, or another host has replaced the mark.
        if ownMark?.value != mark?.value { ownMark = nil }
        // Intents noted since the mark was written count, no matter which host wrote it.
        let written = ownMark ?? mark.flatMap { history.isOfThisRestore($0, in: cluster) ? $0 : nil }
        // A mark that was due belongs to the same restore.
        let known = [written?.modRevision, isMarkDue ? self.revision : nil, revision].compactMap(\.self).min()
        (noticedAt, noticedAwake, self.revision) = (now, awake, known)
        (isMarkDue, isRefusalReported) = (false, false)
        recovery = Recovery(sending: sending, former: former, isMarked: ownMark != nil)
        ownMark = nil
    }

    /// Whether a host that has noticed a restore by its own hold must write the mark when it gives that back.
    /// - Parameters:
    ///   - found: the mark when the hold began.
    ///   - cluster: the one that had it.
    ///   - isToReadAgain: the recovery has not begun yet.
    func needsMark(insteadOf found: EtcdEntry?, in cluster: String, isToReadAgain: Bool) -> Bool {
        let isMarked = isToReadAgain ? ownMark != nil : recovery?.isMarked != false
        // A host that has not read the mark yet treats any mark as that of the backup.
        return !isMarked && !(history.isRead && history.isOfThisRestore(found, in: cluster))
    }

    /// This host has written the mark before its recovery was to write it.
    mutating func wrote(_ mark: EtcdEntry) {
        history.accept(mark)
        ownMark = mark
        guard recovery?.isMarked == false else { return }
        recovery?.isMarked = true
        revision = revision.map { min($0, mark.modRevision) }
    }

    /// etcd has this mark. Intents that were noted since another host wrote it are not outdated.
    /// - Parameter cluster: the one that has it.
    /// - Returns: whether this host must write another one, because this one says nothing about the restore.
    mutating func accept(_ mark: EtcdEntry?, in cluster: String) -> Bool {
        let isNew = history.isOfThisRestore(mark, in: cluster) || mark != nil && mark?.value == ownMark?.value
        if let mark, isNew { revision = revision.map { min($0, mark.modRevision) } }
        // Even if etcd refuses a new value: otherwise every check would take this one for the mark of another host.
        history.accept(mark)
        return !isNew
    }

    /// etcd has the mark of this restore, or has refused it.
    /// - Parameter isDue: whether it is written later.
    mutating func marked(isDue: Bool) {
        isMarkDue = isDue
        recovery?.isMarked = true
    }

    /// The first refusal after a restore is reported.
    mutating func reportsRefusal() -> Bool {
        defer { isRefusalReported = true }
        return !isRefusalReported
    }

    /// No request under this hold is on its way any more, or its intent is in etcd again.
    mutating func settled(_ session: SessionName) { recovery?.sending[session] = nil }

    /// The recovery has succeeded.
    mutating func end() { (recovery, ownMark) = (nil, nil) }

    // MARK: What counts since then

    /// Whether etcd granted it before it went back.
    func isFormer(_ lease: LeaseID) -> Bool { lease == formerLease }

    /// Whether a hold may begin. The response to one that began before the mark was written would lack it, as if it had
    /// been lost.
    var allowsHolds: Bool { recovery?.isMarked != false }

    /// For a while, another host may have a request on its way for which etcd has no intent any more.
    func isRecovering(at now: BootInstant) -> Bool { noticedAt.map { now - $0 < EtcdLimits.recovery } ?? false }

    /// Whether sessions that this host has seen end are removed again if others write them. Time asleep does not count,
    /// because the host repeats nothing then. It counts for ``isRecovering(at:)``: other hosts' requests end meanwhile.
    func removesEnded(at awake: SuspendingClock.Instant) -> Bool {
        noticedAwake.map { awake - $0 < EtcdLimits.removing } ?? false
    }

    /// Whether etcd went back, and this intent is older than that, or missing. Then no host has begun to send these
    /// tokens since: each notes an intent first.
    func isOutdated(_ intent: EtcdEntry?) -> Bool { revision.map { intent?.modRevision ?? 0 <= $0 } ?? false }
}
