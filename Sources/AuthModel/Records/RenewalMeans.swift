/// What renews a session.
package enum RenewalMeans: Sendable, Equatable {
    /// Nothing: it ends with its token.
    case none
    /// Its access token itself, so that it has to be renewed before the end of that.
    case liveToken
    /// Something that outlives the access token: a refresh token, the client itself, a remembered sign-in.
    case lasting
}
