import AuthConnection
import AuthWire
import Glibc

/// `authc watch`: shows events, and reconnects if the agent was restarted. A terminal shows a live view.
struct Watch {
    /// The pauses of the asynchronous client's feed, without the time that a busy agent requests.
    private static let firstPause = Duration.milliseconds(100)
    private static let longestPause = Duration.seconds(10)
    private static let subscribeTimeout = Duration.seconds(10)

    private let options: Options
    private let session: SessionName?
    /// `nil` for all topics.
    private let topic: Topic?
    private let signals: Signals
    private var view: any WatchView
    /// What keys have asked for and the agent has not answered, by the request's id.
    private var pending: [Int64: LiveModel.Action] = [:]
    private static let actionTimeout = Duration.seconds(5)
    /// The id of the request for callers that has no answer yet.
    private var callersRequest: Int64?

    static func run(_ options: Options) throws(Failure) -> ExitStatus {
        // A dumb terminal has no cursor to move (terminfo(5)). Without keys, nothing could end the view.
        let isDumb = ["dumb", ""].contains(environmentValue("TERM") ?? "")
        let isLive = !options.json && !isDumb && isatty(STDOUT_FILENO) == 1 && isatty(STDIN_FILENO) == 1
        let signals = try Signals(isLive ? TerminalInput.signals + [SIGWINCH, SIGCONT] : [])
        let session = try options.chosenSession()
        let view: any WatchView =
            if options.json { EventLines() } else if isLive { LiveView(session: session) } else { ChangeLines() }
        return try run(options, session, topic: nil, signals, view)
    }

    /// Watches one topic.
    /// - Parameter view: `nil` prints JSON.
    static func run(_ options: Options, topic: Topic, view: (any WatchView)?) throws(Failure) -> ExitStatus {
        let session = try options.chosenSession()
        return try run(options, session, topic: topic, try Signals([]), view ?? EventLines())
    }

    private static func run(
        _ options: Options, _ session: SessionName?, topic: Topic?, _ signals: Signals, _ view: any WatchView
    ) throws(Failure) -> ExitStatus {
        var watch = Watch(options: options, session: session, topic: topic, signals: signals, view: view)
        let deadline = options.timeout.map { Deadline.after($0) } ?? .never
        do throws(Failure) {
            try watch.run(until: deadline)
        } catch {
            watch.view.leave()
            // Nothing can be read or written after the terminal was closed, perhaps before SIGHUP arrives.
            _ = signals.wait(until: .now)
            let number = signals.consume() ?? (hasLostTerminal ? SIGHUP : nil)
            if let number, number != SIGINT { signals.performDefault(number) }
            // ^C is the normal end of a view.
            guard error.isSilent else { throw error }
        }
        watch.view.leave()
        return .done
    }

    private static var hasLostTerminal: Bool {
        var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
        return unsafe poll(&output, 1, 0) == 1 && output.revents & Int16(POLLHUP) != 0
    }

    private mutating func run(until deadline: Deadline) throws(Failure) {
        var connection = try subscribed()
        var pause = Self.firstPause
        while !deadline.hasPassed {
            do throws(ClientError) {
                try follow(connection, until: deadline) { pause = Self.firstPause }
            } catch {
                switch error {
                case .cancelled, .agent: throw Failure(error, doing: "watch", within: .zero)
                default: break
                }
                pending = [:]
                callersRequest = nil
                try view.show(AgentEvent(topic: .agent, name: "disconnected", at: WallClock.now))
                connection = try reconnected(until: deadline, &pause)
            }
        }
    }

    private func subscribed() throws(Failure) -> AgentConnection {
        let connection = try options.connect().connection
        let params = SubscribeParams(topics: topic.map { [$0] }, session: session)
        do throws(ClientError) {
            _ = try connection.begin(EventsSubscribe(params), deadline: .after(Self.subscribeTimeout))
        } catch {
            throw Failure(error, doing: "events.subscribe", within: Self.subscribeTimeout)
        }
        return connection
    }

    private mutating func reconnected(
        until deadline: Deadline, _ pause: inout Duration
    ) throws(Failure) -> AgentConnection {
        while true {
            let end = min(deadline, .after(pause * Double.random(in: 0.5...1)))
            pause = min(pause * 2, Self.longestPause)
            while !end.hasPassed {
                let outcome = signals.wait(
                    for: .readable(view.keys), .unread(STDOUT_FILENO), until: min(end, nextChange))
                switch outcome {
                case .signal: try handleSignal()
                case .ready:
                    for action in try view.pressed() {
                        if action == .quit { throw Self.quit }
                        try view.report("authd is not running")
                    }
                case .deadline: try view.show(nil)
                }
            }
            do throws(Failure) {
                return try subscribed()
            } catch {
                guard !deadline.hasPassed, error.status == .noAgent || error.status == .temporary else { throw error }
            }
        }
    }

