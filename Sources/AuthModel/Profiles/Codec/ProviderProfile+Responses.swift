package import AuthWire

extension ProviderProfile {
    /// - Returns: a grant with an access token.
    /// - Throws: why there is none; never ``ProviderFailure/final(_:)``.
    package func readSignIn(
        _ reply: HTTPResponse, method: SignInMethod, sentAt: WallTime
    ) throws(ProviderFailure) -> Grant {
        try decode(reply, .signIn, sentAt, self.reply.overridden(by: method.reply), isSignIn: true)
    }

    /// For a response with nothing but a message to the user.
    package func readMessage(_ reply: HTTPResponse, sentAt: WallTime) throws(ProviderFailure) -> String? {
        try decode(reply, .account, sentAt, ResponseMap(), needsToken: false).message
    }

    /// - Returns: the changed user; `nil` if the response does not contain it.
    package func readUserUpdate(
        _ reply: HTTPResponse
    ) throws(ProviderFailure) -> (raw: JSON, summary: UserSummary)? {
        try user(in: reply, at: self.userUpdate?.user ?? [], purpose: .account)
    }

    /// - Returns: what is new.
    /// - Throws: ``ProviderFailure/final(_:)`` only for the profile's own final status or code; every other failure is
    ///   temporary.
    package func readRenewal(
        _ reply: HTTPResponse, record: SessionRecord, sentAt: WallTime
    ) throws(ProviderFailure) -> Grant {
        let map = self.reply.withoutSuccess.overridden(by: renewal.reply)
        let grant = try decode(reply, .renewal, sentAt, map, needsToken: renewal.kind != .validate)
        return withoutSameToken(grant, record)
    }

    /// - Returns: what is new; no access token if the session keeps its own.
    /// - Throws: ``ProviderFailure/final(_:)`` for a 401 only if the validation is the renewal, or if nothing renews the
    ///   session.
    package func readValidation(
        _ reply: HTTPResponse, record: SessionRecord, sentAt: WallTime
    ) throws(ProviderFailure) -> Grant {
        let own = renewal.kind == .validate ? renewal.reply : nil
        let map = self.reply.withoutSuccess.overridden(by: own)
        return withoutSameToken(try decode(reply, .validation, sentAt, map, needsToken: false), record)
    }

    /// - Returns: the provider's own user object, and its common part.
    package func readUser(_ reply: HTTPResponse) throws(ProviderFailure) -> (raw: JSON, summary: UserSummary) {
        if let found = try user(in: reply, at: self.userRequest?.user ?? [], purpose: .user) { return found }
        let errors = ErrorDecoder(profile: self, purpose: .user, sentAt: nil)
        throw errors.badReply("it has no user", cause: "no_user", status: reply.status)
    }

    /// The user object at the first of these places that has one.
    private func user(
        in reply: HTTPResponse, at places: [JSONPointer], purpose: ErrorDecoder.Purpose
    ) throws(ProviderFailure) -> (raw: JSON, summary: UserSummary)? {
        _ = try decode(reply, purpose, nil, ResponseMap(), needsToken: false)
        return ResponseBody(reply).json.flatMap { user.find(at: places, in: $0) }
    }

    /// For the response to a sign-out.
    /// - Returns: `nil` for a success.
    package func readSignOut(_ reply: HTTPResponse, sentAt: WallTime) -> ProviderFailure? {
        let errors = ErrorDecoder(profile: self, purpose: .user, sentAt: sentAt)
        let body = ResponseBody(reply)
        if let success = signOutSuccess {
            if isSuccess(reply, body, by: success) { return nil }
            guard reply.status >= 400 else {
                return errors.badReply(
                    "HTTP \(reply.status) does not match the profile's `success`", cause: "no_success",
                    status: reply.status)
            }
        }
        guard (200..<300).contains(reply.status) else { return errors.failure(reply, body) }
        return errors.envelopeFailure(reply, body)
    }

    func decode(
        _ reply: HTTPResponse, _ purpose: ErrorDecoder.Purpose, _ sentAt: WallTime?, _ map: ResponseMap,
        needsToken: Bool = true, isSignIn: Bool = false
    ) throws(ProviderFailure) -> Grant {
        let errors = ErrorDecoder(profile: self, purpose: purpose, sentAt: sentAt)
        let decoder = TokenDecoder(errors: errors, map: map, needsToken: needsToken)
        let grant = try decoder.read(reply)
        if isSignIn { try decoder.checkComplete(grant, status: reply.status) }
        return grant
    }

    /// A session that is renewed by validation may be given the token that it has.
    package func withoutSameToken(_ grant: Grant, _ record: SessionRecord) -> Grant {
        var grant = grant
        if renewal.kind == .validate, grant.accessToken == record.tokens.accessToken { grant.accessToken = nil }
        return grant
    }
}
