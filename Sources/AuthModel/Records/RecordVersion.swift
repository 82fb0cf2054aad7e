/// The version of each part of a record, so that two records of one sign-in can be merged.
///
/// The parts change independently: another program may renew the tokens while the user is changed here.
package struct RecordVersion: Sendable, Hashable {
    package let signIn: SignInID
    /// Counts the tokens that the provider has issued or prolonged for this session.
    package let generation: UInt64
    /// Counts the corrections of its tokens' dates after clock changes.
    package let corrections: UInt64
    /// Counts changes of the rest: the user, the default, the remembered sign-in.
    package let revision: UInt64

    /// Whether no part of the other is newer, for the same sign-in.
    package func covers(_ other: RecordVersion) -> Bool {
        signIn == other.signIn && hasTokens(of: other) && revision >= other.revision
    }

    /// Whether the tokens are at least as new as those of the other version.
    package func hasTokens(of other: RecordVersion) -> Bool {
        (generation, corrections) >= (other.generation, other.corrections)
    }

    /// Whether both are of the same sign-in, and count the same tokens.
    package func hasSameTokens(as other: RecordVersion) -> Bool {
        signIn == other.signIn && generation == other.generation
    }

    /// Grows with every change of a record. The item of a session with the highest number was written last.
    package var number: UInt64 { generation + corrections + revision }
}

extension SessionRecord {
    package var version: RecordVersion {
        RecordVersion(signIn: signIn, generation: generation, corrections: corrections, revision: revision)
    }

    /// The newer of each part of two records of one sign-in: of the tokens, and of the user data.
    ///
    /// If neither part is newer, the other record's is used: it is the one in the store.
    package func merged(with other: SessionRecord) -> SessionRecord {
        var merged = self
        if !hasNewerTokens(than: other) { merged.adoptTokens(from: other) }
        if revision <= other.revision { merged.adoptUserData(from: other) }
        return merged
    }

    /// Whether this record may replace the stored one: nothing newer is lost.
    ///
    /// - Parameter replacesOther: whether it may also replace a record of another sign-in, which is an earlier one.
    package func mayReplace(_ stored: SessionRecord, replacesOther: Bool) -> Bool {
        guard stored.signIn == signIn else { return replacesOther }
        return stored == self
            || (hasNewerTokens(than: stored) || hasSameTokenPart(as: stored))
                && (revision > stored.revision || hasSameUserData(as: stored))
    }

    /// Whether this record of the same sign-in has the newer tokens.
    package func hasNewerTokens(than other: SessionRecord) -> Bool {
        let (mine, theirs) = ((generation, corrections), (other.generation, other.corrections))
        return mine == theirs ? tokens.issuedAt > other.tokens.issuedAt : mine > theirs
    }

    /// Whether they are two results of renewing the same tokens. Generation and corrections do not show which is later.
    package func isOtherResult(than other: SessionRecord) -> Bool {
        version.hasSameTokens(as: other.version) && !tokens.areSame(as: other.tokens)
    }

    /// Whether this access token has ended, and the other one has not, although it may be of an earlier generation. If
    /// a renewal does not replace the refresh token, hosts that cannot reach etcd renew independently.
    package func isOutlived(by other: SessionRecord, at now: WallTime) -> Bool {
        guard signIn == other.signIn, !tokens.areSame(as: other.tokens),
            tokens.refreshToken == other.tokens.refreshToken
        else { return false }
        let isReplaced = tokens.refreshToken != nil && !(tokens.keepsRefreshToken && other.tokens.keepsRefreshToken)
        return !isReplaced && tokens.hasEnded(at: now) && !other.tokens.hasEnded(at: now)
    }

    /// Whether another host has renewed the tokens that the result was requested with, and its renewal began later.
    /// - Parameter result: of a hold that is known to have ended before this record was written.
    package func isLaterResult(than result: SessionRecord) -> Bool {
        signIn == result.signIn && generation >= result.generation && !tokens.areSame(as: result.tokens)
    }

    /// Whether a host may send the tokens of its record if this one is stored: no other host has renewed the tokens,
    /// though one may have corrected their dates.
    package func allowsRenewal(of record: SessionRecord) -> Bool {
        guard signIn == record.signIn else { return false }
        let isSame = version.hasSameTokens(as: record.version) && tokens.areSame(as: record.tokens)
        return isSame || (!isOtherResult(than: record) && !hasNewerTokens(than: record))
    }

    /// Makes both parts newer than those of the other record, even if its sign-in differs.
    package mutating func raise(above other: SessionRecord) {
        raiseTokens(above: other)
        revision = max(revision, other.revision + 1)
    }

    /// Makes the tokens newer than those of the other record.
    package mutating func raiseTokens(above other: SessionRecord) {
        generation = max(generation, other.generation + 1)
        // So that ``RecordVersion/number`` grows too.
        corrections = max(corrections, other.corrections)
    }

    package mutating func adoptTokens(from other: SessionRecord) {
        tokens = other.tokens
        generation = other.generation
        corrections = other.corrections
    }

    /// Everything that users change.
    package mutating func adoptUserData(from other: SessionRecord) {
        user = other.user
        rawUser = other.rawUser
        userReceivedAt = other.userReceivedAt
        needsPassword = other.needsPassword
        remembered = other.remembered
        defaultSince = other.defaultSince
        isDefaultImplied = other.isDefaultImplied
        // An older authd omits them.
        origins = other.origins ?? origins
        revision = other.revision
    }

    private func hasSameTokenPart(as other: SessionRecord) -> Bool {
        var mine = self
        mine.adoptTokens(from: other)
        return mine == self
    }

    package func hasSameUserData(as other: SessionRecord) -> Bool {
        var mine = self
        mine.adoptUserData(from: other)
        return mine == self
    }
}