    private mutating func follow(
        _ connection: AgentConnection, until deadline: Deadline, onEvent: () -> Void
    ) throws(ClientError) {
        while !deadline.hasPassed {
            while let message = try connection.nextMessage(deadline: .now) {
                switch message {
                case .answer(let id, let result):
                    if id == callersRequest {
                        callersRequest = nil
                        try doing { watch throws(Failure) in try watch.view.show(callers: result) }
                    } else if let action = pending.removeValue(forKey: id) {
                        try doing { watch throws(Failure) in try watch.report(result, of: action) }
                    } else if case .failure(let error) = result {
                        throw .agent(error)
                    }
                case .event(let event):
                    onEvent()
                    try doing { watch throws(Failure) in try watch.view.show(event) }
                    try askForCallers(isTick: false, on: connection)
                case .unknown: break
                }
            }
            let outcome = signals.wait(
                for: .readable(connection.fileDescriptor), .readable(view.keys), .unread(STDOUT_FILENO),
                until: min(deadline, nextChange))
            switch outcome {
            case .ready:
                var actions: [LiveModel.Action] = []
                try doing { watch throws(Failure) in actions = try watch.view.pressed() }
                for action in actions { try perform(action, on: connection) }
            case .deadline:
                try doing { watch throws(Failure) in try watch.view.show(nil) }
                try askForCallers(isTick: true, on: connection)
            case .signal:
                do throws(Failure) { try handleSignal() } catch { throw .cancelled }
            }
        }
    }

    /// One request at a time. Its answer comes with the events.
    private mutating func askForCallers(isTick: Bool, on connection: AgentConnection) throws(ClientError) {
        guard callersRequest == nil, let question = view.callersQuestion(isTick: isTick) else { return }
        callersRequest = try connection.begin(question, deadline: .after(Self.actionTimeout))
    }

    /// - Throws: `system` for a failure to write.
    private mutating func doing(_ work: (inout Watch) throws(Failure) -> Void) throws(ClientError) {
        do throws(Failure) {
            try work(&self)
        } catch {
            throw .system(error.message)
        }
    }

    /// The next time at which the view changes without an event.
    private var nextChange: Deadline {
        view.nextChange.map { .after(.milliseconds(Int64(max(0, $0 - WallClock.now) * 1000) + 1)) } ?? .never
    }

    // MARK: Keys and signals

    private static var quit: Failure { Failure(ClientError.cancelled, doing: "", within: .zero) }

    /// The answer comes with the events.
    private mutating func perform(_ action: LiveModel.Action, on connection: AgentConnection) throws(ClientError) {
        let deadline = Deadline.after(Self.actionTimeout)
        switch action {
        case .quit: throw .cancelled
        case .redraw: break
        case .refresh(let name):
            let method = SessionRefresh(SessionParams(session: name))
            pending[try connection.begin(method, deadline: deadline)] = action
            try doing { watch throws(Failure) in try watch.view.report("renewing \(name)") }
        case .signOut(let name):
            let method = SessionLogout(session: name)
            pending[try connection.begin(method, deadline: deadline)] = action
            try doing { watch throws(Failure) in try watch.view.report("signing out \(name)") }
        case .lock: pending[try connection.begin(AgentLock(), deadline: deadline)] = action
        }
    }

    private mutating func report(
        _ result: Result<JSON, AgentError>, of action: LiveModel.Action
    ) throws(Failure) {
        switch (action, result) {
        case (.refresh(let name), .success): try view.report("\(name) has a new token")
        case (.signOut(let name), .success): try view.report("\(name) is signed out")
        case (.refresh(let name), .failure(let error)), (.signOut(let name), .failure(let error)):
            try view.report("\(name): \(error.message)")
        case (.lock, .success):
            try view.report(AdvisedCommands.text("The agent is locked. `authc unlock` unlocks it."))
        case (.lock, .failure(let error)): try view.report(error.message)
        case (.redraw, _), (.quit, _): break
        }
    }

    private mutating func handleSignal() throws(Failure) {
        switch signals.caught {
        case SIGWINCH:
            _ = signals.consume()
            try view.show(nil)
        case SIGCONT:
            // Somebody else may have used the terminal meanwhile.
            _ = signals.consume()
            view.leave()
            try view.show(nil)
        case SIGTSTP:
            view.leave()
            signals.stopProgram()
            // What continued this program is one more signal.
            if signals.wait(until: .now) == .signal, signals.caught == SIGCONT { _ = signals.consume() }
            try view.show(nil)
        default: throw Self.quit
        }
    }
}

protocol WatchView {
    /// - Parameter event: `nil` after a change of the time or of the screen.
    mutating func show(_ event: AgentEvent?) throws(Failure)
    /// When the view changes without an event, in Unix seconds. `nil`: never.
    var nextChange: Double? { get }
    /// What to ask the agent about callers, besides the events. `nil`: nothing.
    /// - Parameter isTick: no event has come, but time has passed.
    mutating func callersQuestion(isTick: Bool) -> AuditListGet?
    mutating func show(callers result: Result<JSON, AgentError>) throws(Failure)
    /// Where keys come from; -1 for none.
    var keys: Int32 { get }
    /// Handles the keys that were pressed.
    /// - Returns: what they ask for.
    mutating func pressed() throws(Failure) -> [LiveModel.Action]
    /// Shows what came of it.
    mutating func report(_ text: String) throws(Failure)
    /// Restores the terminal. `show` may follow.
    mutating func leave()
}

extension WatchView {
    var nextChange: Double? { nil }
    var keys: Int32 { -1 }
    mutating func callersQuestion(isTick: Bool) -> AuditListGet? { nil }
    mutating func show(callers result: Result<JSON, AgentError>) throws(Failure) {}
    mutating func pressed() throws(Failure) -> [LiveModel.Action] { [] }
    mutating func report(_ text: String) throws(Failure) {}
    mutating func leave() {}
}

/// Prints each event as JSON.
struct EventLines: WatchView {
    mutating func show(_ event: AgentEvent?) throws(Failure) {
        if let event { try Output.json(event.json) }
    }
}
