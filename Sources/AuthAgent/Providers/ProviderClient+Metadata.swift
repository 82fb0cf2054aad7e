package import AuthModel
import AuthWire

/// What authorization servers publish about themselves (RFC 8414, OpenID Connect Discovery 1.0).
extension ProviderClient {
    /// The server of a profile: as discovered, or as the profile has it.
    package func server(of profile: ProviderProfile, at now: Moment) async -> Result<OAuthServer, ProviderFailure> {
        guard let oauth = profile.oauth else { return .failure(.refused(.noOAuth(profile))) }
        guard let issuer = oauth.issuer else {
            return .success(OAuthServer(issuer: nil, endpoints: oauth.endpoints))
        }
        let known = await servers.entry(of: issuer, .metadata, at: now.boot)
        if let known, known.isFresh { return Self.read(known.document, profile, oauth) }
        switch await metadata(of: issuer, profile) {
        case .success(let found):
            if found.json["issuer"]?.stringValue == issuer {
                await servers.keep(found.json, of: issuer, .metadata, for: found.age, at: now.boot)
            }
            return Self.read(found.json, profile, oauth)
        case .failure(let failure):
            if let known { return Self.read(known.document, profile, oauth) }
            return .failure(failure)
        }
    }

    /// What a server publishes, and how long it says that this holds.
    private struct Published {
        var json: JSON
        var age: Duration?

        /// What is missing here comes from the other one; both hold as long as the shorter one.
        func completed(by other: Published) -> Published {
            var members = json.objectValue ?? JSONObject()
            for (key, value) in other.json.objectValue ?? JSONObject() where members[key]?.isNull ?? true {
                members[key] = value
            }
            let ages = [age, other.age].compactMap(\.self)
            return Published(json: .object(members), age: ages.min())
        }
    }

    /// Both documents of an issuer as one. Many servers write what RFC 8414 has to say (revocation, registration) only
    /// into one of them. The first one goes before; one of another issuer adds nothing.
    private func metadata(
        of issuer: String, _ profile: ProviderProfile
    ) async -> Result<Published, ProviderFailure> {
        var merged: Published?
        var stranger: Published?
        var failure: ProviderFailure?
        for place in OAuthServer.places(of: issuer) {
            switch await publication(at: place, of: profile) {
            case .success(let found) where found.json["issuer"]?.stringValue != issuer:
                stranger = stranger ?? found
            case .success(let found):
                merged = merged.map { $0.completed(by: found) } ?? found
            case .failure(let why):
                // A server may have only one of the documents.
                if why.error.httpStatus.map({ (400..<500).contains($0) && $0 != 429 }) ?? false {
                    failure = failure ?? why
                } else if merged == nil {
                    return .failure(why)
                } else {
                    // The rest is fetched again soon.
                    merged?.age = .zero
                }
            }
        }
        if let found = merged ?? stranger { return .success(found) }
        return .failure(failure ?? .refused(.noOAuth(profile)))
    }

    /// What a server publishes, asked for now, and kept as long as it says.
    func document(
        at place: String, _ kind: ServerMetadataCache.Kind, of profile: ProviderProfile, now: Moment
    ) async -> Result<JSON, ProviderFailure> {
        let found = await publication(at: place, of: profile)
        if case .success(let found) = found {
            await servers.keep(found.json, of: place, kind, for: found.age, at: now.boot)
        }
        return found.map(\.json)
    }

    private func publication(
        at place: String, of profile: ProviderProfile
    ) async -> Result<Published, ProviderFailure> {
        await send { () throws(AgentError) in
            HTTPRequest(method: "GET", url: place, headers: [HTTPField("Accept", "application/json")])
        } read: { reply in
            Self.published(reply, profile).map { Published(json: $0, age: CacheControl(reply).maxAge) }
        }
    }

    private static func published(_ reply: HTTPResponse, _ profile: ProviderProfile) -> Result<JSON, ProviderFailure> {
        let errors = ErrorDecoder(profile: profile, purpose: .call, sentAt: nil)
        let body = ResponseBody(reply)
        guard reply.status == 200 else { return .failure(errors.failure(reply, body)) }
        guard case .json(let json) = body, case .object = json else {
            return .failure(errors.badReply("it is no metadata", cause: "no_metadata", status: reply.status))
        }
        return .success(json)
    }

    private static func read(
        _ metadata: JSON, _ profile: ProviderProfile, _ oauth: OAuthProfile
    ) -> Result<OAuthServer, ProviderFailure> {
        do throws(MetadataError) {
            return .success(
                try OAuthServer(metadata: metadata, of: oauth, mayBeInsecure: profile.allowInsecureHTTP))
        } catch {
            return .failure(
                .temporary(
                    AgentError(
                        .badReply, "What \(profile.title) says of itself cannot be used: \(error.reason).",
                        cause: "metadata"), retryAfter: nil))
        }
    }
}
