/// A command that prints what the agent answers.
struct AgentReport {
    private let command: QuickCommand
    private let folder: AgentFolder
    private var exchange = AgentExchange()

    /// `nil` for what the full program has to find out or to report.
    init?(_ command: QuickCommand, in folder: AgentFolder) {
        self.command = command
        self.folder = folder
        switch command.name {
        case .version, .prompt: return nil
        case .list: exchange.add("session.list")
        case .network: exchange.add("network.status")
        case .token:
            // Its answer comes while the agent can still identify this program.
            exchange.add("agent.ping")
            guard var params = SessionChoice.chosen(command.session, in: folder) else { return nil }
            if let origin = command.origin {
                guard origin.isPlainValue else { return nil }
                params.append(member: "origin", origin)
            }
            exchange.add("token.get", params)
        case .status:
            guard let params = SessionChoice.chosen(command.session, in: folder) else { return nil }
            exchange.add("session.status", params)
            if !command.isJSON { exchange.add("network.status") }
        case .whoami:
            guard let params = SessionChoice.chosen(command.session, in: folder) else { return nil }
            exchange.add("user.get", params)
        case .wait:
            guard var params = SessionChoice.chosen(command.session, in: folder) else { return nil }
            params.append(member: "until", "active")
            exchange.add("session.wait", params)
        }
    }

    /// The exit status if the result was printed, otherwise `nil`.
    func print() -> Int32? {
        let time = command.name == .whoami ? AgentExchange.provider : AgentExchange.memory
        return exchange.run(in: folder, within: time) { answers in
            switch command.name {
            case .version, .prompt: return nil
            case .list: return list(answers)
            case .network: return network(answers)
            case .token: return token(answers)
            case .status: return status(answers)
            case .whoami: return whoami(answers)
            case .wait: return wait(answers)
            }
        }
    }

    private func token(_ answers: AgentAnswers) -> Int32? {
        guard let json = answers.result(2), let token = TokenValues(json) else { return nil }
        if command.isJSON { return Self.done(json) }
        guard token.accessToken.count > 0, !token.accessToken.contains(.backslash) else { return nil }
        return Self.done(ByteString(token.accessToken))
    }

    private func status(_ answers: AgentAnswers) -> Int32? {
        guard let json = answers.result(1), let status = SessionValues(json) else { return nil }
        if command.isJSON { return Printer.print(ByteString(json.text)) ? status.exitStatus : nil }
        // If they wait, that is said on stderr.
        guard let network = answers.result(2).flatMap({ NetworkValues($0) }), !network.transfersWait else { return nil }
        return card(status)
    }

    private func wait(_ answers: AgentAnswers) -> Int32? {
        guard let json = answers.result(1), let status = SessionValues(json) else { return nil }
        return command.isJSON ? Self.done(json) : card(status)
    }

    private func card(_ status: SessionValues) -> Int32? {
        SessionCard(status, now: Clock.now, screen: Screen()).flatMap { Self.done($0.text) }
    }

    private func list(_ answers: AgentAnswers) -> Int32? {
        guard let json = answers.result(1), let sessions = SessionValues.list(json) else { return nil }
        if command.isJSON { return Self.done(json) }
        // The full program prints the message on standard error.
        for session in sessions where session.state == .keyringLocked && session.message != nil { return nil }
        return SessionTable(sessions, now: Clock.now, screen: Screen()).text.flatMap { Self.done($0) }
    }

    private func whoami(_ answers: AgentAnswers) -> Int32? {
        guard let json = answers.result(1), let user = UserValues(answer: json) else { return nil }
        if command.isJSON { return Self.done(json) }
        guard !user.isOld, let name = user.shown, !name.contains(.backslash) else { return nil }
        return Self.done(ByteString(name))
    }

    private func network(_ answers: AgentAnswers) -> Int32? {
        guard let json = answers.result(1), let network = NetworkValues(json) else { return nil }
        if command.isJSON { return Self.done(json) }
        return network.text(now: Clock.now).flatMap { Self.done($0) }
    }

    private static func done(_ json: JSONValue) -> Int32? { done(ByteString(json.text)) }

    private static func done(_ text: ByteString) -> Int32? { Printer.print(text) ? 0 : nil }
}

extension Text {
    private static let longestName = 64

    /// `SessionName` of AuthWire.
    var isSessionName: Bool {
        guard count <= Self.longestName, let first = self[0], Self.isLetterOrDigit(first) else { return false }
        return unsafe bytes.allSatisfy { byte in
            Self.isLetterOrDigit(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
                || byte == UInt8(ascii: "-")
        }
    }

    /// Not an option, and a JSON string without escapes (RFC 8259 §7).
    fileprivate var isPlainValue: Bool {
        isPrintable && !contains(.quote) && !contains(.backslash) && !starts(with: "-")
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z")) || byte.isDigit
    }
}
