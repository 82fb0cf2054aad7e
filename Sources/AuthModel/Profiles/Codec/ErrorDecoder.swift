import AuthWire

/// Decodes a response that is not a success.
package struct ErrorDecoder: Sendable {
    /// What was requested. It decides what a refusal says about the session.
    package enum Purpose: Sendable {
        case signIn, renewal, validation, user, account, call
        /// A call without an access token.
        case openCall

        /// Whether the request is authorized with the session's access token and nothing else.
        fileprivate var showsToken: Bool {
            switch self {
            case .validation, .user, .call: true
            case .signIn, .renewal, .account, .openCall: false
            }
        }
    }

    /// The cause of an error whose code the profile maps to ``ErrorKind/signInRequired``.
    static let rejectedToken = "token_rejected"
    /// The causes of a response with an HTML page, and of one that cannot be read.
    package static let page = "html"
    package static let undecodable = "undecodable"
    /// The cause of a success that lacks the profile's envelope.
    static let noEnvelope = "no_envelope"

    package let profile: ProviderProfile
    package let purpose: Purpose
    /// `nil`: not known; only a `Retry-After` in seconds can be read then.
    package let sentAt: WallTime?

    package init(profile: ProviderProfile, purpose: Purpose, sentAt: WallTime?) {
        self.profile = profile
        self.purpose = purpose
        self.sentAt = sentAt
    }

    /// For a status outside of 2xx.
    package func failure(_ reply: HTTPResponse, _ body: ResponseBody) -> ProviderFailure {
        failure(
            status: reply.status, body, retryAfter: RetryAfter.read(reply, sentAt: sentAt),
            challenge: TokenChallenge(reply))
    }

    /// The error for a response that does not match the profile's ``ResponseMap/success``. A code that the profile names, and
    /// the envelope's status, say more than that.
    func noSuccess(_ reply: HTTPResponse, _ body: ResponseBody) -> ProviderFailure {
        guard reply.status < 400 else { return failure(reply, body) }
        let (words, inner) = (ErrorText(body, map: profile.errors), innerStatus(body))
        if inner != nil || kind(words) != nil || isFinal(status: nil, code: words.code) {
            return failure(status: inner, body, retryAfter: RetryAfter.read(reply, sentAt: sentAt))
        }
        let error = AgentError(
            .refused,
            "\(profile.title) refused the sign-in: check your entries. (The response, HTTP \(reply.status), does "
                + "not match the profile's `success`.)", cause: "no_success", httpStatus: reply.status,
            providerMessage: words.message)
        return purpose == .renewal ? .temporary(error, retryAfter: nil) : .refused(error)
    }

    /// An error inside a success; `nil` if the profile has no envelope or this one reports success.
    func envelopeFailure(_ reply: HTTPResponse, _ body: ResponseBody) -> ProviderFailure? {
        guard let envelope = profile.errors.envelope else { return nil }
        switch envelope.verdict(body) {
        case .success: return nil
        case .failure:
            return failure(status: innerStatus(body), body, retryAfter: RetryAfter.read(reply, sentAt: sentAt))
        case .absent:
            return badReply("it has no \(envelope.pointer.text)", cause: Self.noEnvelope, status: reply.status)
        }
    }

    /// The status of an error that the envelope names.
    private func innerStatus(_ body: ResponseBody) -> Int? {
        guard let json = body.json, let status = profile.errors.envelope?.status?.find(in: json)?.integerValue else {
            return nil
        }
        return Int(exactly: status).flatMap { (300...599).contains($0) ? $0 : nil }
    }

    private func kind(_ words: ErrorText) -> ErrorKind? {
        profile.errors.kind(code: words.code, messages: [words.message].compactMap(\.self) + words.details)
    }

    /// An unusable response. It never says anything about the session.
    package func badReply(_ reason: String, cause: String, status: Int) -> ProviderFailure {
        .temporary(
            AgentError(
                .badReply, "The response of \(profile.title) is invalid: \(reason).", cause: cause,
                httpStatus: status),
            retryAfter: nil)
    }

    /// - Parameter status: `nil` if the envelope has none.
    private func failure(
        status: Int?, _ body: ResponseBody, retryAfter: Duration?, challenge: TokenChallenge? = nil
    ) -> ProviderFailure {
        let words = ErrorText(body, map: map(body)).completed(by: challenge)
        let isOverloaded = status.map { $0 >= 500 || $0 == 429 } ?? false
        // Another token would have the same scopes, whatever the status is.
        if purpose == .call, !isOverloaded, let challenge, challenge.error == TokenChallenge.insufficientScope {
            return .refused(
                AgentError(
                    .forbidden, "\(profile.title) requires scopes that the access token does not have.",
                    cause: TokenChallenge.insufficientScope, httpStatus: status, providerMessage: words.message,
                    details: challenge.scopes ?? []))
        }
        if !isOverloaded, let unreadable = unreadable(body, status: status ?? 200) { return unreadable }
        if isFinal(status: status, code: words.code) { return .final(final(status, words)) }
        let mapped = kind(words)
        let error = error(status: status, mapped, words, retryAfter: retryAfter)
        return purpose == .renewal || Self.isTransient(status, mapped)
            ? .temporary(error, retryAfter: retryAfter) : .refused(error)
    }

    /// An OAuth server uses the error members of OAuth, even in an API whose profile does not map them.
    private func map(_ body: ResponseBody) -> ErrorMap {
        guard profile.oauth != nil, profile.errors == ErrorMap(), body.json?["error"]?.stringValue != nil else {
            return profile.errors
        }
        return TokenResponse.errors
    }

    /// Whether an unchanged request may succeed later.
    private static func isTransient(_ status: Int?, _ mapped: ErrorKind?) -> Bool {
        if let mapped { return mapped.retryableByDefault }
        guard let status else { return false }
        return status == 408 || status == 425 || status == 429 || (300..<400).contains(status) || status >= 500
    }

    /// A page or an unreadable body can come from any proxy on the way, and so can its status.
    private func unreadable(_ body: ResponseBody, status: Int) -> ProviderFailure? {
        switch body {
        case .page: badReply("it is an HTML page (HTTP \(status))", cause: Self.page, status: status)
        case .undecodable(let reason):
            badReply("it is unreadable (HTTP \(status)), \(reason)", cause: Self.undecodable, status: status)
        case .empty, .json, .text: nil
        }
    }

    /// A validation ends a session only if it is the renewal, or if nothing renews the session.
    private func isFinal(status: Int?, code: String?) -> Bool {
        let decides =
            switch purpose {
            case .renewal: true
            case .validation: profile.renewal.kind == .validate || profile.renewal.kind == .none
            case .signIn, .user, .account, .call, .openCall: false
            }
        guard decides, status.map({ $0 < 500 && $0 != 429 }) ?? true else { return false }
        return status.map(profile.renewal.finalStatuses.contains) ?? false
            || code.map(profile.renewal.finalCodes.contains) ?? false
    }

    private func final(_ status: Int?, _ words: ErrorText) -> AgentError {
        AgentError(
            .signInRequired, "\(profile.title) has ended this session: sign in again.", cause: "refused_by_provider",
            httpStatus: status, providerMessage: words.message, details: words.details)
    }

    private func error(
        status: Int?, _ mapped: ErrorKind?, _ words: ErrorText, retryAfter: Duration?
    ) -> AgentError {
        let (kind, retryable) = mapped.map { ($0, Bool?.none) } ?? Self.kind(of: status)
        var error = AgentError(
            kind, text(kind, status: status), cause: words.code.flatMap { ProviderText.clean($0) }, httpStatus: status,
            providerMessage: words.message, retryAfter: retryAfter, retryable: retryable, details: words.details)
        if kind == .signInRequired {
            // A renewal decides whether it is.
            error.kind = .refused
            if purpose.showsToken { error.cause = Self.rejectedToken }
        }
        return error
    }

    /// - Returns: whether a retry can help, if the kind does not decide that.
    private static func kind(of status: Int?) -> (ErrorKind, Bool?) {
        switch status {
        case nil, 401: (.refused, nil)
        case 400, 422: (.validation, nil)
        case 403: (.forbidden, nil)
        case 404, 410: (.notFound, nil)
        case 408: (.timeout, nil)
        case 409: (.conflict, nil)
        case 413: (.tooLarge, nil)
        case 429: (.rateLimited, nil)
        case let status? where (300..<400).contains(status): (.badReply, nil)
        case let status? where status == 425 || status >= 500: (.providerError, nil)
        default: (.providerError, false)
        }
    }

    private func text(_ kind: ErrorKind, status: Int?) -> String {
        let name = profile.title
        return switch kind {
        case .validation: "\(name) rejected the data that was sent."
        case .forbidden: "\(name) does not allow this."
        case .notFound: "\(name) did not find what was requested."
        case .timeout: "\(name) timed out waiting for the request."
        case .conflict: "\(name) reports a conflict: it exists already, or has changed."
        case .tooLarge: "\(name) reports that too much was sent."
        case .rateLimited: "\(name) received too many requests; try again later."
        case .badReply: "\(name) answered with a redirect."
        case .providerError where Self.kind(of: status).1 == false: "\(name) answered with an error."
        case .providerError where (500...599).contains(status ?? 0):
            "\(name) has a temporary failure: server error (\(status ?? 0)); try again later."
        case .providerError: "\(name) has a temporary failure; try again later."
        case .signInRequired: refusal(ofToken: true)
        default: refusal(ofToken: status == 401)
        }
    }

    /// - Parameter isAboutToken: whether the response is about the access token, if the request has one.
    private func refusal(ofToken isAboutToken: Bool) -> String {
        switch purpose {
        case .signIn: "\(profile.title) refused the sign-in: check your entries."
        case .renewal: "\(profile.title) did not renew the session."
        case .account: "\(profile.title) refused the request: check your entries."
        case .validation, .user, .call:
            isAboutToken ? "\(profile.title) did not accept the access token." : "\(profile.title) refused the request."
        case .openCall: "\(profile.title) refused the request."
        }
    }
}
