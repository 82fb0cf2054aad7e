import AuthModel
import AuthWire

/// Being registered at providers (RFC 7591, RFC 7592).
extension ProviderClient {
    /// One that refuses us for something that we would have tokens for is asked once more for less: for what it says it
    /// has; where that is all of it, without the device grant, which some register under a name of their own.
    func register(
        at profile: ProviderProfile, server: OAuthServer, sentAt: Moment
    ) async -> Result<RegisteredClient, ProviderFailure> {
        let wanted = OAuthProfile.requestedGrants
        let first = await register(at: profile, server: server, grants: wanted, sentAt: sentAt)
        guard case .failure(let failure) = first, failure.error.cause == "invalid_client_metadata" else { return first }
        let listed = server.grantTypes ?? wanted
        let offered = wanted.filter { listed.contains($0) || $0 == OAuthProfile.refreshGrant }
        let less = offered.count < wanted.count ? offered : Array(wanted.dropLast())
        return await register(at: profile, server: server, grants: less, sentAt: sentAt)
    }

    private func register(
        at profile: ProviderProfile, server: OAuthServer, grants: [String], sentAt: Moment
    ) async -> Result<RegisteredClient, ProviderFailure> {
        let errors = registrationErrors(profile, sentAt)
        return await send { () throws(AgentError) in
            guard let oauth = profile.oauth, let url = server.endpoints.registration, server.issuer != nil else {
                throw AgentError(
                    .unsupported,
                    "\(profile.title) registers no clients by itself: register one there, and write its client_id into the "
                        + "profile.")
            }
            var request = HTTPRequest(
                method: "POST", url: url,
                headers: [HTTPField("Content-Type", "application/json"), HTTPField("Accept", "application/json")],
                body: Secret(bytes: oauth.registrationRequest(grants: grants).serialized()))
            request.followsRedirects = false
            return request
        } read: { reply in
            let body = ResponseBody(reply)
            guard reply.status == 201 || reply.status == 200 else { return .failure(errors.failure(reply, body)) }
            do throws(MetadataError) {
                var client = try RegisteredClient(
                    body.json ?? .null, issuer: server.issuer ?? "", mayBeInsecure: profile.allowInsecureHTTP)
                client.request = profile.oauth.map(RegisteredClient.Request.init)
                return .success(client)
            } catch {
                return .failure(errors.badReply(error.reason, cause: "registration", status: reply.status))
            }
        }
    }

    /// Whether the provider still knows us: only its own no counts (RFC 7592 §2.1), and who does not tell is taken to.
    func knows(_ client: RegisteredClient, at profile: ProviderProfile) async -> Bool {
        guard let place = client.place else { return true }
        let found: Result<Bool, ProviderFailure> = await send { () throws(AgentError) in
            HTTPRequest(
                method: "GET", url: place.url,
                headers: [.authorization(place.token, boundTo: nil), HTTPField("Accept", "application/json")])
        } read: { reply in
            .success(![401, 403, 404, 410].contains(reply.status))
        }
        return (try? found.get()) ?? true
    }

    /// RFC 7592 §2.3.
    /// - Returns: `nil` if the provider has no address for that.
    func unregister(
        _ client: RegisteredClient, at profile: ProviderProfile, sentAt: Moment
    ) async -> Result<Void, ProviderFailure>? {
        guard let place = client.place else { return nil }
        let errors = registrationErrors(profile, sentAt)
        return await send { () throws(AgentError) in
            var request = HTTPRequest(
                method: "DELETE", url: place.url,
                headers: [.authorization(place.token, boundTo: nil), HTTPField("Accept", "application/json")])
            request.followsRedirects = false
            return request
        } read: { reply in
            // Whoever is unknown there is deleted already.
            let isDone = (200..<300).contains(reply.status) || [401, 404, 410].contains(reply.status)
            return isDone ? .success(()) : .failure(errors.failure(reply, ResponseBody(reply)))
        }
    }

    private func registrationErrors(_ profile: ProviderProfile, _ now: Moment) -> ErrorDecoder {
        var profileForErrors = profile
        profileForErrors.errors = TokenResponse.errors
        return ErrorDecoder(profile: profileForErrors, purpose: .signIn, sentAt: now.wall)
    }
}
