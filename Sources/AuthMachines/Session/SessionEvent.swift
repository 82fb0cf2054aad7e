package import AuthModel
package import AuthWire

/// One renewal under way. A result that names another one is dropped.
package struct RenewalRequestID: Sendable, Hashable {
    package let number: UInt64

    package init(_ number: UInt64) {
        self.number = number
    }
}

/// All that can happen to a session.
package enum SessionEvent: Sendable {
    /// The first event.
    case begun

    // What callers ask.
    case tokenWanted(CallerID, minValid: Duration?)
    case aimedTokenWanted(CallerID, TokenTarget, minValid: Duration?)
    case renewalWanted(CallerID)
    /// A program got a 401 with this token.
    case rejected(CallerID, Secret)
    /// With `revokes` the provider is told, also of what a renewal brings that is under way.
    case signOutRequested(CallerID, revokes: Bool = true)
    /// Answered once what is in memory is in the store, or could not be written.
    case writeWanted(CallerID)
    /// Answered once no request to the provider is under way.
    case requestsEndWanted(CallerID)
    case callerGone(CallerID)

    // What a sign-in and other writers bring.
    /// A new sign-in to this session: what came before it is over.
    /// - Parameter revokesFormer: another account had it, whose tokens are of no more use here.
    case replaced(SessionRecord, sentAt: Moment, revokesFormer: Bool = false)
    case userReceived(UserSummary, raw: JSON)
    /// The account has this password now. Where answers are remembered, it goes into the field of that name.
    case passwordSet(Secret, rememberedAs: String?)
    case defaultChosen
    /// It is the default session because it is the only one, and another one is about to come.
    case defaultImplied
    /// Another session was chosen, or the default session went away: what made this one the default then no longer counts.
    case defaultEnded(since: WallTime)
    /// The profile has changed: what renews this session now.
    case renewable(RenewalMeans)
    /// Where the profile has tokens sent was compared with where the session was signed in; an error: to another place.
    case originsChecked(AgentError?)
    /// The user, or a first sight, has agreed to these places.
    case originsTrusted(TokenOrigins)

    // What came of the machine's own actions.
    case flightEnded(RenewalRequestID, Result<Grant, ProviderFailure>, sentAt: Moment)
    case storeReread(RenewalRequestID, Result<SessionRecord?, StoreError>)
    case saved(RecordVersion)
    /// Not written: the store holds this, which is newer in a part, or of another sign-in.
    case saveRefused(RecordVersion, SessionRecord)
    case saveFailed(RecordVersion, StoreError)
    case deleted
    case deleteFailed(StoreError)
    /// What the store holds of it, asked for by ``SessionAction/compare``.
    /// - Parameter isLost: what is not there was lost by the store, and not removed by anybody.
    case compared(Result<SessionRecord?, StoreError>, isLost: Bool = false)

    // What the world does.
    case wake
    /// The provider is to be asked soon whether the session is good, though nothing says that it is not.
    case checkDue
    case storeReady
    /// Another service is behind the store than before: whether that accepts a write is not known yet.
    case storeReplaced
    /// Somebody else may have changed or removed what the store holds of it.
    case storeChanged
    case networkChanged(NetworkState)
    /// The wall clock was set, by hand or by a time server; CLOCK_BOOTTIME went on.
    case clockSet
}

/// What a session wants done. Results come back as events.
package enum SessionAction: Sendable {
    case renew(RenewalRequestID, SessionRecord)
    case obtain(RenewalRequestID, SessionRecord, TokenTarget)
    case reread(RenewalRequestID)
    /// To be written over what is not newer; with `replacesOther` also over another sign-in.
    case save(SessionRecord, replacesOther: Bool)
    /// The store holds this, and it is to be written once more, to see whether the store accepts a write. What comes of it is
    /// told as of a save.
    case rewrite(SessionRecord)
    case delete(SessionName)
    /// Signed out, and the provider has given these since: they are to be revoked.
    case revoke(SessionRecord)
    /// What the store holds is to be held against what is here.
    case compare
    /// The next run is to have this, before the store is asked for what follows; `nil`: nothing.
    case handOver(HandedOverSession?)
    /// The state others see has changed.
    case publish(SessionSnapshot)
    /// Nothing is left of this session: it can be forgotten.
    case forget
}

package typealias SessionTurn = Turn<SessionAction, SessionReply>

package enum SessionReply: Sendable {
    case token(TokenResult)
    case done
    case failure(AgentError)
}
