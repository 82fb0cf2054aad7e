import AuthClient
import AuthWire
import Glibc

/// `authc watch`: shows events, and reconnects if the agent was restarted. A terminal shows a live view.
struct Watch {
    /// As in the asynchronous client's feed.
    private static let firstPause = Duration.milliseconds(100)
    private static let longestPause = Duration.seconds(10)
    private static let subscribeTimeout = Duration.seconds(10)

    private let options: Options
    private let session: SessionName?
    /// `nil` for all topics.
    private let topic: Topic?
    private let signals: Signals
    private var view: any WatchView

    static func run(_ options: Options) throws(Failure) -> ExitStatus {
        // A dumb terminal has no cursor to move (terminfo(5)).
        let isDumb = ["dumb", ""].contains(environmentValue("TERM") ?? "")
        let isLive = !options.json && !isDumb && isatty(STDOUT_FILENO) == 1
        let signals = try Signals(isLive ? TerminalInput.signals + [SIGWINCH] : [])
        let view: any WatchView =
            if options.json { EventLines() } else if isLive { LiveView() } else { ChangeLines() }
        return try run(options, topic: nil, signals, view)
    }

    /// Watches one topic.
    /// - Parameter view: `nil` prints JSON.
    static func run(_ options: Options, topic: Topic, view: (any WatchView)?) throws(Failure) -> ExitStatus {
        try run(options, topic: topic, try Signals([]), view ?? EventLines())
    }

    private static func run(
        _ options: Options, topic: Topic?, _ signals: Signals, _ view: any WatchView
    ) throws(Failure) -> ExitStatus {
        var watch = Watch(
            options: options, session: try options.chosenSession(), topic: topic, signals: signals, view: view)
        let deadline = options.timeout.map { Deadline.after($0) } ?? .never
        do throws(Failure) {
            try watch.run(until: deadline)
        } catch {
            watch.view.leave()
            if let number = signals.consume(), number != SIGINT { signals.performDefault(number) }
            // ^C is the normal end of a view.
            guard error.isSilent else { throw error }
        }
        watch.view.leave()
        return .done
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
                if case .signal = signals.wait(for: -1, until: end) { try handleSignal() }
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
                if case .answer(_, .failure(let error)) = message { throw .agent(error) }
                guard case .event(let event) = message else { continue }
                onEvent()
                try show(event)
            }
            let second = view.isCountingDown ? min(deadline, .after(.seconds(1))) : deadline
            switch signals.wait(for: connection.fileDescriptor, until: second, writingTo: STDOUT_FILENO) {
            case .ready: break
            case .deadline: try show(nil)
            case .signal:
                do throws(Failure) { try handleSignal() } catch { throw .cancelled }
            }
        }
    }

    private mutating func show(_ event: AgentEvent?) throws(ClientError) {
        do throws(Failure) {
            try view.show(event)
        } catch {
            throw .system(error.message)
        }
    }

    private mutating func handleSignal() throws(Failure) {
        switch signals.caught {
        case SIGWINCH:
            _ = signals.consume()
            try view.show(nil)
        case SIGTSTP:
            view.leave()
            signals.stopProgram()
            try view.show(nil)
        default: throw Failure(ClientError.cancelled, doing: "", within: .zero)
        }
    }
}

protocol WatchView {
    /// - Parameter event: `nil` after a second or a change of the screen.
    mutating func show(_ event: AgentEvent?) throws(Failure)
    /// Whether the view changes every second.
    var isCountingDown: Bool { get }
    /// Restores the terminal. `show` may follow.
    mutating func leave()
}

extension WatchView {
    var isCountingDown: Bool { false }
    mutating func leave() {}
}

/// Prints each event as JSON.
struct EventLines: WatchView {
    mutating func show(_ event: AgentEvent?) throws(Failure) {
        if let event { try Output.json(event.json) }
    }
}
