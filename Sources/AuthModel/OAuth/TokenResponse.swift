import AuthWire

/// Reads a response of the token endpoint (RFC 6749 §5), including common deviations: a form instead of JSON, an error with
/// status 200, a lifetime as a string, a token type in lower case or none.
package struct TokenResponse: Sendable {
    package let profile: ProviderProfile
    package let purpose: ErrorDecoder.Purpose
    package let sentAt: WallTime
    /// The requested tokens are bound to a key.
    package var isBound = false

    static let map = ResponseMap(
        accessToken: place("/access_token"), tokenType: place("/token_type"), refreshToken: place("/refresh_token"),
        expiresIn: place("/expires_in"))
    package static let errors = ErrorMap(
        message: [known("/error_description"), known("/error")].compactMap(\.self), code: known("/error"))
    /// The only error that ends a session (RFC 6749 §5.2): every other one is about the client or the server.
    static let finalCode = "invalid_grant"

    package init(profile: ProviderProfile, purpose: ErrorDecoder.Purpose, sentAt: WallTime, isBound: Bool = false) {
        self.profile = profile
        self.purpose = purpose
        self.sentAt = sentAt
        self.isBound = isBound
    }

    /// - Returns: a grant with an access token.
    /// - Throws: ``ProviderFailure/final(_:)`` only at a renewal. The provider's error code is the error's `cause`.
    package func read(_ reply: HTTPResponse) throws(ProviderFailure) -> Grant {
        let errors = ErrorDecoder(profile: profileForErrors, purpose: purpose, sentAt: sentAt)
        let plain = normalized(reply)
        var grant = try TokenDecoder(errors: errors, map: Self.map).read(plain)
        // An unknown type cannot be used (RFC 6749 §7.1), nor can an unbound token if it had to be bound (RFC 9449 §5).
        let (expected, type) = (isBound ? "DPoP" : "Bearer", grant.tokenType ?? "Bearer")
        let others = isBound ? [] : rules.bearerTypes
        guard ([expected] + others).contains(where: { $0.lowercased() == type.lowercased() }) else {
            let reason = "its token type is \(type)" + (isBound ? ", but DPoP was requested" : "")
            throw errors.badReply(reason, cause: "token_type", status: reply.status)
        }
        let json = ResponseBody(plain).json
        grant.tokenType = expected
        grant.message = nil
        grant.refreshEndsAt = refreshEnd(json)
        grant.scopes = json?["scope"]?.stringValue.map(OAuthScope.list)
        grant.idToken = json?["id_token"]?.stringValue.map { Secret($0) }
        return grant
    }

    /// No RFC defines it: Keycloak uses one name, GitHub and others another. Zero means that it does not expire.
    private func refreshEnd(_ json: JSON?) -> WallTime? {
        let lifetime = json?["refresh_token_expires_in"] ?? json?["refresh_expires_in"]
        guard let seconds = lifetime.flatMap(TokenLifetimeDecoder.number), seconds > 0,
            TokenLifetimeDecoder.dates.contains(sentAt.unixSeconds + seconds)
        else { return nil }
        return sentAt + .seconds(seconds)
    }

    /// The profile with the error rules of the token endpoint.
    private var profileForErrors: ProviderProfile {
        var profile = profile
        profile.errors = Self.errors
        profile.renewal = Renewal(
            kind: .refresh, finalStatuses: [], finalCodes: Set(rules.finalCodes + [Self.finalCode]))
        return profile
    }

    private var rules: TokenEndpointRules { profile.oauth?.tokenEndpoint ?? TokenEndpointRules() }

    /// The response in the form of RFC 6749: JSON, and an error with an error's status.
    package func normalized(_ reply: HTTPResponse) -> HTTPResponse {
        var object: JSONObject
        switch ResponseBody(reply) {
        case .json(.object(let members)): object = members
        case .text(let text):
            // Other text than a form about a token stays as it is.
            guard let fields = Form.decode(text), fields["access_token"] != nil || fields["error"] != nil else {
                return reply
            }
            object = JSONObject()
            for field in fields { object[field.name] = .string(field.value) }
        case .empty, .json, .page, .undecodable: return reply
        }
        let tokens = rules.tokenObjects.lazy.compactMap { $0.find(in: .object(object))?.objectValue }
        object = tokens.first { $0["access_token"]?.stringValue != nil } ?? object
        let isError = object["error"]?.stringValue != nil && object["access_token"] == nil
        let status = isError && reply.status == 200 ? 400 : reply.status
        return HTTPResponse(
            status: status, headers: reply.headers.filter { $0.name.lowercased() != "content-type" },
            body: JSON.object(object).serialized())
    }

    private static func place(_ text: String) -> ValuePlace? { known(text).map(ValuePlace.pointer) }
    private static func known(_ text: String) -> JSONPointer? { try? JSONPointer(text) }
}
