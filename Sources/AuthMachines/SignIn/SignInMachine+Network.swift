import AuthModel
import AuthWire

/// What happens without a network, if the profile says to wait for one.
extension SignInMachine {
    /// The limit applies to the action as a whole, however often the network goes away.
    mutating func networkMissing(_ action: SignInAction, _ turn: inout SignInTurn) throws(AgentError) {
        // A request that is repeated anyway is simply tried again later.
        let missing = ProviderFailure.temporary(.offline, retryAfter: nil)
        switch (stage, action) {
        case (.polling, .request(let part)):
            return try responded(.failure(missing), to: part, sentAt: turn.now, &turn)
        case (.atDevice, .requestToken): return try tokenReceived(.failure(missing), turn.now, &turn)
        default: break
        }
        // It is reported to the callers.
        if offlineEnd == nil { lastAsked = turn.now.boot }
        let end = offlineEnd ?? turn.now.boot + longestOffline
        offlineEnd = end
        stage = .offline(action, from: stage, until: end)
        turn.act(.awaitNetwork(until: end))
        replyAway(&turn)
    }

    mutating func networkReturned(_ turn: inout SignInTurn) {
        guard case .offline(let action, let former, _) = stage else { return }
        stage = former
        turn.act(action)
    }

    /// The user is elsewhere: those that know it already wait for what comes after that.
    mutating func replyAway(_ turn: inout SignInTurn) {
        guard let step = stepAway(at: turn.now) else { return }
        if case .offline = stage {
            guard let asker else { return }
            turn.reply(.success(step), to: asker)
            (starter, self.asker, isAwayUnknown) = (nil, nil, true)
            return
        }
        // After the network was missing, it is what they wait for.
        let callers = [asker].compactMap(\.self) + (isAwayUnknown ? waiting : [])
        guard !callers.isEmpty else { return }
        for caller in callers { turn.reply(.success(step), to: caller) }
        if isAwayUnknown { waiting = [] }
        (starter, asker, isAwayUnknown) = (nil, nil, false)
    }
}

extension SignInEvent {
    var isAboutNetwork: Bool {
        switch self {
        case .networkMissing, .networkReturned: true
        default: false
        }
    }
}

extension SignInAction {
    /// Whether a provider is asked, and the user waits for the answer.
    package var needsNetwork: Bool {
        switch self {
        case .register, .findServer, .prepareBrowser, .beginDevice, .requestToken, .request, .requestReset,
            .changePassword:
            true
        case .showPlaceholder, .removePlaceholder, .forgetRegistration, .listen, .stopListening, .awaitNetwork,
            .examine, .install, .revoke, .end:
            false
        }
    }
}
