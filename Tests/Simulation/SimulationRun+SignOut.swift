import AuthMachines
import AuthModel
import AuthWire

/// Sign-outs, and the revocations at the provider.
extension SimulationRun {
    /// As ``SessionRegistry`` does it: marked on disk, ended here, then revoked at the provider.
    func signOut(_ session: Int, revokes: Bool) {
        guard let seat = seats[session] else { return }
        if !seat.signOutAsked { signOuts[session] = seat.machine.record.signIn }
        seat.signOutAsked = true
        let caller = wait(session)
        // Another agent may have newer tokens: that ends with its own session, and revokes nothing.
        if revokes, setting.agents == 1 {
            for tokens in [seat.machine.record.tokens, seat.newest?.tokens].compactMap(\.self)
            where provider.account(of: tokens) == seat.account {
                signedOut[seat.account, default: SignedOut()].add(tokens)
            }
            // Those that programs have.
            signedOut[seat.account]?.accessTokens.formUnion(seat.targetedTokens.values)
        }
        if revokes { seat.revokers.insert(caller) }
        handle(session, .signOutRequested(caller, revokes: revokes))
    }

    /// Revokes all that the agent had, once the sign-out is answered.
    func reportSignOut(_ session: Int) {
        guard let seat = seats[session] else { return }
        let targeted = fault == .keepsTargetedTokens ? [] : seat.machine.signedOutTargets
        for record in seat.machine.signedOutTokens + targeted { revoke(record.tokens, session, pauses: []) }
    }

    /// Revokes what came after a sign-out, more than once if it fails, as ``Session`` does.
    func revokeLate(_ record: SessionRecord, _ session: Int) {
        revoke(record.tokens, session, pauses: [1, 5, 30, 120].map { .seconds($0) })
    }

    private func revoke(_ tokens: TokenSet, _ session: Int, pauses: [Duration]) {
        guard let account = provider.account(of: tokens) else { return }
        let number = nextNumber()
        revocations[number] = Revocation(
            session: session, account: account, tokens: tokens, isLate: !pauses.isEmpty, pauses: pauses)
        queue.add(.revocationArrives(number), at: now + random.duration(in: setting.answerTime) / 2)
    }

    func revocationArrives(_ number: Int) {
        guard var revocation = revocations[number] else { return }
        let (isCarriedOut, isAnswered) = fateOfRevocation
        if isCarriedOut {
            note("  the provider revokes \(revocation.tokens.accessToken.reveal())")
            provider.revoke(revocation.tokens, at: now)
            if !revocation.isLate { signedOut[revocation.account]?.hasReached = true }
        }
        if !isAnswered, !revocation.pauses.isEmpty {
            queue.add(.revocationArrives(number), at: now + revocation.pauses.removeFirst())
            revocations[number] = revocation
            return
        }
        revocations[number] = nil
        // The user gets an error, or no caller is left.
        if !isCarriedOut { signedOut[revocation.account]?.isExcused = true }
        checkSignedOut(revocation.account)
    }

    private var fateOfRevocation: (isCarriedOut: Bool, isAnswered: Bool) {
        guard network != .offline, network != .portal else { return (false, false) }
        return switch provider.behaviour {
        case .well, .states, .slow: (true, true)
        case .losesAnswers, .garbage, .silent(carriesOut: true): (true, false)
        case .down, .silent(carriesOut: false), .html, .fails, .limits, .refuses: (false, false)
        }
    }

    /// An answer that arrives at an agent which has forgotten the session.
    func finishLate(_ request: Request, _ result: Result<Grant, ProviderFailure>) {
        guard let seat = request.seat, isAlive(seat, request.session) else { return }
        let turn = seat.machine.handle(
            .requestEnded(request.currentRequest, result, sentAt: request.sentAt), at: moment)
        for action in (fault?.changed(turn, for: seat) ?? turn).actions {
            guard case .revoke(let record) = action else {
                report(.generation, "a session that is gone wants: \(action.words)")
                return
            }
            revokeLate(record, request.session)
        }
    }

    /// Whether the process of the session still runs.
    func isAlive(_ seat: SimulatedSession, _ session: Int) -> Bool {
        isRunning(session) && seat.process == process(of: session)
    }

    /// What the provider has given after the sign-out has reached the agent, and must be revoked too.
    func noteDelivered(_ grant: Grant, _ account: Int) {
        guard signedOut[account] != nil else { return }
        if let token = grant.accessToken { signedOut[account]?.accessTokens.insert(token.reveal()) }
        if let token = grant.refreshToken { signedOut[account]?.refreshTokens.insert(token.reveal()) }
    }

    // MARK: Rule 24

    /// What is live at the provider of a sign-out that reached it, once nothing more is on its way.
    func checkSignedOut(_ account: Int) {
        guard let signedOut = signedOut[account], signedOut.hasReached, !signedOut.isExcused,
            !revocations.values.contains(where: { $0.account == account }),
            !requests.values.contains(where: { $0.account == account })
        else { return }
        let live =
            signedOut.accessTokens.filter { provider.isLive(access: $0, at: now) }
            + signedOut.refreshTokens.filter { provider.isLive(refresh: $0, at: now) }
        if !live.isEmpty { report(.revoked, "live after the sign-out: \(live.sorted().joined(separator: ", "))") }
    }
}

extension SignedOut {
    fileprivate mutating func add(_ tokens: TokenSet) {
        accessTokens.insert(tokens.accessToken.reveal())
        if let token = tokens.refreshToken { refreshTokens.insert(token.reveal()) }
    }
}
