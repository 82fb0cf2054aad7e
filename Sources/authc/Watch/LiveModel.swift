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
    private var hasSnapshot = false

    /// - Parameter session: the only one that is shown; `nil`: all.
    init(session: SessionName? = nil) {
        callers = LiveCallers(session: session)
    }

    var sessions: [SessionStatus] { state.inOrder }

    /// The selected session; the first one until a key selects another.
    var selected: SessionName? { sessions.first { $0.session == chosen }?.session ?? sessions.first?.session }

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
        if case .signOut(let name) = dialog, state.sessions[name] == nil { dialog = nil }
    }

    /// What to ask the agent about callers. A locked agent does not answer that.
    mutating func callersQuestion(isTick: Bool, now: Double) -> AuditListGet? {
        state.lock == nil ? callers.question(isTick: isTick, now: now) : nil
    }

    mutating func apply(callers result: Result<JSON, AgentError>) {
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
        // Also if the clock was set back.
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
        case .pageUp: move(by: -Self.page)
        case .pageDown: move(by: Self.page)
        case .top, .character("g"): chosen = sessions.first?.session
        case .bottom, .character("G"): chosen = sessions.last?.session
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

    private mutating func move(by count: Int) {
        let names = sessions.map(\.session)
        guard let selected, let index = names.firstIndex(of: selected) else { return }
        chosen = names[min(max(0, index + count), names.count - 1)]
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
