import AuthWire

/// What the live view shows, and what its keys do. It does nothing itself: a key may ask for an action.
struct LiveModel {
    enum Dialog: Equatable {
        case signOut(SessionName)
        case help
    }

    enum Action: Equatable {
        case refresh(SessionName)
        case signOut(SessionName)
        case lock
        case redraw
        case quit
    }

    struct Event: Equatable {
        let at: Double
        let text: String
    }

    /// More than a screen has.
    private static let keptEvents = 200
    /// How far a page key moves.
    private static let page = 10

    private(set) var state = WatchedState()
    /// The newest first.
    private(set) var events: [Event] = []
    private(set) var callers: LiveCallers
    private(set) var dialog: Dialog?
    /// The result of the last action.
    private(set) var message: String?
    /// In Unix seconds.
    private var messageEnd = 0.0
    /// How long a message stays, in seconds.
    private static let messageTime = 5.0
    private var chosen: SessionName?
    /// The list that Tab has chosen.
    private var chosenList = LiveList.sessions
    /// The selected line of callers or events.
    private var chosenLine = 0
    /// Whether the selected line in the renewals is the one with the session's end.
    private var isEndChosen = false
    private var hasSnapshot = false

    /// - Parameter session: the only one that is shown; `nil`: all.
    init(session: SessionName? = nil) {
        callers = LiveCallers(session: session)
    }

    var sessions: [SessionStatus] { state.inOrder }

    /// The selected session; the first one until a key selects another.
    var selected: SessionName? { sessions.first { $0.session == chosen }?.session ?? sessions.first?.session }

    // MARK: Lists

    /// The list in which keys select a line.
    var list: LiveList { count(of: chosenList) > 0 ? chosenList : .sessions }

    /// Whether there is another list for Tab to choose.
    var hasOtherLists: Bool { LiveList.allCases.contains { $0 != list && count(of: $0) > 0 } }

    func count(of list: LiveList) -> Int {
        switch list {
        case .sessions: sessions.count
        case .renewals: renewals.count
        case .callers: callers.lines.count
        case .events: events.count
        }
    }

    private var renewals: [LiveTimeline.Entry] { LiveTimeline(sessions, now: 0).entries }

    /// The selected line of a list, from 0; the first line if keys do not act on the list. In the renewals, it is a
    /// line of the selected session.
    func line(of list: LiveList) -> Int {
        switch list {
        case .sessions: return sessions.firstIndex { $0.session == selected } ?? 0
        case self.list where list == .renewals:
            let renewals = renewals
            return renewals.firstIndex { $0.session == selected && $0.isEnd == isEndChosen }
                ?? renewals.firstIndex { $0.session == selected } ?? 0
        case self.list: return min(chosenLine, count(of: list) - 1)
        case .renewals, .callers, .events: return 0
        }
    }

    /// Whether r and s act on a session other than that of the marked line, so that its name must be shown.
    var isSessionElsewhere: Bool { list == .callers || list == .events }

    private mutating func chooseList(after step: Int) {
        let lists = LiveList.allCases.filter { $0 == .sessions || count(of: $0) > 0 }
        guard let index = lists.firstIndex(of: list) else { return }
        chosenList = lists[(index + step + lists.count) % lists.count]
        (chosenLine, isEndChosen) = (0, false)
        selectRenewal()
    }

    /// Selects the session of the marked renewal. A session may have no renewal.
    private mutating func selectRenewal() {
        if list == .renewals { select(line(of: .renewals)) }
    }

    private mutating func move(by step: Int) { select(line(of: list) + step) }

    private mutating func select(_ wanted: Int) {
        let line = max(0, min(wanted, count(of: list) - 1))
        switch list {
        case .sessions: if sessions.indices.contains(line) { chosen = sessions[line].session }
        case .renewals: (chosen, isEndChosen) = (renewals[line].session, renewals[line].isEnd)
        case .callers, .events: chosenLine = line
        }
    }

    // MARK: Events

