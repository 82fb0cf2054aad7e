import AuthWire

/// Commands that print a session's status: `status`, `refresh`, `validate`, `use`, `wait`.
enum StatusReport {
    static func run(_ options: Options, _ format: SessionFormat? = nil) throws(Failure) -> ExitStatus {
        let request = SessionStatusGet(SessionParams(session: try options.chosenSession()))
        let agent = try options.connect()
        let (status, json) = try agent.call(request)
        let fields = SessionFields(status, json, now: WallClock.now)
        switch format ?? .screen {
        case .screen:
            try show(status, json, options)
            noteTransfers(agent)
        case .json: try show(status, json, options)
        case .fields(let names): try Output.json(fields.json(names))
        case .template(let template): try Output.result(template.line(fields))
        }
        return ExitStatus(status.state)
    }

    /// - Parameter outcome: the exit status for a state.
    static func run(
        _ request: some AgentMethod<SessionStatus>, _ options: Options,
        outcome: (SessionState) -> ExitStatus = ExitStatus.init
    ) throws(Failure) -> ExitStatus {
        let (status, json) = try options.connect().call(request)
        try show(status, json, options)
        return outcome(status.state)
    }

    /// How long to wait for the network's state. The agent answers from memory, and the card does not need it.
    static let networkTimeout = Duration.seconds(1)

    /// Says that queued writes and streams wait, whichever session they belong to.
    private static func noteTransfers(_ agent: Agent) {
        let network = try? agent.call(NetworkStatusGet(), within: networkTimeout).value
        guard network?.transfersWait == true else { return }
        Output.note("The network is metered: queued writes and streams wait.")
    }

    static func show(_ status: SessionStatus, _ json: JSON, _ options: Options) throws(Failure) {
        guard !options.json else { return try Output.json(json) }
        try Output.result(StatusCard(status: status, now: WallClock.now, screen: .current).text)
        // The card already has the message of a session that is not active or has a cause.
        if status.state == .active, status.cause == nil, let message = status.message {
            Output.note(Visible.lines(message))
        }
    }
}
