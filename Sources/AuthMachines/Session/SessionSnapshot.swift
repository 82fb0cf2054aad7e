package import AuthModel
package import AuthWire

/// What others may see of a session, and the token they may have: enough to answer without asking its actor.
package struct SessionSnapshot: Sendable, Equatable {
    package var status: SessionStatus
    package var signIn: SignInID
    /// The access token while it may be given out at all; its end is checked at each use.
    package var token: Secret?
    /// It is given out only by the session's actor, which renews it first if it can.
    package var isSuspect = false
    package var tokenType: String
    package var end: BootInstant?
    package var life: Duration?
    /// How many of the warnings before the session's end are due.
    package var ending = 0
    package var defaultSince: WallTime?
    /// As ``SessionRecord/isDefaultImplied``.
    package var isDefaultImplied = false
    package var pause: RenewalPause?
}
