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
            form.hasAsked = true
            ask(question, &turn)
        case .sendChallenge: send(.challenge, &turn)
        case .authorize(let flow):
            stage = .authorizing(flow)
            guard plainAuthority.oauth?.registers == true, registration == nil else { return findServer(&turn) }
            turn.act(.register(refused: nil))
        case .finish:
            if form.method.key != nil { return send(.check, &turn) }
            if purpose.signsIn { return send(form.method.first == nil ? .own : .first, &turn) }
            stage = .acting
            turn.act(purpose == .password(.requestReset) ? .requestReset : .changePassword)
        }
    }

    func unapprovedChange(to user: UserSummary?) -> AccountChange? {
        guard purpose.signsIn, !mayReplaceAccount else { return nil }
        return AccountChange(of: session, from: former, to: user, at: form.environment)
    }

    mutating func ask(about change: AccountChange, _ turn: inout SignInTurn) {
        accountChange = change
        ask(SignInQuestion(fields: [AccountChange.field], message: change.message), &turn)
    }

    mutating func askForAddress(message: String? = nil, _ turn: inout SignInTurn) {
        ask(SignInQuestion(fields: [OAuthField.address], message: message, url: attempt?.url), &turn)
    }

    mutating func ask(_ question: SignInQuestion, _ turn: inout SignInTurn) {
        lastTouched = turn.now.boot
        stage = .asking(question)
        reply(step(for: question, at: turn.now), &turn)
    }

    mutating func send(_ part: SignInPart, _ turn: inout SignInTurn) {
        stage = .requesting(part)
        turn.act(.request(part))
    }

    /// The session's provider has answered.
    mutating func responded(
        _ response: SignInResponse, to part: SignInPart, sentAt: Moment, _ turn: inout SignInTurn
    ) {
        if let grant = response.grant {
            held = (grant, sentAt)
            // Without a user nothing would show that the account is another one.
            let canFetch = former?.user != nil || form.profile.userRequest != nil
            return examine(fetchesUser: grant.user == nil && canFetch, &turn)
        }
        guard part == .challenge else { return send(.own, &turn) }
        form.challengeSent(at: turn.now)
        proceed(message: response.message, &turn)
    }
}
