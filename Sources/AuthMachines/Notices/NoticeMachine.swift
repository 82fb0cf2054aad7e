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
    /// The user chose the action with this key.
    case chosen(Notice.Subject, key: String, activation: String? = nil)
    /// The command that an action has started in a window has ended, or was not started; `nil`: without a failure.
    case windowClosed(Notice.Subject, signedIn: Bool, NoticeFailure?)
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
    /// Opens a terminal or the browser. ``NoticeEvent/windowClosed(_:signedIn:_:)`` follows.
    ///
    /// - Parameter activation: the desktop's token for the new window.
    case openWindow(Notice, activation: String?)
}

/// A change of a notice, with its name in events.
package enum NoticeChange: String, Sendable {
    case shown, withdrawn, chosen
}

/// Decides which notices a user gets, when they are withdrawn, and what a click does.
///
/// Invariants, whatever the order of events:
/// 1. A failure that may pass is reported only after ``staleLimit`` on a working network.
/// 2. A notice is withdrawn as soon as its cause is gone.
/// 3. The same cause is reported once; a notice that the user has closed returns only after its cause was gone, or when the
///    action that the user has chosen has failed.
/// 4. No more than ``maxShown`` are shown at once.
/// 5. Nothing is opened without a click on a notice that is shown, and for one subject nothing is opened twice at once.
package struct NoticeMachine: Machine {
    /// A provider may fail for ten minutes without a notice (a restart, a deployment).
    package static let staleLimit = Duration.seconds(600)
    /// More would not fit on a screen; the next one comes when one is withdrawn.
    package static let maxShown = 5
    /// The second click of a double click does nothing, even if the command of the first one has ended.
    package static let clickPause = Duration.seconds(10)
    /// No sign-in takes longer. A window that stays open does not disable the button after that.
    package static let longestWindow = Duration.seconds(15 * 60)
    /// After what the user has chosen to try again, a notice whose cause lasts is shown again: many desktops close it at
    /// the click.
    package static let retryTime = Duration.seconds(60)
    /// How long a sign-in's success is shown; many desktops take as long.
    package static let resultTime = Duration.seconds(10)

    package private(set) var shown: [Notice.Subject: Notice] = [:]
    /// The causes of the notices that the user has closed.
    private var dismissed: [Notice.Subject: Notice.Reason] = [:]
    /// What needs the user now, without the results of actions.
    private var causes: [Notice.Subject: Notice.Reason] = [:]
    private var view = NoticeInput()
    /// Since when a session is stale on a working network.
    private var staleSince: [SessionName: BootInstant] = [:]
    /// Whether they are shown on the desktop.
    private var isOn = false
    /// What clicks have opened: when, and until when another click does nothing.
    private var windows: [Notice.Subject: (opened: BootInstant, until: BootInstant)] = [:]
    /// What the user has chosen to try again, and when the notice is shown again.
    private var retried: [Notice.Subject: BootInstant] = [:]
    /// Failures of buttons, as long as the cause of the notice lasts.
    private var failures: [Notice.Subject: NoticeFailure] = [:]
    /// Sign-ins that a click began, and until when their success is shown.
    private var successes: [SessionName: BootInstant] = [:]

    package init() {}

    package static let wake = NoticeEvent.wake

    package mutating func handle(_ event: NoticeEvent, in turn: inout Turn<NoticeAction, Never>) {
        switch event {
        case .changed(let new):
            view = new
            view.sessions = new.sessions.filter(mayConcern)
        case .wake: break
        case .turned(let on): setDesktop(on: on, &turn)
        case .chosen(let subject, let key, let activation): choose(subject, key, activation, &turn)
        case .windowClosed(let subject, let signedIn, let failure): closed(subject, signedIn, failure, turn.now.boot)
        case .dismissed(let subject):
            if let notice = shown.removeValue(forKey: subject) { dismissed[subject] = causes[subject] ?? notice.reason }
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

    // MARK: Clicks

    private mutating func choose(
        _ subject: Notice.Subject, _ key: String, _ activation: String?, _ turn: inout Turn<NoticeAction, Never>
    ) {
        guard isOn, let notice = shown[subject], let button = notice.button, button.answers(to: key) else { return }
        let now = turn.now.boot
        if button.action.opensWindow {
            if let window = windows[subject], now < window.until { return }
            windows[subject] = (now, now + Self.longestWindow)
        } else {
            retried[subject] = now + Self.retryTime
        }
        turn.act(.publish(.chosen, notice))
        turn.act(button.action.opensWindow ? .openWindow(notice, activation: activation) : .retry(notice))
    }

    private mutating func closed(
        _ subject: Notice.Subject, _ signedIn: Bool, _ failure: NoticeFailure?, _ now: BootInstant
    ) {
        guard let window = windows[subject] else { return }
        windows[subject]?.until = window.opened + Self.clickPause
        failures[subject] = failure
        // The user has chosen the action, and its failure is shown nowhere else.
        if failure != nil { dismissed[subject] = nil }
        if signedIn, case .session(let name) = subject { successes[name] = now + Self.resultTime }
    }

    // MARK: Causes

    /// Most sessions have no problem and need no notice, so they are not kept.
    package func mayConcern(_ status: SessionStatus) -> Bool {
        status.state != .active || status.unsaved || SessionEnd(status) != nil
            || windows[.session(status.session)] != nil || successes[status.session] != nil
    }

    private mutating func updateStaleSince(_ now: BootInstant) {
        var still: [SessionName: BootInstant] = [:]
        for status in view.sessions where isFailing(status) {
            still[status.session] = staleSince[status.session] ?? now
        }
        staleSince = still
    }

    /// Stale for a reason other than the network.
    private func isFailing(_ status: SessionStatus) -> Bool {
        let isNetwork = [ErrorKind.offline, .captivePortal].contains { $0.rawValue == status.cause }
        return status.state == .stale && view.network == .online && !isNetwork
    }

    /// Everything that needs the user now, the most important first.
    private func present(_ now: Moment) -> [Notice] {
        let isLocked = view.store == .locked || view.store == .denied
        let needsKeyring = isLocked && (view.isStoreRequested || view.sessions.contains(where: \.unsaved))
        let ended = view.sessions.filter { $0.state == .signInRequired }.map(Notice.signIn)
        let stale = view.sessions.filter { status in
            staleSince[status.session].map { now.boot - $0 >= Self.staleLimit } ?? false
        }.map { Notice.stale($0, after: Self.staleLimit) }
        // There is one notice for each session.
        let others = Set((ended + stale).compactMap(\.session))
        let lacking = view.missingScopes.filter { !others.contains($0.session) }.map(Notice.insufficientScope)
        let taken = others.union(lacking.compactMap(\.session))
        let ending = view.sessions.filter { !taken.contains($0.session) }.compactMap { status in
            SessionEnd(status)?.warning(at: now.wall.unixSeconds).map { Notice.ending(status, isLastDay: $0 == .day) }
        }
        return (needsKeyring ? [view.storeKind.isSealed ? Notice.sealed : .keyring] : []) + ended + stale
            + lacking + ending
    }

    /// Everything that could be shown now.
    private mutating func requested(_ now: Moment) -> [Notice] {
        let present = present(now)
        causes = Dictionary(present.map { ($0.subject, $0.reason) }) { first, _ in first }
        let subjects = Set(causes.keys)
        failures = failures.filter { subjects.contains($0.key) }
        windows = windows.filter { subjects.contains($0.key) || $0.value.until > now.boot }
        successes = successes.filter { $0.value > now.boot }
        let succeeded = view.sessions.filter {
            successes[$0.session] != nil && $0.state == .active && !subjects.contains(.session($0.session))
        }
        return present.map { notice in failures[notice.subject].map(notice.failed) ?? notice }
            + succeeded.map(Notice.signedIn)
    }

    private mutating func settle(_ turn: inout Turn<NoticeAction, Never>) {
        let now = turn.now.boot
        let requested = requested(turn.now)
        let wall = turn.now.wall.unixSeconds
        let ends = view.sessions.compactMap { SessionEnd($0)?.nextChange(after: wall) }
            .map { turn.now.deadline(for: WallTime(unixSeconds: $0)) }
        let bySubject = Dictionary(requested.map { ($0.subject, $0) }) { first, _ in first }
        retried = retried.filter { bySubject[$0.key] != nil }
        turn.wakeUp = (staleSince.values.map { $0 + Self.staleLimit } + ends + successes.values + retried.values)
            .filter { $0 > now }.min()
        // Most of the time there is nothing to report.
        if requested.isEmpty, shown.isEmpty { return dismissed = [:] }
        dismissed = dismissed.filter { (causes[$0.key] ?? bySubject[$0.key]?.reason) == $0.value }
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
        for notice in requested where retried[notice.subject].map({ $0 <= now }) ?? false {
            retried[notice.subject] = nil
            if isOn, shown[notice.subject] == notice { turn.act(.show(notice)) }
        }
    }

    private static func precedes(_ one: Notice, _ other: Notice) -> Bool {
        one.title + one.message < other.title + other.message
    }
}
