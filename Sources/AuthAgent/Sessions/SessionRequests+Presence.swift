import AuthModel
package import AuthWire

extension SessionRequests {
    /// - Throws: why the session has no token before the user signs in or unlocks the store: nothing could be released.
    package func requireToken(of name: SessionName?) async throws(AgentError) {
        let status = try registry.status(try await registry.session(name).name)
        switch status.state {
        case .signedOut: throw .notSignedIn(status.session, at: status.provider)
        case .signInRequired:
            throw .signInRequired(
                status.session, at: status.provider, cause: status.cause ?? ErrorKind.signInRequired.rawValue)
        default: break
        }
    }
}
