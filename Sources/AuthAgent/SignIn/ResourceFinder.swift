import AuthMachines
import AuthModel
import AuthWire

/// Finds out how to sign in to a protected resource: carries out what a ``ResourceDiscovery`` decides, and selects the
/// authorization server.
struct ResourceFinder {
    let context: AgentContext

    private var providers: ProviderClient { context.providers }

    /// - Returns: the generated profile, and what the user should know about it.
    func profile(
        of url: ResourceURL, for params: LoginStart
    ) async throws(AgentError) -> (ProviderProfile, notes: [String]) {
        let (metadata, scopes) = try await metadata(of: url)
        var failures: [(issuer: String, error: AgentError)] = []
        for issuer in metadata.servers {
            do throws(AgentError) {
                let (server, spelling) = try await server(issuer, of: url, metadata)
                var resource = ProtectedResource(
                    url: url.text, identifier: metadata.identifier, issuer: spelling, scopes: scopes)
                resource.selectClient(
                    at: server, document: providers.profiles.clientDocument,
                    namesClient: params.fields[OAuthField.clientID] != nil)
                return (ProviderProfile(resource), notes(on: url, failures, issuer, spelling))
            } catch {
                failures.append((issuer, error))
            }
        }
        guard var error = failures.first?.error else { throw .internalError("\(url) names no authorization server") }
        if failures.count > 1 { error.details = failures.map { "\($0.issuer): \($0.error.message)" } }
        throw error
    }

    private func metadata(of url: ResourceURL) async throws(AgentError) -> (ResourceMetadata, scopes: [String]) {
        var discovery = ResourceDiscovery(url)
        var reply: Result<HTTPResponse, AgentError>?
        while true {
            switch try discovery.next(reply) {
            case .found(let metadata, let scopes): return (metadata, scopes)
            case .send(let request):
                reply = await Result(
                    of: try await converting(ProviderFailure.self, try await providers.send(request)))
            }
        }
    }

    /// The server, if it is usable, and its issuer as its own metadata spells it.
    private func server(
        _ issuer: String, of url: ResourceURL, _ metadata: ResourceMetadata
    ) async throws(AgentError) -> (OAuthServer, issuer: String) {
        var spelling = issuer
        var server: OAuthServer
        do throws(ProviderFailure) {
            server = try await self.server(spelling, url, metadata)
        } catch {
            guard error.error.cause == ProviderClient.otherSpelling else { throw error.error }
            spelling = OAuthServer.otherSpelling(of: issuer)
            server = try await converting(ProviderFailure.self, try await self.server(spelling, url, metadata))
        }
        guard server.endpoints.token != nil else {
            throw AgentError(
                .unsupported, "The authorization server \(issuer) has no token endpoint.", cause: "metadata")
        }
        guard server.endpoints.authorization == nil || server.challengeMethods?.contains("S256") == true else {
            throw AgentError(
                .unsupported,
                "The authorization server \(issuer) does not say that it supports S256 challenges (RFC 7636, "
                    + "code_challenge_methods_supported). Without them a stolen code could be used, so authd does not sign in "
                    + "there.", cause: "no_s256")
        }
        return (server, spelling)
    }

    private func server(
        _ issuer: String, _ url: ResourceURL, _ metadata: ResourceMetadata
    ) async throws(ProviderFailure) -> OAuthServer {
        var profile = ProviderProfile(
            ProtectedResource(url: url.text, identifier: metadata.identifier, issuer: issuer))
        profile.title = issuer
        return try await providers.server(of: profile, at: context.clock.now())
    }

    private func notes(
        on url: ResourceURL, _ failures: [(issuer: String, error: AgentError)], _ issuer: String, _ spelling: String
    ) -> [String] {
        var notes = failures.map { "The authorization server \($0.issuer) was not used: \($0.error.message)" }
        if !failures.isEmpty { notes.append("The authorization server is \(spelling).") }
        if spelling != issuer {
            notes.append(
                "The metadata of \(url) spells its authorization server \(issuer); its correct name is \(spelling).")
        }
        return notes
    }
}
