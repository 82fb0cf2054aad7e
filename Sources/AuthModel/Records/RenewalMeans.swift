/// What renews a session.
package enum RenewalMeans: Sendable, Equatable {
    /// Nothing: it ends with its token.
    case none
    /// The access token itself, so it must be renewed before it ends.
    case liveToken
    /// Something that outlives the access token: a refresh token, the client itself, a remembered sign-in.
    case lasting
}
