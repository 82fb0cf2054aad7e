package import AuthModel
package import AuthWire

/// The state that users may be notified of.
package struct NoticeInput: Sendable, Equatable {
    package var sessions: [SessionStatus]
    package var network: NetworkState
    package var store: StoreState
    package var storeKind: StoreKind
    /// A request needs the content of a closed store.
    package var isStoreRequested: Bool
    package var missingScopes: [MissingScopes]

    package init(
        sessions: [SessionStatus] = [], network: NetworkState = .online, store: StoreState = .ready,
        storeKind: StoreKind = .secretService, isStoreRequested: Bool = false, missingScopes: [MissingScopes] = []
    ) {
        self.missingScopes = missingScopes
        self.sessions = sessions
        self.network = network
        self.store = store
        self.storeKind = storeKind
        self.isStoreRequested = isStoreRequested
    }
}

package enum NoticeEvent: Sendable {
    /// The current state.
    case changed(NoticeInput)
    case wake
    /// Whether notices are shown on the desktop; at first they are not.
    case turned(on: Bool)
    /// The user chose the notice's action.
    case chosen(Notice.Subject)
    /// The user has closed the notice.
    case dismissed(Notice.Subject)
    /// The agent ends.
    case ended
}

package enum NoticeAction: Sendable, Equatable {
    /// Shows it on the desktop, and replaces a notice about the same subject.
    case show(Notice)
    /// Withdraws the notice about this subject from the desktop.
    case withdraw(Notice.Subject)
    /// Reports it to the agent's subscribers.
    case publish(NoticeChange, Notice)
    /// Tries now what the notice reports as failed.
    case retry(Notice)
}

/// A change of a notice, with its name in events.
package enum NoticeChange: String, Sendable {
    case shown, withdrawn, chosen
}

/// Decides which notices a user gets, and when they are withdrawn.
///
/// Invariants, whatever the order of events:
/// 1. A failure that may pass is reported only after ``staleLimit`` on a working network.
/// 2. A notice is withdrawn as soon as its cause is gone.
/// 3. The same cause is reported once; a notice that the user has closed returns only after its cause was gone.
/// 4. No more than ``maxShown`` are shown at once.
package struct NoticeMachine: Machine {
    /// A provider may fail for ten minutes without a notice (a restart, a deployment).
    package static let staleLimit = Duration.seconds(600)
    /// More would not fit on a screen; the next one comes when one is withdrawn.
    package static let maxShown = 5

    package private(set) var shown: [Notice.Subject: Notice] = [:]
    private var dismissed: [Notice.Subject: Notice.Reason] = [:]
    private var view = NoticeInput()
    /// Since when a session is stale on a working network.
    private var staleSince: [SessionName: BootInstant] = [:]
    /// Whether they are shown on the desktop.
    private var isOn = false

    package init() {}

    package static let wake = NoticeEvent.wake

    package mutating func handle(_ event: NoticeEvent, in turn: inout Turn<NoticeAction, Never>) {
        switch event {
        case .changed(let new): view = new
        case .wake: break
        case .turned(let on): setDesktop(on: on, &turn)
        case .chosen(let subject): if let notice = shown[subject] { choose(notice, &turn) }
        case .dismissed(let subject):
            if let notice = shown.removeValue(forKey: subject) { dismissed[subject] = notice.reason }
        case .ended: return setDesktop(on: false, &turn)
        }
        updateStaleSince(turn.now.boot)
        settle(&turn)
    }

    private mutating func setDesktop(on: Bool, _ turn: inout Turn<NoticeAction, Never>) {
        guard on != isOn else { return }
        isOn = on
        for notice in shown.values.sorted(by: Self.precedes) {
            turn.act(on ? .show(notice) : .withdraw(notice.subject))
        }
    }

    private func choose(_ notice: Notice, _ turn: inout Turn<NoticeAction, Never>) {
        turn.act(.publish(.chosen, notice))
        switch notice.reason {
        case .stale, .keyringLocked: turn.act(.retry(notice))
        // The agent never asks for a password by itself: a subscriber begins a sign-in, or the user runs the command in the
        // notice.
        case .signInRequired, .insufficientScope: break
        }
    }

    private mutating func updateStaleSince(_ now: BootInstant) {
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

    /// Everything that could be reported now, the most important first.
    private func requested(_ now: BootInstant) -> [Notice] {
        let isLocked = view.store == .locked || view.store == .denied
        let needsKeyring = isLocked && (view.isStoreRequested || view.sessions.contains(where: \.unsaved))
        let ended = view.sessions.filter { $0.state == .signInRequired }.map(Notice.signIn)
        let stale = view.sessions.filter { status in
            staleSince[status.session].map { now - $0 >= Self.staleLimit } ?? false
        }.map { Notice.stale($0, after: Self.staleLimit) }
        // There is one notice for each session.
        let others = Set((ended + stale).compactMap(\.session))
        let lacking = view.missingScopes.filter { !others.contains($0.session) }.map(Notice.insufficientScope)
        return (needsKeyring ? [view.storeKind == .sealedFile ? Notice.sealed : .keyring] : []) + ended + stale
            + lacking
    }

    private mutating func settle(_ turn: inout Turn<NoticeAction, Never>) {
        let now = turn.now.boot
        turn.wakeUp = staleSince.values.map { $0 + Self.staleLimit }.filter { $0 > now }.min()
        let requested = requested(now)
        // Most of the time there is nothing to report.
        if requested.isEmpty, shown.isEmpty { return dismissed = [:] }
        let bySubject = Dictionary(requested.map { ($0.subject, $0) }) { first, _ in first }
        dismissed = dismissed.filter { bySubject[$0.key]?.reason == $0.value }
        for notice in shown.values.sorted(by: Self.precedes) where bySubject[notice.subject] == nil {
            shown[notice.subject] = nil
            if isOn { turn.act(.withdraw(notice.subject)) }
            turn.act(.publish(.withdrawn, notice))
        }
        for notice in requested where dismissed[notice.subject] == nil && shown[notice.subject] != notice {
            guard shown[notice.subject] != nil || shown.count < Self.maxShown else { continue }
            shown[notice.subject] = notice
            if isOn { turn.act(.show(notice)) }
            turn.act(.publish(.shown, notice))
        }
    }

    private static func precedes(_ one: Notice, _ other: Notice) -> Bool {
        one.title + one.message < other.title + other.message
    }
}
