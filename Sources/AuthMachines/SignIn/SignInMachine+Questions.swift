import AuthModel
import AuthWire

/// What the user is asked.
extension SignInMachine {
    /// Continues with what was given so far.
    mutating func proceed(message: String? = nil, _ turn: inout SignInTurn) {
        let next = form.next(at: turn.now, message: message)
        var user = UserSummary()
        user.email = form.email
        // Nothing is sent before the user has agreed.
        if let change = unapprovedChange(to: user) { return ask(about: change, &turn) }
        switch next {
        case .ask(let question):
            (form.hasAsked, form.steps.hasAsked) = (true, true)
            ask(question, &turn)
        case .sendChallenge: send(.challenge, &turn)
        case .authorize(let flow):
            stage = .authorizing(flow)
            guard plainAuthority.oauth?.registers == true, registration == nil else { return findServer(&turn) }
            turn.act(.register(refused: nil))
        case .finish:
            if let step = form.steps.step {
                form.steps.answersSent()
                return send(.step(step.index), &turn)
            }
            if form.method.key != nil { return send(.check, &turn) }
            if purpose.signsIn { return send(form.method.first == nil ? .own : .first, &turn) }
            stage = .acting
            turn.act(purpose == .password(.requestReset) ? .requestReset : .changePassword)
        }
    }

    /// Reports the answers that break a rule. The question stays.
    mutating func check(_ answers: [String: String], for caller: CallerID, _ turn: inout SignInTurn) {
        do throws(AgentError) {
            switch stage {
            case .asking: break
            case .ended: throw .unknownLogin
            default: throw .asksForNothing
            }
            let (fields, words) = accountChange == nil ? try form.check(answers, at: turn.now) : ([], nil)
            lastTouched = turn.now.boot
            turn.reply(.success(Step(login: id, kind: .fields, fields: fields, message: words)), to: caller)
        } catch {
            turn.reply(.failure(error), to: caller)
        }
    }

    func unapprovedChange(to user: UserSummary?, mustBeKnown: Bool = false) -> AccountChange? {
        guard purpose.signsIn, !mayReplaceAccount else { return nil }
        return AccountChange(
            of: session, from: former, to: user, at: form.environment, mustBeKnown: mustBeKnown)
    }

    mutating func ask(about change: AccountChange, _ turn: inout SignInTurn) {
        accountChange = change
        ask(SignInQuestion(fields: [AccountChange.field], message: change.message), &turn)
    }

    mutating func askForAddress(message: String? = nil, _ turn: inout SignInTurn) {
        let limit = attempt?.pushedLifetime.map { lifetime in
            "Open this address within \(Int(lifetime.seconds)) seconds. Then it expires."
        }
        ask(SignInQuestion(fields: [OAuthField.address], message: message ?? limit, url: attempt?.url), &turn)
    }

    mutating func ask(_ question: SignInQuestion, _ turn: inout SignInTurn) {
        lastTouched = turn.now.boot
        stage = .asking(question)
        reply(step(for: question, at: turn.now), &turn)
    }

    mutating func send(_ part: SignInPart, _ turn: inout SignInTurn) {
        let part = form.steps.next(for: part, of: form.method)
        do throws(AgentError) {
            try form.steps.countRequest(at: form.profile.title)
            try form.profile.checkCaptures(for: part, of: form.method, form.values)
        } catch {
            return failed(error, &turn)
        }
        stage = .requesting(part)
        turn.act(.request(part))
    }

    /// The session's provider has answered, or could not be asked.
    mutating func responded(
        _ result: Result<SignInResponse, ProviderFailure>, to part: SignInPart, sentAt: Moment,
        _ turn: inout SignInTurn
    ) throws(AgentError) {
        if case .polling(let index, var timer, _) = stage, case .failure(.temporary(_, let retryAfter)) = result {
            try timer.failed(at: turn.now.boot, retryAfter: retryAfter)
            return stage = .polling(index, timer, isAsking: false)
        }
        let response = try result.mapError(\.error).get()
        form.steps.keep(response.captured)
        cookies = response.cookies
        if let step = response.step { return try enter(step, &turn) }
        if let grant = response.grant {
            held = (grant, sentAt)
            // Without a user nothing would show that the account is another one.
            let canFetch = former?.user != nil || form.profile.userRequest != nil
            return examine(fetchesUser: grant.user == nil && canFetch, &turn)
        }
        switch part {
        case .before:
            form.steps.beforeAnswered()
            send(form.steps.target, &turn)
        case .challenge:
            form.challengeSent(at: turn.now)
            proceed(message: response.message, &turn)
        default: send(.own, &turn)
        }
    }

    /// A response asks for a step.
    private mutating func enter(_ requested: RequestedStep, _ turn: inout SignInTurn) throws(AgentError) {
        if case .polling(let index, var timer, _) = stage, index == requested.index {
            try timer.pending(at: turn.now.boot)
            return stage = .polling(index, timer, isAsking: false)
        }
        try form.steps.enter(requested, at: form.profile.title)
        guard let poll = form.method.next[requested.index].poll else { return proceed(&turn) }
        try form.profile.checkCaptures(for: .step(requested.index), of: form.method, form.values)
        stage = .polling(requested.index, StepPollTimer(poll, from: turn.now.boot), isAsking: false)
        replyAway(&turn)
    }

    // MARK: Steps for callers

    func step(for question: SignInQuestion, at now: Moment) -> Step {
        // The challenge that the answers depend on.
        let sent = accountChange == nil && form.steps.step == nil ? form.sent : nil
        return Step(
            login: id, kind: question.kind, fields: question.lend == nil ? question.fields : nil,
            message: question.message, sentTo: sent?.place,
            expiresAt: sent?.endsAt.map { now.date(of: $0).unixSeconds },
            resendAt: sent.map { now.date(of: $0.againAt).unixSeconds }, url: question.url, lend: question.lend,
            error: question.error)
    }

    /// `nil` if the user is not elsewhere.
    func stepAway(at now: Moment) -> Step? {
        switch stage {
        case .inBrowser(let authorization, let end):
            var step = Step(
                login: id, kind: .browser, expiresAt: now.date(of: end).unixSeconds, url: authorization.attempt.url,
                certificateSHA256: authorization.fingerprint)
            // The client has the desktop pass addresses of this scheme to the agent meanwhile.
            if case .scheme(let redirect) = authority.oauth?.redirect { step.redirectScheme = redirect.scheme }
            return step
        case .atDevice(let device, let poll, _):
            return Step(
                login: id, kind: .device, expiresAt: now.date(of: poll.endsAt).unixSeconds,
                verificationURI: device.verificationURI, verificationURIComplete: device.completeURI,
                userCode: device.userCode)
        case .polling(_, let timer, _):
            return Step(
                login: id, kind: .wait, message: form.steps.step?.message,
                expiresAt: now.date(of: timer.endsAt).unixSeconds)
        case .offline(_, _, let end):
            let what = purpose.signsIn ? "The sign-in" : "The request"
            return Step(
                login: id, kind: .wait, message: "There is no network. \(what) continues when there is one.",
                expiresAt: now.date(of: end).unixSeconds)
        default: return nil
        }
    }
}
