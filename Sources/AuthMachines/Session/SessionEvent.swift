package import AuthModel
package import AuthWire

/// Identifies one renewal in progress. A result with another ID is dropped.
package struct RenewalRequestID: Sendable, Hashable {
    package let number: UInt64
}

/// Everything that can happen to a session.
package enum SessionEvent: Sendable {
    /// The first event.
    case begun

    // Requests of callers.
    case tokenRequested(CallerID, minValid: Duration?)
    /// - Parameter isNew: whether a token must be requested even if a valid one is known.
    indirect case targetedTokenRequested(CallerID, TokenTarget, minValid: Duration?, isNew: Bool = false)
    case renewalRequested(CallerID)
    /// A program got a 401 with this token.
    /// - Parameter isFinal: whether it was the provider's final answer about a session that nothing renews.
    case rejected(CallerID, Secret, isFinal: Bool = false)
    /// With `revokes` the tokens are revoked at the provider, including those of a renewal in progress.
    case signOutRequested(CallerID, revokes: Bool = true)
    /// Answered when the newest record is in the store, or could not be written.
    case writeRequested(CallerID)
    /// Answered when no request to the provider is in progress.
    case requestsEndRequested(CallerID)
    case callerGone(CallerID)

    // From sign-ins and other writers.
    /// A new sign-in to this session: everything before is over.
    /// - Parameter revokesFormer: it was another account's session, whose tokens are not needed any more.
    indirect case replaced(SessionRecord, sentAt: Moment, revokesFormer: Bool = false)
    indirect case userReceived(UserSummary, raw: JSON)
    /// The account has this password now. If answers are remembered, it is stored in the field of that name.
    case passwordSet(Secret, rememberedAs: String?)
    /// The agent is locked: tokens for a scope or an audience are requested again later.
    case targetedTokensDropped
    /// The user has chosen this session as the default one.
    /// - Parameter after: the latest mark of another session.
    case defaultChosen(after: WallTime? = nil)
    /// It is the default session because it is the only one, and another one is about to be added.
    case defaultImplied
    /// Another session was chosen, or the default session went away: the mark of this one no longer counts.
    case defaultEnded(since: WallTime)
    /// The profile has changed: what renews this session now.
    case renewable(RenewalMeans)
    /// Whether other hosts renew this session too.
    case shared(Bool)
    /// The profile's origins were compared with those of the session; an error if they differ.
    indirect case originsChecked(AgentError?)
    /// The user, or the first use, has agreed to these origins.
    indirect case originsTrusted(TokenOrigins)

    // Results of the machine's own actions.
    indirect case requestEnded(RenewalRequestID, Result<Grant, ProviderFailure>, sentAt: Moment)
    /// The request was not sent: the store has tokens that another host has renewed; `nil`: the record is gone.
    indirect case overtaken(RenewalRequestID, SessionRecord?)
    /// The request was not sent: the cluster could not decide which host renews.
    indirect case notSent(RenewalRequestID, StoreError)
    indirect case storeReread(RenewalRequestID, Result<SessionRecord?, StoreError>)
    case saved(RecordVersion)
    /// Not written: the store has this record, which is newer in a part, or of another sign-in.
    indirect case saveRefused(RecordVersion, SessionRecord)
    /// Not written: another host has renewed the session since this one lost its hold, and the store has that record.
    indirect case saveOvertaken(RecordVersion, SessionRecord)
    indirect case saveFailed(RecordVersion, StoreError)
    /// The store has no record of the sign-in any more.
    /// - Parameter removed: what was there, if the store knows it.
    indirect case deleted(_ removed: SessionRecord? = nil)
    indirect case deleteFailed(StoreError)
    /// The stored record, requested with ``SessionAction/compare``.
    /// - Parameter absence: what is known of a missing record.
    indirect case compared(Result<SessionRecord?, StoreError>, absence: RecordAbsence = .unsure)

    // External events.
    case wake
    /// The provider is to be asked soon whether the session is valid, without a sign that it is not.
    case checkDue
    case storeReady
    /// Another service is behind the store: it is unknown whether it accepts a write.
    case storeReplaced
    /// Another program may have changed or removed the stored record.
    case storeChanged
    case networkChanged(NetworkState)
    /// The wall clock was set by hand or by a time server; CLOCK_BOOTTIME continued.
    case clockSet
}

/// An action for a session. Results come back as events.
package enum SessionAction: Sendable {
    indirect case renew(RenewalRequestID, SessionRecord)
    indirect case requestTargeted(RenewalRequestID, SessionRecord, TokenTarget)
    case reread(RenewalRequestID)
    /// Replaces records that are not newer; with `replacesOther`, even those of another sign-in.
    indirect case save(SessionRecord, replacesOther: Bool)
    /// The store has this record, and it is written once more, to see whether the store accepts a write. The result is that
    /// of a save.
    indirect case rewrite(SessionRecord)
    case delete(SessionName)
    /// Signed out, and the provider has issued these since: they must be revoked.
    indirect case revoke(SessionRecord)
    /// Compare the stored record with the current one.
    case compare
    /// Pass this to the next run, before the following store call; `nil`: nothing.
    indirect case handOver(HandedOverSession?)
    /// The visible state has changed.
    indirect case publish(SessionSnapshot)
    /// Nothing is left of this session: it can be removed.
    case forget
}

package typealias SessionTurn = Turn<SessionAction, SessionReply>

package enum SessionReply: Sendable {
    case token(TokenResult)
    case done
    case failure(AgentError)
}
