/// An authorization server and its API that answer as the public pages of one provider say (Docs/providers).
package final class ProviderStandIn: Sendable {
    package enum Provider: String, CaseIterable, Sendable {
        case atlassian, discord, github, google, linear, microsoft, notion, slack, spotify
    }

    package struct Configuration: Sendable {
        package var clientID = "authd-test"
        /// GitHub: the app's tokens expire.
        package var tokensExpire = true

        package init() {}
    }

    /// What `Docs/providers/entra.md` enters.
    package static let tenant = "2f4a9838-26b7-47ee-be60-ccc1fdec5953"
    /// The secret for providers that require one.
    package static let clientSecret = "s3cret_of-the.client"

    let state: OAuthState
    private let listener: Listener
    package let provider: Provider

    private init(_ provider: Provider, _ configuration: Configuration) throws {
        var settings = OAuthStandIn.Configuration()
        settings.clientID = configuration.clientID
        if provider == .microsoft { settings.tenant = Self.tenant }
        let state = OAuthState(settings)
        // Only servers with RFC 9207 name themselves in the redirect.
        state.inject(.omitsIssuer, times: .max)
        self.state = state
        self.provider = provider
        let server = ProviderServing(
            provider: provider, configuration: configuration, base: OAuthServing(state: state, signer: IDTokenSigner()))
        listener = try Listener(host: "127.0.0.1", respond: server.respond)
        state.use(issuer: url + (provider == .microsoft ? "/\(Self.tenant)/v2.0" : ""))
    }

    /// Runs the server while the body runs.
    package static func serving<Result: Sendable>(
        _ provider: Provider, _ configuration: Configuration = Configuration(),
        _ body: @Sendable @escaping (ProviderStandIn) async throws -> Result
    ) async throws -> Result {
        let standIn = try ProviderStandIn(provider, configuration)
        return try await withServer(standIn.listener.run) {
            try await standIn.listener.waitUntilListening()
            return try await body(standIn)
        }
    }

    /// The origin in place of the provider's own ones.
    package var url: String { "http://\(listener.authority)" }
    package var counts: OAuthStandIn.Counts { state.counts.value }
    /// Access and refresh tokens, in the order in which they were issued.
    package var tokens: [String] { state.secrets.all(.token) }
    package var secrets: [String] { tokens + state.secrets.all(.code) }

    /// The user enters the code, and approves or denies.
    package func decide(userCode: String, approve: Bool) throws {
        try state.decide(userCode: userCode, approve: approve)
    }

    /// The user removes the access: no token is valid any more.
    package func removeAccess() { state.endSessions() }

    package func waitForCounts(_ matches: @escaping @Sendable (OAuthStandIn.Counts) -> Bool) async throws {
        try await state.counts.wait(until: matches)
    }

    package func inject(_ fault: OAuthStandIn.Fault) { state.inject(fault, times: 1) }

    /// Ends every access token, and no session.
    package func expireTokens() { state.expireTokens() }
}
