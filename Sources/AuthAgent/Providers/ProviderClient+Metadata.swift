package import AuthModel
import AuthWire

/// What authorization servers publish about themselves (RFC 8414, OpenID Connect Discovery 1.0).
extension ProviderClient {
    /// For metadata that is known already: a renewal must not wait longer for another copy, or have no time left.
    private static let refreshLimit = Duration.seconds(5)

    /// The server of a profile: as discovered, or as the profile describes it.
    package func server(of profile: ProviderProfile, at now: Moment) async throws(ProviderFailure) -> OAuthServer {
        guard let oauth = profile.oauth else { throw .refused(.noOAuth(profile)) }
        guard let issuer = oauth.issuer else { return OAuthServer(issuer: nil, endpoints: oauth.endpoints) }
        let known = await servers.entry(of: issuer, .metadata, at: now.boot)
        if let known, known.isFresh { return try Self.read(known.document, profile, oauth) }
        let found: Published
        do throws(ProviderFailure) {
            found = try await metadata(of: issuer, profile, within: known == nil ? nil : Self.refreshLimit)
        } catch {
            guard let known else { throw error }
            // For the shortest lifetime: the next renewal does not wait for it, too.
            await servers.keep(known.document, of: issuer, .metadata, for: .zero, at: now.boot)
            return try Self.read(known.document, profile, oauth)
        }
        if OAuthServer.isMetadata(found.json, of: issuer) {
            await servers.keep(found.json, of: issuer, .metadata, for: found.age, at: now.boot)
        }
        return try Self.read(found.json, profile, oauth)
    }

    /// The cause if an issuer differs only by a slash at its end.
    static let otherSpelling = "issuer_spelling"
    private static let noMetadata = "no_metadata"

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

    /// Both documents of an issuer as one. Many servers have what RFC 8414 defines (revocation, registration) in only one
    /// of them. The first one takes precedence; one of another issuer adds nothing.
    private func metadata(
        of issuer: String, _ profile: ProviderProfile, within limit: Duration?
    ) async throws(ProviderFailure) -> Published {
        var merged: Published?
        var stranger: Published?
        var unusable: [(place: String, failure: ProviderFailure)] = []
        for (index, place) in OAuthServer.places(of: issuer).enumerated() {
            // The third one is another address of the first one.
            if index > 1, merged != nil || stranger != nil { break }
            do throws(ProviderFailure) {
                let found = try await publication(at: place, of: profile, within: limit)
                if !OAuthServer.isMetadata(found.json, of: issuer) {
                    stranger = stranger ?? found
                } else {
                    merged = merged?.completed(by: found) ?? found
                }
            } catch {
                // A server may have only one of the documents. Many answer any other address with a page.
                if Self.saysNothing(error.error) {
                    unusable.append((place, error))
                } else if merged == nil {
                    throw error
                } else {
                    // The rest is fetched again soon.
                    merged?.age = .zero
                }
            }
        }
        if let found = merged ?? stranger { return found }
        throw Self.nothingUsable(unusable, profile)
    }

    /// Whether there is no metadata at an address, although a server answers there.
    private static func saysNothing(_ error: AgentError) -> Bool {
        error.kind == .badReply || error.httpStatus.map { (400..<500).contains($0) && $0 != 429 } ?? false
    }

    /// - Parameter found: what was at each address instead.
    private static func nothingUsable(
        _ found: [(place: String, failure: ProviderFailure)], _ profile: ProviderProfile
    ) -> ProviderFailure {
        // A page may come from any machine on the way, so that a later attempt may succeed.
        guard let failure = found.first(where: { $0.failure.error.kind == .badReply })?.failure ?? found.first?.failure
        else { return .refused(.noOAuth(profile)) }
        var error = failure.error
        let answers = found.map { "\($0.place): \(words($0.failure.error))" }
        error.message = "\(profile.title) has no usable metadata. \(answers.joined(separator: "; "))."
        if case .temporary(_, let retryAfter) = failure { return .temporary(error, retryAfter: retryAfter) }
        return .refused(error)
    }

    private static func words(_ error: AgentError) -> String {
        let status = error.httpStatus.map { "HTTP \($0)" }
        return switch error.cause {
        case ErrorDecoder.page: [status, "an HTML page"].compactMap(\.self).joined(separator: ", ")
        case ErrorDecoder.undecodable, noMetadata:
            [status, "not a JSON object"].compactMap(\.self).joined(separator: ", ")
        default: status ?? error.message
        }
    }

    /// The keys of a server, fetched now, and kept for as long as the response says.
    func keys(at place: String, of profile: ProviderProfile, now: Moment) async throws(ProviderFailure) -> JSON {
        let found = try await publication(at: place, of: profile)
        await servers.keep(found.json, of: place, .keys, for: found.age, at: now.boot)
        return found.json
    }

    private func publication(
        at place: String, of profile: ProviderProfile, within limit: Duration? = nil
    ) async throws(ProviderFailure) -> Published {
        var request = HTTPRequest(method: "GET", url: place, headers: [HTTPField("Accept", "application/json")])
        request.limit = limit
        let reply = try await send(request)
        let errors = ErrorDecoder(profile: profile, purpose: .call, sentAt: nil)
        let json = try errors.json(of: reply)
        if case .page = ResponseBody(reply) {
            throw errors.badReply("it is an HTML page, not JSON", cause: ErrorDecoder.page, status: reply.status)
        }
        guard let json, case .object = json else {
            throw errors.badReply("it is not metadata", cause: Self.noMetadata, status: reply.status)
        }
        return Published(json: json, age: CacheControl(reply).maxAge)
    }

    private static func read(
        _ metadata: JSON, _ profile: ProviderProfile, _ oauth: OAuthProfile
    ) throws(ProviderFailure) -> OAuthServer {
        do throws(MetadataError) {
            return try OAuthServer(metadata: metadata, of: oauth, mayBeInsecure: profile.allowInsecureHTTP)
        } catch {
            throw .temporary(
                AgentError(
                    .badReply, "The metadata of \(profile.title) cannot be used: \(error.reason).",
                    cause: error.isSpelling ? Self.otherSpelling : "metadata"), retryAfter: nil)
        }
    }
}
