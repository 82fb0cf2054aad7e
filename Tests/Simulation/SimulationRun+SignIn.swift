import AuthMachines
import AuthModel
import AuthWire

/// Sign-ins: a request takes its time, and what it brings lands beside whatever happens then.
extension SimulationRun {
    /// A request to sign in, as it leaves the agent.
    func beginSignIn(_ session: Int) {
        calls[session].requested(at: now)
        let number = nextNumber()
        signIns[number] = SignInRequest(
            session: session, sentAt: moment, sent: now, process: process(of: session))
        queue.add(.signInReaches(number), at: now + random.duration(in: setting.answerTime) / 2)
    }

    func signInReaches(_ number: Int) {
        guard let request = signIns[number] else { return }
        var delay = random.duration(in: setting.answerTime) / 2
        var isAnswered = true
        switch provider.behaviour {
        case .well, .states: break
        case .slow(let time): delay = time
        case .losesAnswers, .garbage, .silent(carriesOut: true): isAnswered = false
        case .down, .silent(carriesOut: false), .html, .fails, .limits, .refuses:
            signIns[number] = nil
            return
        }
        guard network != .offline, network != .portal else {
            signIns[number] = nil
            return
        }
        let (account, tokens) = provider.signIn(
            key(request.session), life: setting.life, at: request.sent, wall: request.sentAt.wall)
        guard isAnswered else {
            signIns[number] = nil
            return
        }
        signIns[number]?.account = account
        signIns[number]?.tokens = tokens
        queue.add(.signInAnswered(number), at: now + delay)
    }

    func signInAnswered(_ number: Int) {
        guard let request = signIns.removeValue(forKey: number), let account = request.account,
            let tokens = request.tokens, network != .offline, isRunning(request.session),
            process(of: request.session) == request.process
        else { return }
        note("· signed in to \(request.session)")
        lastFault = max(lastFault, now)
        install(account, tokens, in: request.session, sentAt: request.sentAt)
    }

    /// Signs in at once.
    func signIn(_ session: Int) {
        calls[session].requested(at: now)
        let (account, tokens) = provider.signIn(key(session), life: setting.life, at: now, wall: moment.wall)
        install(account, tokens, in: session, sentAt: moment)
    }

    /// A sign-in that has succeeded, installed as ``SessionRegistry`` does it.
    private func install(_ account: Int, _ tokens: TokenSet, in session: Int, sentAt: Moment) {
        let means = renewable ? setting.means : .none
        let record = SessionRecord(
            session: Self.names[key(session)], provider: "example", environment: "production", method: "password",
            tokens: tokens, user: UserSummary(id: "0"), rawUser: nil, signedInAt: moment.wall,
            signIn: SignInID("s\(account)"))
        if let seat = seats[session] {
            handle(session, .renewable(means))
            seat.begins(account: account)
            // The former request is given up. If the new token has ended on its way, callers wait for another one.
            if let end = tokens.expiresAt, end <= moment.wall { seat.callersWait(since: now) }
            seat.settled.insert(tokens.accessToken.reveal())
            handle(session, .replaced(record, sentAt: sentAt))
        } else {
            let machine = SessionMachine(
                signedIn: record, sentAt: sentAt, means: means, now: moment, seed: random.next())
            seats[session] = SimulatedSession(machine: machine, account: account, process: process(of: session))
            // A sign-in is in use before it is stored: there was none before it that could be lost.
            seats[session]?.settled.insert(tokens.accessToken.reveal())
            handle(session, .networkChanged(reportedNetwork))
            begin(session)
        }
        guard seats[session] != nil else { return }
        handle(session, .writeRequested(wait(session)))
    }
}
