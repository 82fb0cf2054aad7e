package import AuthModel
package import AuthWire

/// The visible state of a session, and its token: enough to answer without its actor.
package struct SessionSnapshot: Sendable, Equatable {
    @Shared package var status: SessionStatus
    package var signIn: SignInID
    /// The access token if it may be returned; its expiry is checked at each use.
    package var token: Secret?
    /// Only the session's actor returns it, after a renewal if possible.
    package var isSuspect = false
    package var tokenType: String
    package var end: BootInstant?
    package var life: Duration?
    /// How many of the warnings before the session's end are due.
    package var ending = 0
    package var defaultSince: WallTime?
    package var isDefaultImplied = false
    package var pause: RenewalPause?
}
