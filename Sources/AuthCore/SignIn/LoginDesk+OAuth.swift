internal import AuthWire

/// The part of a sign-in that happens at an authorization server.
extension LoginDesk {
    /// Begins a flow.
    /// - Returns: the sign-in as it goes on: with a grant, or with its person away.
    func authorize(_ login: Login, _ flow: OAuthFlow) async -> Result<Login, AgentError> {
        let sentAt = table.clock.now()
        let secret = login.fields[OAuthField.clientSecret]
        var login = login
        switch flow {
        case .service:
            let answer = await table.provider.token(
                of: login.profile, clientSecret: secret, purpose: .signIn, sentAt: sentAt
            ) { requests throws(AgentError) in try requests.clientCredentials() }
            return answer.mapError(\.error).map { grant in
                login.authorized(grant, at: table.clock.now())
                return login
            }
        case .device:
            let answer = await table.provider.beginDevice(at: login.profile, clientSecret: secret, sentAt: sentAt)
            return answer.mapError(\.error).map { device in
                login.sendAway(device, at: sentAt)
                let (id, profile) = (login.id, login.profile)
                work(for: id) { [table] in
                    guard let result = await table.poll(device, at: profile, secret, from: sentAt) else { return }
                    await self.came(id, result)
                }
                return login
            }
        }
    }

    /// The grant, with the user where the provider tells who that is. A failure there ends no sign-in: the user can be
    /// asked for later.
    func withUser(_ grant: Grant, _ login: Login) async -> Grant {
        guard grant.user == nil, login.method.flow != .service,
            let record = try? login.record(from: grant, former: nil, now: table.clock.now()),
            case .success(let user) = await table.provider.fetchUser(record, sentAt: table.clock.now())
        else { return grant }
        var grant = grant
        grant.user = user.summary
        grant.rawUser = user.raw
        return grant
    }

    /// A session is somebody's: another person needs another name for theirs (OpenID Connect Core 1.0 §5.7).
    func refuseStranger(_ grant: Grant, _ former: SessionStatus?, _ login: Login) throws(AgentError) {
        guard login.profile.oauth != nil, let known = former?.user, let knownID = known.id, let user = grant.user,
            let id = user.id, id != knownID
        else { return }
        throw AgentError(
            .conflict,
            "Session \(login.session) is that of \(known.words), and this was \(user.words): sign out of it first, or "
                + "choose another name.", cause: "other_user")
    }
}

extension SessionTable {
    /// Asks again and again whether the person has given the code.
    /// - Returns: `nil` when the sign-in was cancelled meanwhile.
    func poll(
        _ device: DeviceAuthorization, at profile: ProviderProfile, _ secret: Secret?, from start: Moment
    ) async -> Result<Grant, AgentError>? {
        var poll = DevicePoll(device, from: start.boot)
        while true {
            do {
                try await clock.sleep(until: poll.nextAt)
            } catch {
                return nil
            }
            let answer = await provider.token(
                of: profile, clientSecret: secret, purpose: .signIn, sentAt: clock.now()
            ) { requests throws(AgentError) in try requests.deviceToken(device) }
            switch poll.take(answer, at: clock.now().boot) {
            case .again: continue
            case .granted(let grant): return .success(grant)
            case .ended(let error): return .failure(error)
            }
        }
    }
}

extension UserSummary {
    fileprivate var words: String { email ?? name ?? id ?? "somebody" }
}
