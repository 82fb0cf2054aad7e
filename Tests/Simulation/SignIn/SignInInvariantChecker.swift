import AuthMachines
import AuthModel
import AuthWire

/// Tokens that the provider has given, and what became of them.
struct WatchedGrant {
    let account: Int
    /// The process that they were requested by.
    let process: Int
    /// A key that the user has entered: nothing revokes it.
    var isKey = false
    /// A sign-in has them.
    var isDelivered = false
    /// The session has them, or is about to.
    var isInstalled = false
    var isRevoked = false
    /// The process ended, and could not revoke them.
    private(set) var isLost = false

    mutating func lost() { isLost = true }
}

// MARK: Checks at each step

extension SignInSimulationRun {
    /// The result of a request, before the machine handles it.
    func received(_ event: SignInEvent, by number: Int) {
        switch event {
        case .tokenReceived(.success(let grant), _): delivered(grant)
        case .responded(_, .success(let response), _, _): delivered(response.grant)
        case .installed(.success): signIns[number]?.hasInstalled = true
        default: break
        }
    }

    private func delivered(_ grant: Grant?) {
        guard let token = grant?.accessToken?.reveal() else { return }
        grants[token]?.isDelivered = true
    }

    func checkAction(_ action: SignInAction, of number: Int) {
        guard let signIn = signIns[number] else { return }
        switch action {
        case .end:
            if signIn.ends > 0 { report(.signInEnd, "sign-in \(number) ends a second time") }
            signIn.ends += 1
        case .install(let record, _, _):
            let token = record.tokens.accessToken.reveal()
            guard let grant = grants[token] else { return report(.signInInstall, "\(token) was never given") }
            if signIn.ends > 0 { report(.signInInstall, "\(token) is installed after the end of sign-in \(number)") }
            if grant.isInstalled { report(.signInInstall, "\(token) is installed twice") }
            if grant.isRevoked { report(.signInTokens, "\(token) is installed, and was revoked") }
            // If the provider does not say whose tokens they are, the user cannot be asked.
            if let account, let user = record.user, user.id != "\(account)", !signIn.hasAgreed {
                report(.signInAccount, "account \(grant.account) replaces \(account), and the user has not agreed")
            }
            grants[token]?.isInstalled = true
        case .revoke(let record):
            let token = record.tokens.accessToken.reveal()
            if grants[token]?.isInstalled == true { report(.signInTokens, "\(token) is revoked, and installed") }
            if grants[token]?.isKey == true { report(.signInTokens, "\(token) is the user's own key, and revoked") }
            // The request is sent at once, or the process ends.
            grants[token]?.isRevoked = true
            coverage.revoked += 1
        case .showPlaceholder, .removePlaceholder, .stopListening: break
        case .register, .forgetRegistration, .findServer, .prepareBrowser, .listen, .beginDevice,
            .requestToken, .request, .awaitNetwork, .examine, .requestReset, .changePassword:
            if signIn.ends > 0 { report(.signInEnd, "sign-in \(number) has ended, and begins: \(action.words)") }
        }
        if case .request(let part) = action { checkRequest(part, of: number) }
    }

    private func checkRequest(_ part: SignInPart, of number: Int) {
        guard let signIn = signIns[number] else { return }
        if calls.values.contains(where: { $0.signIn == number && $0.process == process && $0.action.isRequest }) {
            report(.signInRequests, "sign-in \(number) has two requests in progress")
        }
        if case .step = part, signIn.way == .link {
            if let from = signIn.pollsFrom, now < from { report(.signInRequests, "sign-in \(number) polls too soon") }
            return
        }
        signIn.requests += 1
        if signIn.requests > 10 { report(.signInRequests, "sign-in \(number) sends more than ten requests in a row") }
    }

    func deliver(_ reply: SignInReply, to caller: CallerID, of number: Int) {
        guard let signIn = signIns[number] else { return }
        guard signIn.waiting.removeValue(forKey: caller) != nil else {
            return report(.signInReplies, "caller \(caller.number) gets a reply, and does not wait for one")
        }
        guard case .success(let step) = reply else {
            if signIn.joined.contains(caller) {
                report(.signInReplies, "caller \(caller.number) asks for a step of sign-in \(number), and gets none")
            }
            return
        }
        note("    ⇠ \(caller.number): \(step.kind.rawValue)\(step.error.map { " (\($0.message))" } ?? "")")
        let last = signIn.step?.kind
        if let last, last == .done || last == .failed, last != step.kind {
            report(.signInEnd, "sign-in \(number) ends as \(last) and as \(step.kind)")
        }
        signIn.step = step
        guard step.kind == .done || step.kind == .failed else { return }
        if step.kind == .done, !signIn.hasInstalled {
            report(.signInInstall, "sign-in \(number) has succeeded, and its tokens are not installed")
        }
        if signIn.isInProgress { report(.signInEnd, "sign-in \(number) is reported as over, and continues") }
        if last != step.kind {
            coverage.ends[step.error?.kind?.rawValue ?? step.kind.rawValue, default: 0] += 1
        }
    }

    /// A caller waits as long as the user is away, or a request may take.
    func checkCallers() {
        for (number, signIn) in signIns {
            if !signIn.isInProgress {
                if let caller = signIn.waiting.first {
                    report(.signInReplies, "sign-in \(number) is over, and caller \(caller.key.number) waits")
                }
                checkLeftovers(of: number, signIn)
            }
        }
    }

    private func checkLeftovers(of number: Int, _ signIn: SimulatedSignIn) {
        if signIn.hasPlaceholder { report(.signInLeftovers, "the placeholder of sign-in \(number) is still there") }
        // What is being bound is closed when that is done.
        let isBinding = calls.values.contains { $0.signIn == number && $0.action.binds }
        if signIn.isListening, !isBinding { report(.signInLeftovers, "sign-in \(number) is over, and still listens") }
    }

    // MARK: At the end

    func checkEnd() {
        guard violation == nil else { return }
        for (number, signIn) in signIns.sorted(by: { $0.key < $1.key }) {
            if signIn.isInProgress { report(.signInTimeout, "sign-in \(number) is still in progress") }
            if signIn.ends != 1 { report(.signInEnd, "sign-in \(number) has ended \(signIn.ends) times") }
        }
        for (token, grant) in grants.sorted(by: { $0.key < $1.key }) where grant.isDelivered && !grant.isLost {
            if !grant.isInstalled, !grant.isRevoked, !grant.isKey {
                report(.signInTokens, "\(token) is neither installed nor revoked")
            }
        }
    }
}

extension SignInAction {
    fileprivate var isRequest: Bool { if case .request = self { true } else { false } }

    fileprivate var binds: Bool {
        if case .prepareBrowser(_, listens: true) = self { true } else { false }
    }
}
