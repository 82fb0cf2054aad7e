import AuthMachines
import AuthModel
import AuthWire

/// The provider, its authorization server and the agent's store: what becomes of each request.
extension SignInSimulationRun {
    func reachProvider(_ number: Int) {
        guard let call = calls[number], call.process == process, let signIn = signIns[call.signIn] else { return }
        calls[number]?.result = result(of: call, for: signIn)
    }

    private func result(of call: SignInCall, for signIn: SimulatedSignIn) -> SignInEvent? {
        switch call.action {
        case .request(let part):
            let response = unless { () throws(AgentError) in try respond(to: part, of: signIn) }
            let isPoll = part == .step(0) && signIn.way == .link
            let failed = response.mapError { error -> ProviderFailure in
                behaviour == .down
                    ? .temporary(error, retryAfter: isPoll ? SimulatedSignIns.retryAfter : nil) : .refused(error)
            }
            if isPoll {
                signIns[call.signIn]?.pollsFrom =
                    now + (behaviour == .down ? SimulatedSignIns.retryAfter : SimulatedSignIns.pollInterval)
            }
            return .responded(part, failed, sentAt: call.sentAt, former: nil)
        case .register:
            return .registered(unless { () throws(AgentError) in try SimulatedSignIns.client(nextNumber()) })
        case .findServer: return .serverFound(unless { SimulatedSignIns.server }, proofKey: nil)
        case .prepareBrowser(_, let listens): return prepareBrowser(call.signIn, listens: listens)
        case .beginDevice:
            signIns[call.signIn]?.device = .pending
            return .deviceReady(
                unless(knowing: signIn) { () throws(AgentError) in try SimulatedSignIns.device() }, sentAt: call.sentAt)
        case .requestToken(let request): return .tokenReceived(token(request, for: signIn), sentAt: call.sentAt)
        case .examine(let record):
            let user = record.flatMap { grants[$0.tokens.accessToken.reveal()]?.account }
            guard behaviour != .down, let user else { return .examined(user: nil, origins: nil, former: nil) }
            let found: SignedInUser = (["sub": .string("\(user)")], UserSummary(id: "\(user)"))
            return .examined(user: found, origins: nil, former: nil)
        case .install(let record, _, _): return install(record)
        case .revoke, .requestReset, .changePassword, .showPlaceholder, .removePlaceholder, .forgetRegistration,
            .listen, .awaitNetwork, .stopListening, .end:
            return nil
        }
    }

    private func prepareBrowser(_ number: Int, listens: Bool) -> SignInEvent {
        // Bound before the server is asked for anything; the machine says when it is closed.
        if listens { signIns[number]?.isListening = true }
        return .authorizationReady(
            unless(knowing: signIns[number]) { () throws(AgentError) in
                guard let signIn = signIns[number] else { throw .providerRefuses }
                let attempt = try SimulatedSignIns.attempt(of: signIn.machine)
                signIns[number]?.attempt = attempt
                return BrowserAuthorization(attempt: attempt, listens: listens)
            })
    }

    private func token(_ request: SignInTokenRequest, for signIn: SimulatedSignIn) -> Result<Grant, ProviderFailure> {
        if case .deviceCode = request, behaviour != .down {
            switch signIn.device {
            case .pending: return .failure(.refused(AgentError(.validation, "wait", cause: "authorization_pending")))
            case .refused: return .failure(.refused(AgentError(.denied, "no", cause: "access_denied")))
            case .approved: break
            }
        }
        return unless(knowing: signIn) { () throws(AgentError) in try grant(for: signIn) }
            .mapError { .temporary($0, retryAfter: nil) }
    }

    private func respond(to part: SignInPart, of signIn: SimulatedSignIn) throws(AgentError) -> SignInResponse {
        var response = SignInResponse()
        switch (part, signIn.way) {
        case (.challenge, _): break
        case (.before, _): response.captured = captured("csrf")
        case (.own, .steps):
            if signIn.machine.form.fields["password"]?.reveal() == "wrong" { throw AgentError(.validation, "wrong") }
            response.step = SimulatedSignIns.requested(0)
            response.captured = captured("flow")
        case (.own, .link):
            response.step = SimulatedSignIns.requested(0)
            response.captured = captured("flow")
        case (.step(let index), .steps): try answer(step: index, of: signIn, &response)
        case (.step, .link):
            switch signIn.device {
            case .pending: response.step = SimulatedSignIns.requested(0)
            case .refused: throw AgentError(.refused, "no")
            case .approved: response.grant = try grant(for: signIn)
            }
        default: response.grant = try grant(for: signIn, isKey: part == .check)
        }
        return response
    }

    private func captured(_ name: String) -> [String: IssuedValue] {
        behaviour == .withholdsValues ? [:] : [name: IssuedValue(Secret("v\(nextNumber())"))]
    }

    private func answer(
        step index: Int, of signIn: SimulatedSignIn, _ response: inout SignInResponse
    ) throws(AgentError) {
        // Which one is asked for again depends on what it is: one has fields, the last one has none.
        if behaviour == .asksOn {
            response.step = SimulatedSignIns.requested(index == 0 ? 0 : 2)
            return
        }
        let values = signIn.machine.form.values.stepFields
        switch index {
        case 0:
            guard values["code"]?.text.reveal() == "right" else { throw AgentError(.validation, "wrong") }
            response.step = SimulatedSignIns.requested(1)
        case 1 where values["tenant"]?.text.reveal() == "2": response.step = SimulatedSignIns.requested(2)
        case 1: throw AgentError(.validation, "wrong")
        default: response.grant = try grant(for: signIn)
        }
    }

    /// A new grant, which must be installed or revoked from here on.
    private func grant(for signIn: SimulatedSignIn, isKey: Bool = false) throws(AgentError) -> Grant {
        let answers = ["password", "code", "key"].compactMap { signIn.machine.form.fields[$0]?.reveal() }
        guard !answers.contains("wrong") else { throw AgentError(.validation, "wrong") }
        let token = "t\(nextNumber())"
        grants[token] = WatchedGrant(account: signIn.account, process: process, isKey: isKey)
        coverage.grants += 1
        let user = behaviour == .withholdsUser ? nil : UserSummary(id: "\(signIn.account)")
        return Grant(accessToken: Secret(token), issuedAt: moment.wall, user: user)
    }

    private func install(_ record: SessionRecord) -> SignInEvent {
        let token = record.tokens.accessToken.reveal()
        account = grants[token]?.account
        coverage.installed += 1
        guard isStoreWorking else { return .installed(.failure(AgentError(.keyringUnavailable, "full"))) }
        guard let status else { return .installed(.failure(.providerRefuses)) }
        return .installed(.success(status))
    }

    /// What the request brings, unless the provider does something else.
    private func unless<Value>(
        knowing signIn: SimulatedSignIn? = nil, _ value: () throws(AgentError) -> Value
    ) -> Result<Value, AgentError> {
        switch behaviour {
        case .down: return .failure(AgentError(.providerUnreachable, "down"))
        case .refuses: return .failure(.providerRefuses)
        case .forgetsClients where signIn?.way == .registered:
            return .failure(AgentError(.refused, "unknown", cause: "invalid_client"))
        case .well, .slow, .withholdsUser, .forgetsClients, .asksOn, .withholdsValues:
            do throws(AgentError) {
                return .success(try value())
            } catch {
                return .failure(error)
            }
        }
    }
}

extension AgentError {
    static let providerRefuses = AgentError(.refused, "no")
}
