import AuthWire

/// What the agent's own words about itself say of its health. Values in, findings out.
enum DoctorChecks {
    static func agent(_ info: AgentInfo) -> Finding {
        let who = "authd \(info.version), process \(info.pid)"
        let restart = "`systemctl --user restart authd`"
        guard info.protocolVersion == Release.protocolNumber else {
            return .problem(
                .agent, .internalError,
                "\(who) speaks protocol \(info.protocolVersion), and this authc \(Release.protocolNumber)",
                hint: "install both from one release, then \(restart)")
        }
        guard info.version == Release.version else {
            return .warning(
                .agent, "\(who), and authc \(Release.version)",
                hint: "an update takes effect when the agent is started again: \(restart)")
        }
        return .ok(.agent, who)
    }

    /// - Parameter changes: what a reload would change.
    static func settings(_ changes: MessageResult) -> Finding {
        guard let message = changes.message, message != MessageResult.unchanged else {
            return .ok(.settings, "settings and profiles are as authd has them")
        }
        return .note(.settings, "changed since authd read them: \(message)", hint: "`authc reload` takes that over")
    }

    static func settings(broken error: AgentError) -> Finding {
        .problem(
            .settings, .badSettings, error.details.isEmpty ? error.message : error.details.joined(separator: "; "),
            hint: "mend it, then `authc reload`; authd goes on with what it read before, and may not start again")
    }

    static func store(_ store: StoreInfo) -> Finding {
        let name = StatusCard.spaced(store.kind.rawValue)
        let who = store.process.map { " (\($0.name.map { $0 + ", " } ?? "")process \($0.pid))" } ?? ""
        func problem(_ words: String, _ hint: String) -> Finding {
            .problem(
                .store, .keyring, [words + who, store.message].compactMap(\.self).joined(separator: ": "), hint: hint)
        }
        let isSealed = store.kind == .sealedFile
        switch store.state {
        case .ready where store.kind == .memory:
            return .note(.store, "memory, as it was started: sessions end with the agent")
        case .ready:
            guard let message = store.message else { return .ok(.store, "\(name) is open\(who)") }
            return .warning(
                .store, message,
                hint: isSealed
                    ? "`authc login PROVIDER`"
                    : "`authc login PROVIDER`, or remove the item in the keyring's own program")
        case .starting:
            return .note(.store, "\(name) has not answered yet", hint: "ask again in some seconds")
        case .locked where isSealed: return problem("\(name) is locked", "`authc unlock` asks for its passphrase")
        case .failed where isSealed:
            return problem("\(name) failed", "once that is mended authd goes on by itself, within minutes")
        case .notAnswering where isSealed:
            return problem("\(name) does not answer", "is its disk reachable? authd goes on by itself")
        // The state of a keyring whose request to be unlocked was dismissed is a refusal without a reason.
        case .locked,
            .denied where store.message == nil:
            return problem(
                "\(name) is locked",
                "open it in the keyring's own program (Passwords and Keys, KWalletManager); authd goes on by itself")
        case .waiting:
            return problem(
                "\(name) is asking you something", "answer its dialog on the desktop; authd goes on by itself")
        case .missing:
            return problem("there is no \(name)", Failure.noKeyringHint)
        case .denied:
            return problem("\(name) refuses", "allow authd in the keyring's own settings, then `authc doctor` again")
        case .failed:
            return problem("\(name) failed", "start the keyring again; authd asks it ever more seldom until it answers")
        case .notAnswering:
            return problem("\(name) does not answer", "start the keyring again; authd goes on by itself")
        }
    }

    static func network(_ network: NetworkStatus) -> Finding {
        switch network.state {
        case .online: .ok(.network, "online")
        case .limited:
            .warning(
                .network, "limited: no way out to all of the Internet is known",
                hint: "`ip route` shows whether there is a default route; providers that answer are used all the same")
        case .portal:
            .problem(
                .network, .temporary, "a sign-in page of the network is in the way",
                hint: "open any http:// page in a browser and sign in to the network; authd goes on by itself")
        case .offline:
            .problem(
                .network, .temporary, "offline: no link leads out of this machine",
                hint: "connect it; authd goes on by itself")
        }
    }

    /// How each provider with a session was reached last. What the network keeps from all of them is told there.
    static func providers(_ network: NetworkStatus) -> [Finding] {
        let known = network.providers.sorted { $0.key < $1.key }
        let reached = known.filter { $0.value == NetworkStatus.reachable }.map(\.key)
        let others = known.filter { $0.value != NetworkStatus.reachable && !isNetworkProblem(network, $0.value) }
        return (reached.isEmpty ? [] : [.ok(.providers, "reached: " + reached.joined(separator: ", "))])
            + others.map { provider, kind in
                .problem(
                    .providers, .temporary, "\(provider): \(StatusCard.spaced(kind))",
                    hint: "does it need a VPN or a proxy (authd.toml, [http])? It is tried again by itself")
            }
    }

    private static func isNetworkProblem(_ network: NetworkStatus, _ kind: String) -> Bool {
        network.state == .offline || network.state == .portal && kind == ErrorKind.captivePortal.rawValue
    }

    static func clock(_ network: NetworkStatus) -> [Finding] {
        let skews = network.clockSkews.sorted { $0.key < $1.key }
        guard skews.isEmpty else {
            return skews.map { provider, skew in
                .warning(
                    .clock, StatusCard.skewText(skew, of: provider),
                    hint: "\(StatusCard.skewHint); tokens live as long as they do all the same")
            }
        }
        guard network.providers.values.contains(NetworkStatus.reachable) else {
            return [.note(.clock, "no provider has told the time yet")]
        }
        return [.ok(.clock, "within a minute of every provider's")]
    }

    static func sessions(_ sessions: [SessionStatus]) -> [Finding] {
        let findings = sessions.compactMap(session)
        let active = sessions.filter { $0.state == .active }.map(\.session.text)
        if sessions.isEmpty { return [.note(.sessions, "nobody is signed in", hint: "`authc login PROVIDER`")] }
        return (active.isEmpty ? [] : [.ok(.sessions, "active: " + active.joined(separator: ", "))]) + findings
    }

    private static func session(_ status: SessionStatus) -> Finding? {
        let name = status.session.text
        let words = "\(name): \(StatusCard.stateText(status))"
        switch status.state {
        case .signInRequired:
            return .problem(
                .sessions, .notSignedIn, words, hint: "`authc login \(status.provider) -s \(name)`")
        case .stale:
            return .problem(
                .sessions, .temporary, words, hint: status.message ?? status.lastError ?? "it is tried again by itself")
        case .keyringLocked:
            let isSealed = status.store == .sealedFile
            return .problem(
                .sessions, .keyring, words,
                hint: isSealed ? "`authc unlock`" : "unlock the keyring; authd goes on by itself")
        case .signedOut, .signingIn: return .note(.sessions, words)
        case .active where status.unsaved:
            return .warning(
                .sessions, "\(name): its newest tokens are in memory only",
                hint: "\(status.storeError ?? "the store does not take them now"); they are written as soon as it does")
        case .active:
            return status.lastError.map {
                .warning(
                    .sessions, "\(name): the last renewal failed: \($0)",
                    hint: "the token is good meanwhile; it is tried again by itself")
            }
        }
    }
}
