import AuthModel
import AuthWire

/// Registration at providers (RFC 7591, RFC 7592).
extension ProviderClient {
    /// A provider that refuses us because of a grant type is asked once more with fewer: with those that it lists; if it
    /// lists all of them, without the device grant, which some register under another name.
    func register(
        at profile: ProviderProfile, server: OAuthServer, sentAt: Moment
    ) async throws(ProviderFailure) -> RegisteredClient {
        let wanted = ClientMetadata.grants
        do throws(ProviderFailure) {
            return try await register(at: profile, server: server, grants: wanted, sentAt: sentAt)
        } catch {
            guard error.error.cause == "invalid_client_metadata" else { throw error }
        }
        let listed = server.grantTypes ?? wanted
        let offered = wanted.filter { listed.contains($0) || $0 == ClientMetadata.refreshGrant }
        let less = offered.count < wanted.count ? offered : Array(wanted.dropLast())
        return try await register(at: profile, server: server, grants: less, sentAt: sentAt)
    }

    private func register(
        at profile: ProviderProfile, server: OAuthServer, grants: [String], sentAt: Moment
    ) async throws(ProviderFailure) -> RegisteredClient {
        guard let oauth = profile.oauth, let url = server.endpoints.registration, let issuer = server.issuer else {
            throw .temporary(
                AgentError(
                    .unsupported,
                    "\(profile.title) registers no clients by itself: register one there, and write its client_id into the "
                        + "profile."), retryAfter: nil)
        }
        var request = HTTPRequest(
            method: "POST", url: url,
            headers: [HTTPField("Content-Type", "application/json"), HTTPField("Accept", "application/json")],
            body: Secret(bytes: oauth.registrationRequest(grants: grants).serialized()))
        request.followsRedirects = false
        let reply = try await send(request)
        let errors = ErrorDecoder(oauth: profile, purpose: .signIn, sentAt: sentAt)
        let json = try errors.json(of: reply, [200, 201])
        do throws(MetadataError) {
            var client = try RegisteredClient(json ?? .null, issuer: issuer, mayBeInsecure: profile.allowInsecureHTTP)
            client.request = RegisteredClient.Request(oauth)
            return client
        } catch {
            throw errors.badReply(error.reason, cause: "registration", status: reply.status)
        }
    }

    /// Whether the provider still knows us. Only its own refusal counts (RFC 7592 §2.1), not the absence of a response.
    func knows(_ client: RegisteredClient) async -> Bool {
        guard let request = client.request(method: "GET"), let reply = try? await send(request) else { return true }
        return ![401, 403, 404, 410].contains(reply.status)
    }

    /// RFC 7592 §2.3.
    /// - Returns: `false` if the provider has no address for that.
    func unregister(
        _ client: RegisteredClient, at profile: ProviderProfile, sentAt: Moment
    ) async throws(ProviderFailure) -> Bool {
        guard var request = client.request(method: "DELETE") else { return false }
        request.followsRedirects = false
        let reply = try await send(request)
        // A client that is unknown there is deleted already.
        guard (200..<300).contains(reply.status) || [401, 404, 410].contains(reply.status) else {
            throw ErrorDecoder(oauth: profile, purpose: .signIn, sentAt: sentAt).failure(reply, ResponseBody(reply))
        }
        return true
    }
}

extension RegisteredClient {
    /// To the address of the registration; `nil` if there is none.
    fileprivate func request(method: String) -> HTTPRequest? {
        place.map { place in
            HTTPRequest(
                method: method, url: place.url,
                headers: [.authorization(place.token, boundTo: nil), HTTPField("Accept", "application/json")])
        }
    }
}
