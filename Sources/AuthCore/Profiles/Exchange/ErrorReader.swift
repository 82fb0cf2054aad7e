import AuthWire

/// What an answer that is no success means.
struct ErrorReader {
    /// What was asked. It decides what a no says about the session.
    enum Purpose {
        case signIn, renewal, validation, user, account, call
    }

    let profile: ProviderProfile
    let purpose: Purpose
    /// `nil`: not known, so that only a `Retry-After` that stands by itself can be read.
    let sentAt: WallTime?

    /// For an answer with a status outside of 2xx.
    func failure(_ reply: HTTPReply, _ body: ReplyBody) -> ProviderFailure {
        failure(status: reply.status, body, retryAfter: RetryAfter.read(reply, sentAt: sentAt))
    }

    /// An error inside a success: `nil` when the profile knows no envelope or this one says that all is well.
    func envelopeFailure(_ reply: HTTPReply, _ body: ReplyBody) -> ProviderFailure? {
        guard let envelope = profile.errors.envelope else { return nil }
        guard let json = body.json, let found = envelope.pointer.find(in: json) else {
            if case .empty = body { return nil }
            return badReply("no \(envelope.pointer.text) in it", cause: "no_envelope", status: reply.status)
        }
        if found == envelope.success || (found.doubleValue != nil && found.doubleValue == envelope.success.doubleValue)
        {
            return nil
        }
        let inner = envelope.status?.find(in: json)?.integerValue.flatMap { Int(exactly: $0) }
        return failure(
            status: inner.flatMap { (300...599).contains($0) ? $0 : nil }, body,
            retryAfter: RetryAfter.read(reply, sentAt: sentAt))
    }

    /// An answer that nothing can be made of. It never says anything about the session.
    func badReply(_ reason: String, cause: String, status: Int) -> ProviderFailure {
        .temporary(
            AgentError(
                .badReply, "The answer of \(profile.title) makes no sense here: \(reason).", cause: cause,
                httpStatus: status),
            retryAfter: nil)
    }

    /// - Parameter status: `nil` for an envelope that tells none.
    private func failure(status: Int?, _ body: ReplyBody, retryAfter: Duration?) -> ProviderFailure {
        let words = ErrorWords(body, map: profile.errors)
        let isOverloaded = status.map { $0 >= 500 || $0 == 429 } ?? false
        if !isOverloaded, let nonsense = nonsense(body, status: status ?? 200) { return nonsense }
        if isFinal(status: status, code: words.code) { return .final(final(status, words)) }
        let error = error(status: status, words, retryAfter: retryAfter)
        return purpose == .renewal || Self.mayPass(status)
            ? .temporary(error, retryAfter: retryAfter) : .refused(error)
    }

    /// Whether a status may be another one next time with nothing changed in the request.
    private static func mayPass(_ status: Int?) -> Bool {
        guard let status else { return false }
        return status == 408 || status == 425 || status == 429 || (300..<400).contains(status) || status >= 500
    }

    /// A page or an unreadable body comes from anything between here and the provider, and so does its status.
    private func nonsense(_ body: ReplyBody, status: Int) -> ProviderFailure? {
        switch body {
        case .page: badReply("it is a page for a browser (HTTP \(status))", cause: "html", status: status)
        case .undecodable(let reason):
            badReply("it cannot be read (HTTP \(status)), \(reason)", cause: "undecodable", status: status)
        case .empty, .json, .text: nil
        }
    }

    /// A validation ends a session only where it is what renews it, or where nothing does.
    private func isFinal(status: Int?, code: String?) -> Bool {
        let decides =
            switch purpose {
            case .renewal: true
            case .validation: profile.renewal.kind == .validate || profile.renewal.kind == .none
            case .signIn, .user, .account, .call: false
            }
        guard decides, status.map({ $0 < 500 && $0 != 429 }) ?? true else { return false }
        return status.map(profile.renewal.finalStatuses.contains) ?? false
            || code.map(profile.renewal.finalCodes.contains) ?? false
    }

    private func final(_ status: Int?, _ words: ErrorWords) -> AgentError {
        AgentError(
            .signInRequired, "\(profile.title) has ended this session: sign in again.", cause: "refused_by_provider",
            httpStatus: status, providerMessage: words.message, details: words.details)
    }

    private func error(status: Int?, _ words: ErrorWords, retryAfter: Duration?) -> AgentError {
        let (kind, text, retryable) = meaning(of: status)
        return AgentError(
            kind, text, cause: words.code.flatMap { ProviderText.clean($0) }, httpStatus: status,
            providerMessage: words.message, retryAfter: retryAfter, retryable: retryable, details: words.details)
    }

    private func meaning(of status: Int?) -> (ErrorKind, String, Bool?) {
        let name = profile.title
        guard let status else { return (.refused, refusal, nil) }
        switch status {
        case 400, 422: return (.validation, "\(name) did not take what was sent.", nil)
        case 401: return (.refused, refusal, nil)
        case 403: return (.forbidden, "\(name) does not allow this.", nil)
        case 404, 410: return (.notFound, "\(name) does not know what was asked for.", nil)
        case 408: return (.timeout, "\(name) gave up waiting for the request.", nil)
        case 409: return (.conflict, "\(name) says that it is already there, or has changed meanwhile.", nil)
        case 413: return (.tooLarge, "\(name) says that too much was sent.", nil)
        case 429: return (.rateLimited, "\(name) has been asked too often; try again later.", nil)
        case 300..<400: return (.badReply, "\(name) points elsewhere instead of answering.", nil)
        case 425, 500...: return (.providerError, "\(name) has trouble of its own; try again later.", nil)
        default: return (.providerError, "\(name) answered with an error.", false)
        }
    }

    private var refusal: String {
        switch purpose {
        case .signIn: "\(profile.title) refused the sign-in: check what was entered."
        case .renewal: "\(profile.title) did not renew the session."
        case .account: "\(profile.title) refused it: check what was entered."
        case .validation, .user, .call: "\(profile.title) did not accept the access token."
        }
    }
}
