import AuthConnection
import AuthWire
import Glibc

/// Runs a sign-in or a change of a password, step by step. It asks the user only for what is missing.
///
/// Invariant: when this returns, the sign-in has ended or was cancelled at the agent.
struct SignIn {
    /// For a step without an end, while the user is elsewhere.
    private static let longestWait = Duration.seconds(15 * 60)
    /// Added to a step's end: the agent ends it first, and says why.
    private static let grace = Duration.seconds(10)
    /// The agent answers a cancellation from memory. A slow one is not worth waiting for.
    private static let cancelTimeout = Duration.seconds(2)

    private let options: Options
    private let agent: Agent
    private let signals: Signals
    private let goal: SignInRequestOptions
    private let replaces: Bool
    private let replacesAccount: Bool
    /// `nil`: the browser of this machine, if one is needed.
    private let lender: BrowserLender?
    private let redirect = SchemeRedirect()

    /// - Parameters:
    ///   - replaces: ends another sign-in to the session without asking.
    ///   - replacesAccount: gives the session to another account without asking.
    ///   - lender: the machine whose browser is used.
    static func run(
        _ goal: SignInRequestOptions, _ given: FieldArguments, _ options: Options, replaces: Bool = false,
        replacesAccount: Bool = false, lender: BrowserLender? = nil
    ) throws(Failure) -> ExitStatus {
        let signals = try Signals(TerminalInput.signals)
        let signIn = SignIn(
            options: options, agent: try options.connect(), signals: signals, goal: goal, replaces: replaces,
            replacesAccount: replacesAccount, lender: lender)
        do throws(Failure) {
            try signIn.run(given)
        } catch {
            // End the program by the signal, so that a script's shell stops too.
            if let number = signals.consume() { signals.performDefault(number) }
            throw error
        }
        return .done
    }

    private func run(_ given: FieldArguments) throws(Failure) {
        defer { redirect.end() }
        try agent.introduce(watching: signals)
        let session = try options.namedSession()
        let fields =
            given.needsMethod
            ? try given.checked(for: goal.method(session, lookup: SignInLookup(agent: agent, signals: signals)))
            : given.unchecked
        let prompter = Prompter(options: options, signals: signals, agent: agent, given: Set(fields.keys))
        var methods = options.canPrompt ? try offeredMethods() : []
        var tries = SignInTries(fields: fields, hasGivenSecrets: given.hasSecrets)
        while let refusal = try perform(&tries, session, prompter, &methods) { Output.note(refusal.explanation) }
    }

    /// - Returns: why the provider refused the answers, if the user is to be asked again; `nil` after the last step.
    private func perform(
        _ tries: inout SignInTries, _ session: SessionName?, _ prompter: Prompter, _ methods: inout [SignInMethodInfo]
    ) throws(Failure) -> Failure? {
        let (fields, mayReplace) = (tries.fields, replacesAccount || tries.hasAgreed)
        var step = try begin(prompter) {
            goal.request(
                session, fields: fields, replaces: $0, replacesAccount: mayReplace, borrows: lender != nil,
                timeout: options.timeout)
        }
        do throws(Failure) {
            while true {
                tries.received(step)
                switch try nextRequest(after: step, prompter, previous: tries.previous, &methods) {
                case .ask(let request):
                    if let answer = request as? LoginAnswer { tries.answered(answer.fields, to: step) }
                    step = try send(request, step, prompter)
                case .wait(let deadline): step = try wait(step.login, until: deadline) ?? step
                case nil: return nil
                }
            }
        } catch {
            if step.kind == .failed, let refusal = error.agentError, tries.isRepeated(after: refusal) { return error }
            if step.kind != .done, step.kind != .failed { cancel(step.login) }
            throw error
        }
    }

    /// The provider's methods, if the user has not chosen one; otherwise none.
    private func offeredMethods() throws(Failure) -> [SignInMethodInfo] {
        guard case .signIn(let provider, _, nil, _, _, _) = goal, !SignInRequestOptions.isURL(provider) else {
            return []
        }
        return try SignInLookup(agent: agent, signals: signals).provider(provider).methods
    }

