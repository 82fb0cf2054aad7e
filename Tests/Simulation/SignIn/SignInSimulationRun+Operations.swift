import AuthMachines
import AuthModel
import AuthWire

/// What is done to the world.
extension SignInSimulationRun {
    func perform(_ operation: SignInOperation) {
        switch operation {
        case .start(let way, let account, let replaces): start(way, account: account, replaces: replaces)
        case .answer(let isRight): answer(isRight: isRight)
        case .agree(let isAgreed):
            guard asked == AccountQuestion.name else { return }
            if isAgreed { signIns[newest]?.hasAgreed = true }
            let former = status
            signIns[newest]?.requests = 0
            ask(newest) { .answered($0, [AccountQuestion.name: isAgreed ? "yes" : "no"], former: former) }
        case .resend:
            if signIns[newest]?.step?.kind == .fields { signIns[newest]?.requests = 0 }
            ask(newest) { .resendRequested($0) }
        case .join: join()
        case .leave: leave()
        case .cancel:
            // The client that cancels knows the sign-in from its first step.
            guard signIns[newest]?.step != nil else { return }
            ask(newest) { .cancelRequested($0) }
        case .browser(let visit): visitBrowser(visit)
        case .device(let isApproved):
            if signIns[newest]?.device == .pending { signIns[newest]?.device = isApproved ? .approved : .refused }
        case .provider(let behaviour): self.behaviour = behaviour
        case .store(let isWorking): isStoreWorking = isWorking
        case .sleep(let duration):
            now += duration
            queue.delay(until: now)
        case .crash(let down): end(down: down, isStopped: false)
        case .stop(let down): end(down: down, isStopped: true)
        }
    }

    /// As ``SignInService`` does it: one sign-in to the session at a time.
    private func start(_ way: SignInWay, account: Int, replaces: Bool) {
        guard isRunning else { return }
        for number in signIns.keys.sorted() where signIns[number]?.isInProgress == true {
            guard replaces else { return }
            ask(number) { .abandoned($0) }
            // It is about to be installed: the other one waits for that, and this user gives up.
            guard signIns[number]?.isInProgress == false else { return }
        }
        let number = nextNumber()
        guard let machine = try? SimulatedSignIns.machine(way, number: number, now: moment) else {
            return report(.signInEnd, "the machine refuses the profile for \(way)")
        }
        signIns[number] = SimulatedSignIn(machine: machine, way: way, account: account)
        newest = number
        let former = status
        let caller = CallerID(UInt64(nextNumber()))
        signIns[number]?.starter = caller
        signIns[number]?.waiting[caller] = now
        send(.begun(caller, former: former), to: number)
    }

    /// What the newest sign-in asks for first.
    private var asked: String? { signIns[newest]?.step?.fields?.first?.name }

    private func answer(isRight: Bool) {
        guard let signIn = signIns[newest], let fields = signIn.step?.fields, asked != AccountQuestion.name else {
            return
        }
        var answers: [String: String] = [:]
        for field in fields {
            switch field.name {
            case OAuthField.address.name:
                answers[field.name] = isRight ? signIn.attempt?.url.query(.code) ?? "" : "https://elsewhere.example/"
            case "code", "password", "key": answers[field.name] = isRight ? "right" : "wrong"
            case "tenant": answers[field.name] = isRight ? "2" : "3"
            default: answers[field.name] = isRight ? "x" : ""
            }
        }
        let former = status
        signIns[newest]?.requests = 0
        ask(newest) { .answered($0, answers, former: former) }
    }

    private func join() {
        ask(newest) { caller in
            signIns[newest]?.joined.insert(caller)
            return .stepRequested(caller)
        }
    }

    private func leave() {
        let waiting = signIns[newest]?.waiting.min { ($0.value, $0.key.number) < ($1.value, $1.key.number) }
        guard isRunning, let caller = waiting?.key else { return }
        signIns[newest]?.waiting[caller] = nil
        let isStarter = signIns[newest]?.starter == caller && signIns[newest]?.step == nil
        let wasInstalling = calls.values.contains { $0.signIn == newest && $0.action.isInstall }
        send(.callerGone(caller), to: newest)
        if isStarter, !wasInstalling, signIns[newest]?.isInProgress == true {
            report(.signInReplies, "sign-in \(newest) continues, and no caller knows it")
        }
    }

    private func visitBrowser(_ visit: BrowserVisit) {
        guard let signIn = signIns[newest], signIn.isListening, let attempt = signIn.attempt else { return }
        let query = attempt.url.query(visit)
        ask(newest) { .redirected($0, uri: nil, query: query) }
    }
}

extension String {
    /// What the browser brings back from this address.
    func query(_ visit: BrowserVisit) -> String {
        let state = split(separator: "&").first { $0.hasPrefix("state=") } ?? "state="
        return switch visit {
        case .code: "code=c&\(state)"
        case .refusal: "error=access_denied&\(state)"
        case .unrelated: "code=c&state=x"
        }
    }
}

extension SignInAction {
    var isInstall: Bool { if case .install = self { true } else { false } }
}

/// The question whether the session may be given to another account.
enum AccountQuestion {
    static let name = "replace_account"
}
