import AuthModel
package import AuthWire

/// Decides which session is meant if a request names none.
///
/// Invariant: if the default session goes away and several are left, none of them becomes the default unless the settings
/// name it.
package struct DefaultSession: Sendable {
    package private(set) var name: SessionName?
    /// From the settings.
    package var preferred: SessionName?
    /// Sessions are being loaded: any that is still missing may be the default, so it stays as it was.
    package var isFrozen = false
    /// The marks that the remaining sessions had when the default session went away. They no longer count.
    private var discardedMarks: [SessionName: WallTime] = [:]

    package init() {}

    /// Whether a change of a session may change which one is the default. Most do not, and there may be thousands of sessions.
    package static func mayChange(from former: SessionSnapshot?, to snapshot: SessionSnapshot?) -> Bool {
        guard let former, let snapshot else { return former != nil || snapshot != nil }
        return former.defaultSince != snapshot.defaultSince || former.isDefaultImplied != snapshot.isDefaultImplied
    }

    /// Called after each change of the settings, and of a session if ``mayChange(from:to:)`` is true.
    package mutating func update(_ snapshots: [SessionName: SessionSnapshot]) {
        if let name, snapshots[name] == nil {
            discardedMarks = snapshots.compactMapValues(\.defaultSince)
            self.name = nil
        }
        if !isFrozen { name = chosen(among: snapshots, discardedMarks: discardedMarks) }
    }

    /// The default session after `session` has gone.
    package func after(_ session: SessionName, leaves snapshots: [SessionName: SessionSnapshot]) -> SessionName? {
        guard !isFrozen else { return session == name ? nil : name }
        var left = snapshots
        left[session] = nil
        return chosen(
            among: left, discardedMarks: session == name ? left.compactMapValues(\.defaultSince) : discardedMarks)
    }

    /// The last one that the user chose; else the one in the settings; else the one that was signed in when it was the only
    /// one; else the only one.
    private func chosen(
        among snapshots: [SessionName: SessionSnapshot], discardedMarks: [SessionName: WallTime]
    ) -> SessionName? {
        let marked = snapshots.values.filter {
            $0.defaultSince != nil && $0.defaultSince != discardedMarks[$0.status.session]
        }
        func latest(_ isImplied: Bool) -> SessionSnapshot? {
            marked.filter { $0.isDefaultImplied == isImplied }.max { $0.mark < $1.mark }
        }
        let only = snapshots.count == 1 ? snapshots.values.first : nil
        return (latest(false) ?? preferred.flatMap { snapshots[$0] } ?? latest(true) ?? only)?.status.session
    }
}

extension SessionSnapshot {
    /// A choice has a later mark than each one that its host knew. Between choices of hosts that did not know of each
    /// other, the dates and then the names decide, so that all hosts use the same one.
    fileprivate var mark: (Double, SessionName) { (defaultSince?.unixSeconds ?? 0, status.session) }
}
