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
        case .send(let challenge): send(challenge, &turn)
        case .authorize(let flow):
            stage = .authorizing(flow)
            guard plainAuthority.oauth?.registers == true, registration == nil else { return findServer(&turn) }
            turn.act(.register(refused: nil))
        case .finish:
            stage = .requesting
            switch purpose {
            case .signIn, .password(.reset): turn.act(.signIn)
            case .password(.requestReset): turn.act(.requestReset)
            case .password(.set), .password(.change): turn.act(.changePassword)
            }
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

    mutating func send(_ challenge: Challenge, _ turn: inout SignInTurn) {
        stage = .sendingChallenge
        turn.act(.sendChallenge(challenge))
    }
}
