package import AuthWire

extension ProviderProfile {
    /// - Returns: a grant with an access token, or why there is none; never ``ProviderFailure/final(_:)``.
    package func readSignIn(
        _ reply: HTTPResponse, method: SignInMethod, sentAt: WallTime
    ) -> Result<Grant, ProviderFailure> {
        let reader = TokenDecoder(
            errors: ErrorDecoder(profile: self, purpose: .signIn, sentAt: sentAt), sentAt: sentAt,
            map: self.reply.overridden(by: method.reply), needsToken: true)
        return reader.read(reply)
    }

    /// - Returns: the sign-in, if the answer to the first request is one; `nil` when the sign-in's own request follows.
    package func readFirst(
        _ reply: HTTPResponse, method: SignInMethod, sentAt: WallTime
    ) -> Result<Grant?, ProviderFailure> {
        if let first = method.first, first.existingStatuses.contains(reply.status) { return .success(nil) }
        let reader = TokenDecoder(
            errors: ErrorDecoder(profile: self, purpose: .signIn, sentAt: sentAt), sentAt: sentAt,
            map: self.reply.overridden(by: method.reply), needsToken: false)
        return reader.read(reply).map { $0.accessToken == nil ? nil : $0 }
    }

    /// For an answer of which the provider's words to the person are all that matters.
    package func readMessage(_ reply: HTTPResponse, sentAt: WallTime) -> Result<String?, ProviderFailure> {
        let reader = TokenDecoder(
            errors: ErrorDecoder(profile: self, purpose: .account, sentAt: sentAt), sentAt: sentAt,
            map: ResponseMap(),
            needsToken: false)
        return reader.read(reply).map(\.message)
    }

    /// - Returns: the user as changed; `nil` where the answer does not tell all of it.
    package func readUserUpdate(
        _ reply: HTTPResponse
    ) -> Result<(raw: JSON, summary: UserSummary)?, ProviderFailure> {
        user(in: reply, at: self.userUpdate?.user ?? [], purpose: .account)
    }

    /// - Returns: what is new. ``ProviderFailure/final(_:)`` is only the profile's own final status or code; every other
    ///   failure is temporary.
    package func readRenewal(
        _ reply: HTTPResponse, record: SessionRecord, sentAt: WallTime
    ) -> Result<Grant, ProviderFailure> {
        let isSignIn = renewal.kind == .signIn
        let map = isSignIn ? self.reply.overridden(by: repeatedMethod?.reply) : self.reply
        return readRenewal(
            reply, record, sentAt, map: map.overridden(by: renewal.reply),
            needsToken: renewal.kind != .validate)
    }

    /// The same for a remembered sign-in that was made in the place of a renewal.
    package func readRepeatedSignIn(
        _ reply: HTTPResponse, record: SessionRecord, sentAt: WallTime
    ) -> Result<Grant, ProviderFailure> {
        readRenewal(
            reply, record, sentAt, map: self.reply.overridden(by: repeatedMethod?.reply), needsToken: true)
    }

    private func readRenewal(
        _ reply: HTTPResponse, _ record: SessionRecord, _ sentAt: WallTime, map: ResponseMap, needsToken: Bool
    ) -> Result<Grant, ProviderFailure> {
        let reader = TokenDecoder(
            errors: ErrorDecoder(profile: self, purpose: .renewal, sentAt: sentAt), sentAt: sentAt, map: map,
            needsToken: needsToken)
        return reader.read(reply).map { unchangedLeftOut($0, record) }
    }

    /// - Returns: what is new; no access token when the session keeps its own. A 401 is ``ProviderFailure/final(_:)``
    ///   only where this is what renews the session or nothing does: elsewhere a renewal decides.
    package func readValidation(
        _ reply: HTTPResponse, record: SessionRecord, sentAt: WallTime
    ) -> Result<Grant, ProviderFailure> {
        let own = renewal.kind == .validate ? renewal.reply : nil
        let reader = TokenDecoder(
            errors: ErrorDecoder(profile: self, purpose: .validation, sentAt: sentAt), sentAt: sentAt,
            map: self.reply.overridden(by: own), needsToken: false)
        return reader.read(reply).map { unchangedLeftOut($0, record) }
    }

    /// - Returns: the backend's own user object, and the part of it that every provider has.
    package func readUser(_ reply: HTTPResponse) -> Result<(raw: JSON, summary: UserSummary), ProviderFailure> {
        user(in: reply, at: self.userRequest?.user ?? [], purpose: .user).flatMap { found in
            if let found { return .success(found) }
            let errors = ErrorDecoder(profile: self, purpose: .user, sentAt: nil)
            return .failure(errors.badReply("it has no user", cause: "no_user", status: reply.status))
        }
    }

    /// The user object at the first of these places that has one.
    private func user(
        in reply: HTTPResponse, at places: [JSONPointer], purpose: ErrorDecoder.Purpose
    ) -> Result<(raw: JSON, summary: UserSummary)?, ProviderFailure> {
        // Without a place the answer may still be an error.
        for place in places.isEmpty ? [nil] : places.map(Optional.some) {
            let reader = TokenDecoder(
                errors: ErrorDecoder(profile: self, purpose: purpose, sentAt: nil), sentAt: WallTime(unixSeconds: 0),
                map: ResponseMap(user: place), needsToken: false)
            switch reader.read(reply) {
            case .failure(let failure): return .failure(failure)
            case .success(let grant):
                guard let raw = grant.rawUser, let user = grant.user else { continue }
                // The whole answer is an object in any case: it is the user only if it says who.
                if places.count == 1 || user.id != nil || user.email != nil {
                    return .success((raw: raw, summary: user))
                }
            }
        }
        return .success(nil)
    }

    /// For an answer whose content does not matter, such as that to a sign-out.
    /// - Returns: `nil` when the provider did as asked.
    package func readAcknowledgement(_ reply: HTTPResponse, sentAt: WallTime) -> ProviderFailure? {
        let errors = ErrorDecoder(profile: self, purpose: .user, sentAt: sentAt)
        let body = ResponseBody(reply)
        guard (200..<300).contains(reply.status) else { return errors.failure(reply, body) }
        return errors.envelopeFailure(reply, body)
    }

    private func unchangedLeftOut(_ grant: Grant, _ record: SessionRecord) -> Grant {
        var grant = grant
        if renewal.kind == .validate, grant.accessToken == record.tokens.accessToken { grant.accessToken = nil }
        return grant
    }
}