    mutating func apply(_ event: AgentEvent, now: Double) {
        let wasDisconnected = state.isDisconnected
        state.apply(event)
        if state.isDisconnected != wasDisconnected { message = nil }
        // The next agent has other entries.
        if state.isDisconnected { callers = LiveCallers(session: callers.session) }
        let isFirst = event.name == AgentEvent.snapshotName && !hasSnapshot
        hasSnapshot = hasSnapshot || isFirst
        // The first snapshot is no change. Later ones follow a gap.
        let lines = isFirst ? [] : ChangeLines.texts(event, state, now: now)
        let texts = lines.map { Event(at: event.at, text: Visible.line($0)) }
        events = Array((texts.reversed() + events).prefix(Self.keptEvents))
        // The selected event stays where it is on the screen; the newest one stays selected.
        if list == .events, chosenLine > 0 { select(chosenLine + texts.count) }
        selectRenewal()
        if case .signOut(let name) = dialog, state.sessions[name] == nil { dialog = nil }
    }

    /// What to ask the agent about callers. A locked agent does not answer that.
    mutating func callersQuestion(isTick: Bool, now: Double) -> AuditListGet? {
        state.lock == nil ? callers.question(isTick: isTick, now: now) : nil
    }

    mutating func apply(callers result: Result<JSON, AgentError>) {
        // The selected caller stays selected when others make requests; the newest one stays the first line, as with
        // events.
        let selected = list == .callers && chosenLine > 0 ? callers.lines[line(of: .callers)] : nil
        defer {
            if let selected, let line = callers.lines.firstIndex(where: { $0.isSame(as: selected) }) {
                chosenLine = line
            }
        }
        switch result {
        case .success(let json):
            if let list = try? AuditList(json) { callers.apply(list) } else { callers.refuse() }
        // It was locked meanwhile.
        case .failure(let error): if error.kind != .agentLocked { callers.refuse() }
        }
    }

    mutating func report(_ text: String, now: Double) {
        (message, messageEnd) = (Visible.line(text), now + Self.messageTime)
    }

    /// Takes away a message that was shown long enough.
    mutating func pass(to now: Double) {
        // Even if the clock was set back.
        if now >= messageEnd || now < messageEnd - Self.messageTime { message = nil }
    }

    // MARK: Keys

    mutating func press(_ key: LiveKey) -> Action? {
        message = nil
        if key == .end { return .quit }
        switch dialog {
        case .help?:
            dialog = nil
            return nil
        case .signOut(let name)?:
            dialog = nil
            return [.character("y"), .character("Y")].contains(key) ? .signOut(name) : nil
        case nil: return pressNormally(key)
        }
    }

    private mutating func pressNormally(_ key: LiveKey) -> Action? {
        switch key {
        case .up, .character("k"): move(by: -1)
        case .down, .character("j"): move(by: 1)
        case .pageUp, .character("b"): move(by: -Self.page)
        case .pageDown, .character(" "): move(by: Self.page)
        case .top, .character("g"): select(0)
        case .bottom, .character("G"): select(count(of: list) - 1)
        case .tab: chooseList(after: 1)
        case .backTab: chooseList(after: -1)
        case .escape: chosenList = .sessions
        case .character("?"), .character("h"): dialog = .help
        case .character("s"): dialog = selected.map(Dialog.signOut)
        case .character("r"): return selected.map(Action.refresh)
        case .character("l"): return .lock
        case .redraw: return .redraw
        case .character("q"): return .quit
        default: break
        }
        return nil
    }

    // MARK: Time

    /// When to draw again because of the time, in Unix seconds: with the next whole second or minute, for all sessions at once.
    /// `nil`: never.
    func nextChange(after now: Double) -> Double? {
        let left = sessions.flatMap { [$0.expiresAt, $0.refreshAt, $0.endsAt] }.compactMap { $0.map { $0 - now } }
        let message = message.map { _ in messageEnd }
        let least = left.filter { $0 > 0 }.min()
        guard least != nil || !callers.lines.isEmpty else { return message }
        // Span has seconds up to ten minutes. The next minute may begin within them. The ages of callers are in minutes.
        let step: Double = (least ?? .infinity) < 660 ? 1 : 60
        let tick = (now / step).rounded(.down) * step + step + Self.justAfter
        return message.map { min($0, tick) } ?? tick
    }

    /// The clock may be read a little early.
    private static let justAfter = 0.01
}
