import AuthMachines
import AuthModel
import AuthWire

extension SignInDependencies {
    /// Sends the request to the server before the browser does (RFC 9126), if the server accepts that.
    /// - Parameters:
    ///   - registers: whether the provider registers clients. An unknown one can then be registered again.
    ///   - isOpenedAtOnce: `false`: the user carries the address to another machine. Many servers keep a request for a minute
    ///     only (§2.2), so it is sent only to one that accepts nothing else.
    /// - Throws: if it was not accepted, and no browser can send the request either.
    func push(
        _ attempt: inout AuthorizationAttempt, at authority: ProviderProfile, _ server: OAuthServer,
        as client: OAuthClient, registers: Bool = false, isOpenedAtOnce: Bool = true, _ providers: ProviderClient,
        at now: Moment
    ) async throws(AgentError) {
        let isRequired = server.requiresPushedRequests || authority.oauth?.requiresPushedRequests == true
        guard isRequired || (isOpenedAtOnce && server.endpoints.pushedAuthorization != nil) else { return }
        do throws(ProviderFailure) {
            let pushed = try await providers.push(attempt, at: authority, as: client, sentAt: now)
            attempt.pushed(as: pushed.name, lifetime: pushed.lifetime)
        } catch {
            // If nothing can be reached, a browser cannot either. An unknown client registers again.
            let isUnknown = error.error.isUnknownClient && registers
            guard !isRequired, !isUnknown, ![.offline, .captivePortal].contains(error.error.kind) else {
                throw error.error
            }
            note(
                "\(authority.title) did not accept the pushed request (RFC 9126); the browser sends all of it: "
                    + error.error.message)
        }
    }
}