    /// Names the other methods once: before a question, because nobody reads on after it; otherwise after what the user
    /// needs first, such as an address or a code.
    /// - Parameter methods: those that the user may choose from; empty afterwards.
    private func printAlternatives(_ methods: inout [SignInMethodInfo], to step: Step) {
        defer { methods = [] }
        // If there is no browser, the agent uses a method of OAuth other than the first.
        let name = step.kind == .browser && step.fields != nil ? "paste" : step.kind.rawValue
        guard methods.count > 1, let used = methods.first(where: { $0.name == name }) ?? methods.first else { return }
        let others = methods.filter { $0.name != used.name }.map { "--method \($0.name) (\($0.label))" }
        let beginning = step.kind == .fields ? "Method: \(used.label). Or use " : "Other methods: "
        Output.note(Visible.line(beginning + others.joined(separator: ", ")))
    }

    private func ask(_ request: some AgentMethod<Step>) throws(Failure) -> Step {
        try agent.call(request, watching: signals)
    }

    /// Starts. If another sign-in to the session is in progress, perhaps of a program that was killed, the user can end it.
    /// - Parameter request: with `true` it ends the other one.
    private func begin(_ prompter: Prompter, _ request: (Bool) -> any AgentMethod<Step>) throws(Failure) -> Step {
        do throws(Failure) {
            return try ask(request(replaces))
        } catch {
            guard error.agentError?.cause == "sign_in_in_progress" else { throw error }
            guard options.canPrompt else {
                Output.note("Use --replace to end it and start this one.")
                throw error
            }
            guard try prompter.confirm("\(error.message) End it and continue?") else { throw error }
            return try ask(request(true))
        }
    }

    private func cancel(_ login: String) {
        let cancel = LoginCancel(LoginParams(login: login))
        _ = try? agent.connection.result(of: cancel, deadline: .after(Self.cancelTimeout))
    }

    private enum Next {
        case ask(any AgentMethod<Step>)
        case wait(until: Deadline)
    }

    /// The next request; `nil` after the last step.
    /// - Parameters:
    ///   - previous: the answers of the last try.
    ///   - methods: see ``printAlternatives(_:to:)``.
    private func nextRequest(
        after step: Step, _ prompter: Prompter, previous: [String: String], _ methods: inout [SignInMethodInfo]
    ) throws(Failure) -> Next? {
        try lender?.check(step)
        switch step.kind {
        case .done:
            try report(step)
            return nil
        case .failed:
            throw Failure(step.error ?? .internalError("the sign-in failed, and the agent does not report why"))
        case .fields:
            printAlternatives(&methods, to: step)
            switch try prompter.answers(to: step, previous: previous) {
            case .fields(let fields):
                return .ask(LoginAnswer(login: step.login, fields: fields, timeout: options.timeout))
            case .resend: return .ask(LoginResend(LoginParams(login: step.login)))
            }
        case .device:
            let address = step.verificationURIComplete ?? step.verificationURI ?? ""
            if let lines = QRCode(address)?.lines(on: .of(STDERR_FILENO)) { lines.forEach(Output.note) }
            Output.note(
                Visible.line(
                    "Open \(address) on any device" + (step.userCode.map { " and enter this code: \($0)" } ?? "")))
        case .lend:
            guard let lender, let call = step.lend else { throw .internalError("a step lend without --from") }
            let lent = try lender.lend(call, options, watching: signals)
            return .ask(LoginAnswer(login: step.login, fields: [:], lent: lent, timeout: options.timeout))
        case .wait:
            for line in (step.message ?? "The provider waits for you.").split(separator: "\n") {
                Output.note(Visible.line(String(line)))
            }
        case .browser:
            try openBrowser(step)
            guard step.fields != nil else { break }
            printAlternatives(&methods, to: step)
            guard case .fields(let fields) = try prompter.answers(to: step) else { return nil }
            return .ask(LoginAnswer(login: step.login, fields: fields, timeout: options.timeout))
        }
        let left = step.expiresAt.map { max(Duration.zero, .seconds($0 - WallClock.now)) }
        noteWait(left)
        printAlternatives(&methods, to: step)
        return .wait(until: .after(left.map { $0 + Self.grace } ?? Self.longestWait))
    }

    /// Says on a terminal that the command waits. Otherwise it looks as if it hangs.
    private func noteWait(_ left: Duration?) {
        guard Screen.of(STDERR_FILENO).isTerminal else { return }
        // In whole minutes, as providers state it.
        let minutes = left.map { Int64(($0 / .seconds(60)).rounded(.up)) }.flatMap { (1...60).contains($0) ? $0 : nil }
        let limit = minutes.map { ", for \(Span.text(.seconds($0 * 60))) at most" } ?? ""
        Output.note("Waiting until you have done so\(limit). ^C cancels the sign-in.")
    }

