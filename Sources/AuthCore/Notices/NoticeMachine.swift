package import AuthWire

/// How everything stands, as far as people are told of it.
package struct NoticeView: Sendable, Equatable {
    package var sessions: [SessionStatus]
    package var network: NetworkState
    package var store: StoreState
    package var storeKind: StoreKind
    /// Somebody has asked for what is in a store that is not open.
    package var isStoreWanted: Bool

    package init(
        sessions: [SessionStatus] = [], network: NetworkState = .online, store: StoreState = .ready,
        storeKind: StoreKind = .secretService, isStoreWanted: Bool = false
    ) {
        self.sessions = sessions
        self.network = network
        self.store = store
        self.storeKind = storeKind
        self.isStoreWanted = isStoreWanted
    }
}

package enum NoticeEvent: Sendable {
    case looked(NoticeView)
    case wake
    /// The person has put it away.
    case dismissed(Notice.Subject)
}

package enum NoticeAction: Sendable, Equatable {
    /// In place of what was shown of its subject, if anything was.
    case show(Notice)
    case withdraw(Notice)
    /// The next deadline; it replaces the one before. `nil`: none.
    case wakeAt(BootInstant?)
}

/// Decides what a person is told, and when that is taken back; it never waits, shows or reads a clock.
///
/// Invariants, whatever the order of events:
/// 1. Nobody is told of what heals by itself before it has failed to for ``patience`` on a network that is fine.
/// 2. What is over is taken back at once.
/// 3. The same thing is told once; who has put it away is not told of it again before it was over.
/// 4. No more than ``most`` are shown at once.
package struct NoticeMachine: Sendable {
    /// A provider's bad ten minutes are its own affair (a restart, a deployment).
    package static let patience = Duration.seconds(600)
    /// More than fits on a screen is read by nobody; the next comes when one is over.
    package static let most = 5

    package private(set) var shown: [Notice.Subject: Notice] = [:]
    private var dismissed: [Notice.Subject: Notice.Reason] = [:]
    private var view = NoticeView()
    /// Since when a session is stale with the network being fine.
    private var staleSince: [SessionName: BootInstant] = [:]
    private var wake: BootInstant?

    package init() {}

    package mutating func handle(_ event: NoticeEvent, at now: BootInstant) -> [NoticeAction] {
        switch event {
        case .looked(let new): view = new
        case .wake: break
        case .dismissed(let subject):
            if let notice = shown.removeValue(forKey: subject) { dismissed[subject] = notice.reason }
        }
        noteStale(now)
        return settle(wanted(now), now)
    }

    private mutating func noteStale(_ now: BootInstant) {
        var still: [SessionName: BootInstant] = [:]
        for status in view.sessions where isFailing(status) {
            still[status.session] = staleSince[status.session] ?? now
        }
        staleSince = still
    }

    /// Stale for another reason than the network.
    private func isFailing(_ status: SessionStatus) -> Bool {
        let isNetwork = [ErrorKind.offline, .captivePortal].contains { $0.rawValue == status.cause }
        return status.state == .stale && view.network == .online && !isNetwork
    }

    /// All that a person could be told now, what matters most first.
    private func wanted(_ now: BootInstant) -> [Notice] {
        let isLocked = view.store == .locked || view.store == .denied
        let needsKeyring = isLocked && (view.isStoreWanted || view.sessions.contains(where: \.unsaved))
        let ended = view.sessions.filter { $0.state == .signInRequired }.map(Notice.signIn)
        let stale = view.sessions.filter { status in
            staleSince[status.session].map { now - $0 >= Self.patience } ?? false
        }.map { Notice.stale($0, after: Self.patience) }
        return (needsKeyring ? [view.storeKind == .sealedFile ? Notice.sealed : .keyring] : []) + ended + stale
    }

    private mutating func settle(_ wanted: [Notice], _ now: BootInstant) -> [NoticeAction] {
        var actions: [NoticeAction] = []
        let bySubject = Dictionary(wanted.map { ($0.subject, $0) }) { first, _ in first }
        dismissed = dismissed.filter { bySubject[$0.key]?.reason == $0.value }
        for notice in shown.values.sorted(by: { $0.title + $0.message < $1.title + $1.message })
        where bySubject[notice.subject] == nil {
            shown[notice.subject] = nil
            actions.append(.withdraw(notice))
        }
        for notice in wanted where dismissed[notice.subject] == nil && shown[notice.subject] != notice {
            guard shown[notice.subject] != nil || shown.count < Self.most else { continue }
            shown[notice.subject] = notice
            actions.append(.show(notice))
        }
        let next = staleSince.values.map { $0 + Self.patience }.filter { $0 > now }.min()
        if next != wake {
            wake = next
            actions.append(.wakeAt(next))
        }
        return actions
    }
}
