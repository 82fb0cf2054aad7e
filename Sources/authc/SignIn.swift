import AuthClient
import AuthWire
import Glibc

/// A sign-in, step by step as the agent says; the person is asked only for what is missing.
///
/// Invariant: a sign-in that was begun and is not at its end when this leaves has been cancelled at the agent.
struct SignIn {
    struct Request {
        var provider: String
        var environment: String?
        var method: String?
        var fields: GivenFields
        var remember = false
    }

    /// For a person with another device, where a step does not say when it ends.
    private static let longestWait = Duration.seconds(15 * 60)
    /// A cancellation is answered from memory, and nobody waits for a slow one.
    private static let cancelTime = Duration.seconds(2)

    private let options: Options
    private let agent: Agent
    private let signals: Signals

    static func run(_ request: Request, _ options: Options) throws(Failure) -> ExitStatus {
        let signals = try Signals(TerminalInput.signals)
        let signIn = SignIn(options: options, agent: try options.connect(), signals: signals)
        do throws(Failure) {
            try signIn.run(request)
        } catch {
            // Ends the program as the signal would have, so that a script's shell stops too.
            if let number = signals.take() { signals.act(number) }
            throw error
        }
        return .done
    }

    private func run(_ request: Request) throws(Failure) {
        let fields = try fields(of: request)
        let params = LoginStartParams(
            provider: request.provider, session: try options.chosenSession(), environment: request.environment,
            method: request.method, fields: fields, remember: request.remember)
        var step = try agent.call(.loginStart(params), watching: signals, Step.init)
        var unused = fields
        do throws(Failure) {
            while let next = try nextRequest(after: step, &unused) {
                switch next {
                case .answer(let answer): step = try agent.call(.loginAnswer(answer), watching: signals, Step.init)
                case .wait(let deadline): step = try wait(step.login, until: deadline) ?? step
                }
            }
        } catch {
            if step.kind != .done, step.kind != .failed {
                let cancel = AgentRequest.loginCancel(LoginParams(login: step.login))
                _ = try? agent.connection.call(cancel, deadline: .after(Self.cancelTime))
            }
            throw error
        }
    }

    private func fields(of request: Request) throws(Failure) -> [String: String] {
        guard request.fields.needsMethod else { return request.fields.unchecked }
        let params = ProviderParams(provider: request.provider)
        let provider = try agent.call(.providerShow(params), watching: signals, ProviderDetail.init)
        let method =
            if let name = request.method { provider.methods.first { $0.name == name } } else { provider.methods.first }
        guard let method else {
            let names = provider.methods.map(\.name).joined(separator: ", ")
            throw .usage("--method: \(request.provider) has these: \(names)")
        }
        return try request.fields.checked(for: method)
    }

    private enum Next {
        case answer(LoginAnswerParams)
        case wait(until: Deadline)
    }

    /// What the step asks for next; `nil` when it was the last.
    private func nextRequest(after step: Step, _ unused: inout [String: String]) throws(Failure) -> Next? {
        switch step.kind {
        case .done:
            try report(step)
            return nil
        case .failed: throw Failure(step.error ?? .internalError("the sign-in failed and the agent does not say why"))
        case .fields: return .answer(LoginAnswerParams(login: step.login, fields: try answers(to: step, &unused)))
        case .device:
            let address = step.verificationURIComplete ?? step.verificationURI ?? ""
            note("Open \(address) on any device" + (step.userCode.map { " and give this code: \($0)" } ?? ""))
        case .browser: note("Open this address in a browser: \(step.url ?? "")")
        }
        let left = step.expiresAt.map { Duration.seconds($0 - WallClock.now) } ?? Self.longestWait
        return .wait(until: .after(min(max(left, .zero), Self.longestWait)))
    }

    /// - Returns: `nil` when the agent ended its own wait before the deadline.
    private func wait(_ login: String, until deadline: Deadline) throws(Failure) -> Step? {
        let params = LoginParams(login: login)
        while true {
            do throws(Failure) {
                return try agent.call(.loginWait(params), watching: signals, until: deadline, Step.init)
            } catch {
                guard error.agentError?.kind == .timeout, !deadline.hasPassed else { throw error }
            }
        }
    }

    private func answers(to step: Step, _ unused: inout [String: String]) throws(Failure) -> [String: String] {
        if let message = step.message { note(message) }
        if let place = step.sentTo { note("Sent to \(place).") }
        let fields = step.fields ?? []
        var answers: [String: String] = [:]
        for field in fields where !field.optional || fields.allSatisfy(\.optional) {
            if let value = unused.removeValue(forKey: field.name) {
                answers[field.name] = value
            } else {
                answers[field.name] = try ask(field)
            }
        }
        return answers
    }

    private func ask(_ field: StepField) throws(Failure) -> String {
        guard options.mayAsk else {
            let way =
                field.secret ? "--password-stdin or --secret-fd \(field.name)=FD" : "--field \(field.name)=VALUE"
            throw .usage(
                "\(field.label) (\(field.name)) is missing, and there is nobody to ask", hint: "give it by \(way)")
        }
        for rule in field.rules ?? [] { note("  " + rule) }
        let question = Visible.line(field.label) + (field.value.map { " [\(Visible.line($0))]" } ?? "") + ": "
        while true {
            guard let line = try TerminalInput(signals: signals).ask(question, isSecret: field.secret) else {
                throw .cancelled("the sign-in was cancelled")
            }
            if !line.isEmpty { return line }
            if let value = field.value { return value }
            if field.optional { return "" }
        }
    }

    private func report(_ step: Step) throws(Failure) {
        if let message = step.message { note(message) }
        guard let status = step.status else { return note("Signed in.") }
        if options.json { return try Output.json(status.json) }
        try Output.result(StatusCard(status: status, now: WallClock.now, screen: .current).text)
    }

    private func note(_ text: String) {
        Output.note(Visible.line(text))
    }
}
