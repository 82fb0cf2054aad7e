import AuthWire

/// Keys: the access token is made of the answers, and checked with a request.
extension ProviderProfile {
    /// A key must fit into a header; servers accept headers of 8 to 64 KiB.
    private static let longestKey = 32 << 10

    /// This profile for the requests of a session. A session that was signed in with a key is not renewed.
    package func serving(_ record: SessionRecord) -> ProviderProfile {
        var profile = known(as: record.client)
        if signIn.contains(where: { $0.name == record.method && $0.key != nil }) {
            profile.renewal = Renewal(kind: .none)
        }
        return profile
    }

    /// The request that shows whether the provider accepts a key. One for the user shows whose it is, too.
    package func check(of key: SignInKey) -> RequestTemplate? {
        let known = [TemplateValues.Name.accessToken, TemplateValues.Name.environment]
        let candidates = [userRequest?.request, validation].compactMap(\.self)
        return key.check ?? candidates.first { $0.placeholders.allSatisfy(known.contains) }
    }

    /// - Throws: ``ErrorKind/validation`` if the answers cannot be a token.
    func token(of key: SignInKey, _ values: TemplateValues) throws(AgentError) -> Secret {
        guard let text = key.token.fill(values), HeaderRules.isValue(text), text.utf8.count <= Self.longestKey else {
            throw AgentError(
                .validation,
                "This cannot be a key of \(title): it has a line break or another control character, or is longer than "
                    + "\(Self.longestKey >> 10) KiB. Nothing was sent.")
        }
        return Secret(text)
    }

    /// The response to the check.
    func readCheck(
        _ reply: HTTPResponse, of key: SignInKey, _ method: SignInMethod, _ given: SignInValues, sentAt: WallTime
    ) throws(ProviderFailure) -> Grant {
        var map = self.reply.overridden(by: method.reply)
        (map.accessToken, map.refreshToken) = (nil, nil)
        var grant = try decode(reply, .signIn, sentAt, map, needsToken: false)
        guard let token = try? token(of: key, TemplateValues(given, method: method)) else { return grant }
        grant.accessToken = token
        if map.expiresFromJWT, grant.expiresAt == nil {
            grant.expiresAt = JWTClaims.expiry(of: token).map { $0 + (.zero - reply.skew) }
        }
        if key.check == nil, check(of: key) == userRequest?.request, let user = try? readUser(reply) {
            (grant.rawUser, grant.user) = (user.raw, user.summary)
        }
        return grant
    }
}