    /// Always prints the address too: the browser may be on another screen, or may not have opened.
    private func openBrowser(_ step: Step) throws(Failure) {
        // After a wrong answer, the browser is already open.
        guard step.message == nil, let url = step.url else { return }
        if let scheme = step.redirectScheme {
            try redirect.begin(scheme: scheme, socket: options.socketPath())
            Output.note("When the browser asks whether it may open authd, let it.")
        }
        if let fingerprint = step.certificateSHA256 {
            printWarning(fingerprint: Visible.line(fingerprint), on: .of(STDERR_FILENO))
        }
        let isOpened = WebBrowser.isHere && WebBrowser.open(url)
        let words = isOpened ? "Your browser was opened. If it shows nothing, open this" : "Open this in a browser"
        Output.note(Visible.line("\(words): \(url)"))
        guard step.fields != nil else { return }
        Output.note(
            "Sign in there. Then copy the browser's address, even if its last page is an error, and paste it here. It is not "
                + "shown.")
    }

    /// On a terminal, the fingerprint has so many bytes a line that it can be compared with what the browser shows.
    private func printWarning(fingerprint: String, on screen: Screen) {
        let text =
            "The browser will warn about the page at the end: authd created its certificate for this sign-in. "
            + "Continue if its SHA-256 is:"
        guard screen.isTerminal else { return Output.note("\(text) \(fingerprint)") }
        Output.note(text)
        let bytes = fingerprint.split(separator: ":")
        let count = screen.width >= 50 ? 16 : 8
        for start in stride(from: 0, to: bytes.count, by: count) {
            Output.note("  " + bytes[start...].prefix(count).joined(separator: ":"))
        }
    }

    /// If another code is requested too soon, asks the same question again.
    private func send(_ request: any AgentMethod<Step>, _ step: Step, _ prompter: Prompter) throws(Failure) -> Step {
        do throws(Failure) {
            return try ask(request)
        } catch {
            guard request is LoginResend, error.agentError?.kind == .rateLimited else { throw error }
            var next = step
            next.message = error.message
            next.error = nil
            return next
        }
    }

    /// - Returns: `nil` when the agent ended its own wait before the deadline.
    private func wait(_ login: String, until deadline: Deadline) throws(Failure) -> Step? {
        let params = LoginParams(login: login)
        let limit = options.timeout.map { Deadline.after($0) } ?? .never
        while true {
            do throws(Failure) {
                return try agent.call(LoginWait(params), watching: signals, until: min(deadline, limit))
            } catch {
                if let timeout = options.timeout, limit.hasPassed, error.kind == ErrorKind.timeout.rawValue {
                    throw Failure(
                        status: .temporary, kind: ErrorKind.timeout.rawValue,
                        message: "the sign-in did not end within \(Span.text(timeout)) and was cancelled",
                        hint: "try again, or set a longer --timeout")
                }
                // The terminal has shown ^C, without a line break.
                if error.isSilent, signals.caught == SIGINT, Screen.of(STDERR_FILENO).isTerminal {
                    Output.note("\nThe sign-in was cancelled.")
                }
                guard error.agentError?.kind == .timeout, !deadline.hasPassed else { throw error }
            }
        }
    }

    private func report(_ step: Step) throws(Failure) {
        for line in (step.message ?? "").split(separator: "\n") { Output.note(Visible.line(String(line))) }
        guard let status = step.status else {
            if options.json { return try Output.json(MessageResult(message: step.message).json) }
            return step.message == nil ? Output.note("Done.") : ()
        }
        if options.json { return try Output.json(status.json) }
        try Output.result(StatusCard(status: status, now: WallClock.now, screen: .current).text)
        noteToken(status)
    }

    /// On a terminal, names the command that most users need next.
    private func noteToken(_ status: SessionStatus) {
        guard case .signIn = goal, status.state == .active, Screen.of(STDERR_FILENO).isTerminal else { return }
        Output.note("`\(CommandText.authc(["token", "-s", status.session.text]))` prints the token.")
    }
}

/// The desktop's handler for the redirect of a sign-in.
private final class SchemeRedirect {
    private var handler: SchemeHandler?

    func begin(scheme: String, socket: String) throws(Failure) {
        guard handler == nil else { return }
        handler = try SchemeHandler(scheme: scheme, socket: socket)
    }

    func end() {
        handler?.remove()
        handler = nil
    }
}
