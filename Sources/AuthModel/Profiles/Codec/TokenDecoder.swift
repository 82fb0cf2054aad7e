import AuthWire

/// Reads tokens and user from one response.
struct TokenDecoder {
    let errors: ErrorDecoder
    let map: ResponseMap
    /// Whether a response without an access token is an error.
    var needsToken = true

    /// A token must fit into a header; servers accept headers of 8 to 64 KiB.
    private static let longestToken = 32 << 10

    func read(_ reply: HTTPResponse) throws(ProviderFailure) -> Grant {
        var body = ResponseBody(reply)
        if let success = map.success {
            guard errors.profile.isSuccess(reply, body, by: success) else { throw errors.noSuccess(reply, body) }
            // The body of a redirect may be an HTML page.
            if body.json == nil { body = .empty }
        }
        guard map.success != nil || (200..<300).contains(reply.status) else { throw errors.failure(reply, body) }
        switch body {
        case .page:
            throw errors.badReply("it is an HTML page, not JSON", cause: ErrorDecoder.page, status: reply.status)
        case .undecodable(let reason):
            throw errors.badReply("it is unreadable, \(reason)", cause: ErrorDecoder.undecodable, status: reply.status)
        case .empty, .json, .text: break
        }
        if let failure = errors.envelopeFailure(reply, body) { throw failure }
        var grant = try grant(body, of: reply)
        grant.message = ErrorText(body, map: errors.profile.errors).message
        return grant
    }

    private func grant(_ body: ResponseBody, of reply: HTTPResponse) throws(ProviderFailure) -> Grant {
        let (json, status) = (body.json ?? .null, reply.status)
        // It is unknown only if the response is read for its user.
        let sentAt = errors.sentAt ?? WallTime(unixSeconds: 0)
        let token = try secret(map.accessToken, "access token", reply, body)
        guard token != nil || !needsToken else {
            let place = map.accessToken.map { " at \($0.text)" } ?? ""
            throw errors.badReply("it has no access token\(place)", cause: "no_token", status: status)
        }
        var grant = Grant(accessToken: token, issuedAt: sentAt)
        grant.refreshToken = try secret(map.refreshToken, "refresh token", reply, body)
        if case .cookie(let name) = map.refreshToken {
            grant.refreshEndsAt = TokenLifetimeDecoder.end(ofCookie: name, in: reply, sentAt: sentAt)
        }
        if let value = map.refreshExpiresIn?.find(in: reply, body),
            let end = TokenLifetimeDecoder.end(after: value, from: sentAt)
        {
            grant.refreshEndsAt = end
        }
        grant.tokenType = map.tokenType?.find(in: reply, body)?.stringValue.flatMap(ProviderText.clean)
        grant.expiresAt = TokenLifetimeDecoder.end(in: reply, body, map: map, token: token, sentAt: sentAt)
        grant.needsPassword = map.needsPassword?.find(in: json)?.boolValue
        if let (raw, summary) = errors.profile.user.find(at: map.user, in: json) {
            (grant.rawUser, grant.user) = (raw, summary)
        }
        return grant
    }

    /// - Throws: if a sign-in is not complete without something that the response lacks.
    func checkComplete(_ grant: Grant, status: Int) throws(ProviderFailure) {
        let missing = ResponseMap.Required.allCases.filter { map.required.contains($0) && !Self.has($0, grant) }
        guard !missing.isEmpty else { return }
        let names = missing.map(\.rawValue).joined(separator: ", ")
        throw errors.badReply("a sign-in needs more than its token: \(names)", cause: "incomplete", status: status)
    }

    private static func has(_ part: ResponseMap.Required, _ grant: Grant) -> Bool {
        switch part {
        case .user: grant.user != nil
        case .expiresAt: grant.expiresAt != nil
        case .refreshToken: grant.refreshToken != nil
        }
    }

    /// Absent and `null` are the same; a token is a string that fits into a header (RFC 6749 §A.12).
    private func secret(
        _ place: ValuePlace?, _ what: String, _ reply: HTTPResponse, _ body: ResponseBody
    ) throws(ProviderFailure) -> Secret? {
        guard let value = place?.find(in: reply, body), !value.isNull else { return nil }
        guard let text = value.stringValue.map({ place?.isHeader == true ? Self.withoutScheme($0) : $0 }),
            text.utf8.count <= Self.longestToken,
            text.utf8.allSatisfy(\.isVisible)
        else { throw errors.badReply("its \(what) is invalid", cause: "bad_token", status: reply.status) }
        return text.isEmpty ? nil : Secret(text)
    }

    /// Some servers return the token in the form in which they expect it: `Authorization: Bearer TOKEN`.
    private static func withoutScheme(_ text: String) -> String {
        text.lowercased().hasPrefix("bearer ") ? String(text.dropFirst(7)) : text
    }
}
