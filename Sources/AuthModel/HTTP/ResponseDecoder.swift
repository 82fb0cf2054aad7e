package import AuthWire

/// Decodes a provider's response to a call.
package struct ResponseDecoder: Sendable {
    let profile: ProviderProfile
    let sentAt: WallTime?
    /// Whether the caller requested an HTML page.
    let acceptsHTML: Bool
    /// Whether the call carried the session's access token.
    var sentToken = true
    /// Whether the agent looks into the response. If not, its JSON is checked and passed on as text: parsed values would take
    /// thirty times its size.
    var needsValues = true

    package func read(_ reply: HTTPResponse) throws(ProviderFailure) -> APIResponse {
        let errors = ErrorDecoder(profile: profile, purpose: sentToken ? .call : .openCall, sentAt: sentAt)
        var response = APIResponse(status: reply.status, headers: Self.headers(reply))
        // 304 answers only a conditional request.
        guard (200..<300).contains(reply.status) || reply.status == 304 else {
            throw errors.failure(reply, ResponseBody(reply))
        }
        guard MediaType(reply).mayBeText else {
            response.bodyBase64 = Base64.encode(reply.body)
            return response
        }
        if !needsValues, let text = Self.text(reply) {
            response.bodyText = text
            return response
        }
        let body = ResponseBody(reply)
        switch body {
        case .empty: break
        case .json(let json): response.body = json
        case .text(let text): response.body = .string(text)
        case .page:
            guard acceptsHTML else {
                let reason = "it is an HTML page (HTTP \(reply.status))"
                throw errors.badReply(reason, cause: ErrorDecoder.page, status: reply.status)
            }
            response.bodyBase64 = Base64.encode(reply.body)
            return response
        case .undecodable(let reason):
            throw errors.badReply("it is unreadable, \(reason)", cause: ErrorDecoder.undecodable, status: reply.status)
        }
        if let failure = errors.envelopeFailure(reply, body) { throw failure }
        return response
    }

    /// The response as compact JSON, if it is an object or array and not a page; anything else is short, or an error.
    private static func text(_ reply: HTTPResponse) -> [UInt8]? {
        guard let first = reply.body.first(where: { $0 > 0x20 }), "{[".utf8.contains(first), !MediaType(reply).isPage
        else { return nil }
        return try? JSON.compacted(reply.body.span)
    }

    /// Whether the response is not an HTML page, or the caller requested one.
    package static func isAllowedResponse(_ head: HTTPResponse, asked: Bool) -> Bool {
        if asked { return true }
        if case .page = ResponseBody(head) { return false }
        return true
    }

    package static func headers(_ reply: HTTPResponse) -> [String: String] {
        Dictionary(reply.headers.map { ($0.name.lowercased(), $0.value) }) { "\($0), \($1)" }
    }
}

extension ProviderFailure {
    /// Whether the response to a request that changes something shows that it was carried out, although it cannot be used: a
    /// success without the content that was expected, or one whose result is elsewhere (303, RFC 9110 §15.4.4).
    /// - Parameter acceptsRedirects: whether a redirect is the provider's own.
    package func isOfCarriedOutWrite(_ reply: HTTPResponse, acceptsRedirects: Bool) -> Bool {
        let isUnusable = [ErrorDecoder.undecodable, ErrorDecoder.noEnvelope].contains(error.cause)
        return reply.status == 303 && acceptsRedirects || isUnusable && (200..<300).contains(reply.status)
    }

    /// The provider itself did not accept the token; a page from a proxy does not say that.
    package var rejectsToken: Bool {
        if error.kind == .refused, error.httpStatus == 401 || error.cause == ErrorDecoder.rejectedToken { return true }
        return error.cause == TokenChallenge.invalidToken && (400..<500).contains(error.httpStatus ?? 0)
    }
}
