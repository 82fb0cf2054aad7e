import AuthMachines
import AuthModel
import AuthWire

/// The bounds in the rules. They are those of the docs: if the constants of the agent were used here, a wrong one would
/// break no rule.
package enum InvariantChecker {
    /// After the last fault every session that the provider honours is active: the longest back-off is five minutes,
    /// and a request may have been on its way.
    package static let recovery = Duration.seconds(360)
    /// The longest that a caller waits: requests whose responses come late or never, a write in progress, one more, and a
    /// read.
    static func callerTimeout(requests: Int) -> Duration { .seconds(requests * 30 + 3 * 5 + 5) }
    /// A token that renews itself is renewed if everything is well for so long before its end: a request may have been on its
    /// way, and the wait after it is half of what is left.
    static let lastChance = Duration.seconds(45)
    /// More events mean that something repeats without end. Three sessions of two agents, with tokens of a second, have
    /// 220,000 in four hours.
    static let maxEvents = 1_000_000

    /// Refusals of one token's renewal while it is valid, not counting those that callers force: the first, and one
    /// near its end.
    static let maxEarlyRefusals = 2
    /// A provider that renews nothing before the end of a token leaves the session without one for a moment after it: two tries
    /// after the end are at most 18 s apart.
    static let gap = Duration.seconds(2 + 20)

    /// Renewals at one provider, whatever the number of sessions.
    static let maxInASecond = 10
    /// The longest `Retry-After` that is followed.
    static let longestHold = Duration.seconds(3600)
    /// How long a session is stale on a working network before its user is notified.
    static let staleLimit = Duration.seconds(600)
    /// How long a sign-in waits for its user.
    static let abandonedAfter = Duration.seconds(900)
    /// How long a host waits for the response to a renewal of a session that hosts share.
    static let sharedRequestLimit = Duration.seconds(30)

    /// Dates are fractions of seconds since 1970: less than this is lost in them.
    static let rounding = Duration.milliseconds(1)

    /// The most calls in one hour that no user requested, by the shortest life that was stated.
    ///
    /// A token is not renewed at a caller's request before it is 30 s or a quarter of its life old; one that is renewed
    /// without a request lives at least 5 s; each renewal may follow a failed try.
    static func maxCalls(life: Duration?) -> Int {
        60 + 2 * Int(3600 / max(5, youngest(life: life ?? .seconds(3600)).seconds))
    }

    /// How old a token must be for a 401 to count.
    private static func youngest(life: Duration?) -> Duration { min(.seconds(30), life.map { $0 / 4 } ?? .seconds(30)) }

    static func canReject(age: Duration, life: Duration?) -> Bool { age >= youngest(life: life) }
}

// MARK: Checks at each step

extension SimulationRun {
    /// Rule 1.
    func checkOneFlight(_ record: SessionRecord, _ session: Int) {
        let account = provider.account(of: record.tokens)
        let inProgress = requests.values.count { $0.seat != nil && $0.seat === seats[session] && $0.account == account }
        if inProgress > 0 { report(.oneFlight, "a second renewal while one is in progress") }
    }

    /// Rule 23.
    func checkProven(_ record: SessionRecord, _ session: Int) {
        guard let refresh = record.tokens.refreshToken, seats[session]?.storeAccepted == false,
            store.records[key(session)]?.tokens.refreshToken == refresh
        else { return }
        report(.proof, "\(refresh.reveal()) is spent, and the store has not accepted a write yet")
    }

    /// Rules 10, 12 and 13.
    func checkCall(_ session: Int) {
        lately.removeFirst(lately.prefix { $0 <= now - .seconds(1) }.count)
        lately.append(now)
        if lately.count > InvariantChecker.maxInASecond { report(.spread, "\(lately.count) renewals within a second") }
        if now < heldUntil { report(.hold, "sent, and the provider asked clients to wait until \(heldUntil)") }
        let count = calls[session].send(at: now)
        history?[session].calls.append(now)
        coverage.calls += 1
        if count > InvariantChecker.maxCalls(life: calls[session].shortestLife(else: setting.life)) {
            report(.thrift, "\(count) calls within an hour")
        }
    }

    /// Rule 11: a request is not even begun.
    func checkNetwork(_ session: Int) {
        if reportedNetwork == .portal { report(.portal, "session \(session) sends while the network is a portal") }
    }

    /// Rule 7.
    func checkGeneration(of tokens: TokenSet, _ session: Int, _ operation: String) {
        guard let seat = seats[session], let account = provider.account(of: tokens) else { return }
        guard account != seat.account else { return }
        report(.generation, "a token of sign-in \(account) is \(operation), and sign-in \(seat.account) is in force")
    }

    /// Rules 2, 3a, 7: a token on its way to a caller.
    func checkReturned(_ token: String, _ session: Int) {
        guard let seat = seats[session], let facts = provider.issued[token] else { return }
        if facts.account != seat.account {
            report(.generation, "\(token) returned, and sign-in \(seat.account) is in force")
        }
        if seat.signOutAsked { report(.generation, "\(token) returned after the sign-out") }
        if seat.rejected.contains(token) { report(.endedToken, "\(token) returned after a 401 with it") }
        let end = seat.readings[token]?.doubtfulUntil ?? facts.end
        if let end, now >= end + InvariantChecker.rounding {
            report(.endedToken, "\(token) returned at \(now), and it ended at \(end)")
        }
        checkSettled(token, seat)
    }

    private func checkSettled(_ token: String, _ seat: SimulatedSession) {
        if let refresh = seat.issuedWith[token] {
            // It is returned once the refresh token that came with it is stored, or replaced by a later one.
            let isReplaced =
                provider.number(of: refresh) ?? 0 < provider.number(of: seat.machine.record.tokens.refreshToken) ?? 0
            if !seat.settledRefreshTokens.contains(refresh.reveal()), !isReplaced {
                report(.storeFirst, "\(token) is returned, and the store does not have \(refresh.reveal())")
            }
            return
        }
        if !seat.settled.contains(token) { report(.storeFirst, "\(token) is returned, and the store does not have it") }
    }

    /// Rules 2 and 4.
    func checkPublished(_ snapshot: SessionSnapshot, _ session: Int) {
        guard let seat = seats[session] else { return }
        if let token = snapshot.token?.reveal() {
            checkSettled(token, seat)
            if provider.issued[token].map({ $0.account != seat.account }) ?? false {
                report(.generation, "\(token) published, and sign-in \(seat.account) is in force")
            }
        }
        let wasLost = seat.snapshot?.status.state == .signInRequired
        guard snapshot.status.state == .signInRequired, !wasLost, setting.canRenew, renewable else { return }
        if !seat.sawFinal || !seat.readAgain { report(.verdict, "sign_in_required without a final answer and a look") }
        checkNotEarly(seat)
        if honours(session) { report(.lostSession, "sign_in_required, and the provider would go on") }
    }

    /// Whether the provider would accept the tokens of the agent or its store. If it renews only near the end of a
    /// token, an earlier refusal is final after a 401 that counts, or if the token has ended by a wrong clock.
    func honours(_ session: Int) -> Bool {
        if setting.renewsBeforeEnd != nil, let seat = seats[session] {
            let token = seat.machine.record.tokens.accessToken.reveal()
            if seat.reported.contains(token) || (wasClockSet && seat.readings[token] != nil) { return false }
        }
        if let seat = seats[session], provider.acceptsNow(seat.machine.record.tokens, at: now) { return true }
        guard let record = store.records[key(session)], provider.account(of: record.tokens) == seats[session]?.account,
            setting.renewsBeforeEnd == nil || !store.unseen.contains(key(session))
        else { return false }
        return provider.acceptsNow(record.tokens, at: now)
    }

    // MARK: Rule 34

    /// The access token, if there is a refresh token and if it is valid as far as the agent can know.
    private func validToken(_ seat: SimulatedSession, at time: Duration) -> String? {
        let token = seat.machine.record.tokens.accessToken.reveal()
        guard setting.means == .lasting, let facts = provider.issued[token], !seat.reported.contains(token),
            seat.readings[token] == nil || !wasClockSet,
            facts.end.map({ time + InvariantChecker.rounding < $0 }) ?? true
        else { return nil }
        return token
    }

    private func checkNotEarly(_ seat: SimulatedSession) {
        if let token = validToken(seat, at: now) { report(.early, "sign_in_required, and \(token) is valid") }
    }

    /// After a refusal, the agent asks once more near the token's end. Other agents and their tokens make it ask more often.
    func checkRefusal(_ request: Request, session: Int) {
        guard setting.agents == 1, let seat = seats[session], let token = validToken(seat, at: request.sent),
            token == request.tokens.accessToken.reveal()
        else { return }
        seat.earlyRefusals[token, default: 0] += 1
        let count = seat.earlyRefusals[token] ?? 0
        if count > InvariantChecker.maxEarlyRefusals + seat.forced[token, default: 0] {
            report(.early, "\(token) is valid, and its renewal was refused \(count) times")
        }
    }

    var callerTimeout: Duration { InvariantChecker.callerTimeout(requests: mayNeedTwoRequests ? 2 : 1) }

    /// Rule 8: no caller waits too long.
    func checkSeat(_ session: Int) {
        guard let first = seats[session]?.callers.min(by: { $0.since < $1.since }) else { return }
        checkWait(of: first.id, since: first.since)
    }

    func checkWait(of caller: CallerID, since: Duration) {
        if now - since > callerTimeout { report(.answers, "caller \(caller.number) waits since \(since)") }
    }

    func checkNoCallerWaits(_ session: Int) {
        if let caller = seats[session]?.callers.first { report(.answers, "caller \(caller.id.number) is forgotten") }
    }

    // MARK: Rule 3b

    /// The token that the agent knows to be good now.
    func goodToken(of session: Int) -> String? {
        // A token that the provider has perhaps revoked is renewed first.
        guard let seat = seats[session], !seat.signOutAsked, !seat.machine.signedOut,
            !seat.machine.record.tokens.isSuspect, let snapshot = seat.snapshot, let token = snapshot.token,
            snapshot.end.map({ moment.boot < $0 }) ?? true
        else { return nil }
        return token.reveal()
    }

    /// A caller gets an error, at once or after it has waited for a token with a longer life.
    func checkRefused(_ caller: CallerID, _ error: AgentError, _ session: Int) {
        guard let token = goodToken(of: session) else { return }
        report(.goodToken, "caller \(caller.number) gets '\(error.message)', and \(token) is good")
    }

    /// Only a caller that requires a longer life waits.
    func checkServed(_ caller: CallerID, _ token: String, _ session: Int) {
        guard isRunning(session), let seat = seats[session] else { return }
        if seat.callers.contains(where: { $0.id == caller }) {
            report(.goodToken, "caller \(caller.number) waits, and \(token) is good")
        }
    }

    /// A 401 with the token in use, which counts when it is old enough for that.
    func noteRejection(of token: String, _ session: Int) {
        guard let seat = seats[session], let facts = provider.issued[token], seat.readings[token]?.doubtfulUntil == nil,
            setting.rotation != .sliding, seat.machine.record.tokens.accessToken.reveal() == token,
            InvariantChecker.canReject(age: now - facts.sentAt - InvariantChecker.rounding, life: facts.life)
        else { return }
        seats[session]?.rejected.insert(token)
    }

    /// Whether a 401 with the token may count: it may be old enough by its age, or by the dates of the store.
    func mayCount(_ token: String, _ seat: SimulatedSession) -> Bool {
        guard let facts = provider.issued[token], seat.readings[token] == nil,
            !seat.machine.record.tokens.isSuspect
        else { return true }
        return InvariantChecker.canReject(age: now - facts.sentAt + InvariantChecker.rounding, life: facts.life)
    }

    // MARK: Rule 25

    /// Whether a session that its token renews goes without one, and there was time to renew it.
    func checkLastChance(_ snapshot: SessionSnapshot, _ session: Int) {
        guard setting.rotation == .bearer, let seat = seats[session], seat.snapshot?.token != nil,
            snapshot.token == nil, snapshot.status.state == .stale, let token = seat.snapshot?.token?.reveal(),
            let facts = provider.issued[token], !provider.accounts[facts.account].revoked,
            facts.end.map({ $0 <= now }) ?? false, !seat.rejected.contains(token)
        else { return }
        let isTroubled =
            provider.behaviour != .well || network != .online || reportedNetwork != .online || store.behaviour != .ready
            || running.contains(false) || !renewable || isDoubtful(token, facts, seat)
        let since = max(troubledUntil, provider.holdsOffUntil)
        guard !isTroubled, now - since > InvariantChecker.lastChance else { return }
        report(.lastChance, "\(token) has ended at \(now), and all was well since \(since)")
    }

    /// Whether a change of the clock may hide a token's end: it was read from the store, or requested before the change.
    private func isDoubtful(_ token: String, _ facts: SimulatedProvider.Issued, _ seat: SimulatedSession) -> Bool {
        guard let clockSetAt else { return false }
        return facts.sentAt <= clockSetAt || seat.readings[token] != nil
    }

    // MARK: When all is well again

    /// Rules 6 and 9, when the time for that is over.
    func checkRecovered() {
        guard violation == nil else { return }
        guard !running.contains(false) else { return report(.liveness, "the agent does not run") }
        checkAllNotified()
        for account in signedOut.keys.sorted() { checkSignedOut(account) }
        for session in seats.indices {
            guard let seat = seats[session] else {
                // An agent does not look for sessions that another one has begun.
                if let record = store.records[key(session)], setting.agents == 1 {
                    report(.liveness, "\(record.session) is in the store and nowhere else")
                }
                continue
            }
            if let caller = seat.callers.first { report(.answers, "caller \(caller.id.number) waits for ever") }
            checkActive(seat, session)
            checkStored(seat, session)
        }
    }

    private func checkActive(_ seat: SimulatedSession, _ session: Int) {
        guard !seat.signOutAsked else { return report(.liveness, "the sign-out has not come to its end") }
        guard setting.canRenew, honours(session), isSettled(session), let snapshot = seat.snapshot else { return }
        let isLive = snapshot.token != nil && snapshot.end.map { moment.boot < $0 } ?? true
        let isInGap = setting.renewsBeforeEnd != nil && snapshot.status.state == .stale
        if isInGap, let end = provider.end(of: seat.machine.record.tokens), now - end < InvariantChecker.gap { return }
        if snapshot.status.state != .active || !isLive {
            report(
                .liveness, "session \(session) is \(snapshot.status.state) (\(snapshot.status.cause ?? "no cause"))")
        }
        if setting.life != nil, seat.alarm == nil, seat.machine.currentRequest == nil {
            report(.liveness, "session \(session) has no deadline and nothing in progress")
        }
    }

    /// Two agents may spend one refresh token at the same moment. The one that is refused learns of it from the other's write.
    private func isSettled(_ session: Int) -> Bool {
        guard setting.agents > 1 else { return true }
        return !storeCalls.values.contains { key($0.session) == key(session) }
            && seats(of: key(session)).allSatisfy { seats[$0]?.machine.currentRequest == nil }
    }

    private func checkStored(_ seat: SimulatedSession, _ session: Int) {
        guard seat.machine.currentRequest == nil, !seat.signOutAsked else { return }
        let held = seat.machine.record
        guard let record = store.records[key(session)] else {
            return report(.stored, "session \(session) is not stored")
        }
        let isBusy = storeCalls.values.contains { key($0.session) == key(session) }
        if isOnlyWriter, !isBusy, !record.hasAll(of: held) {
            report(.stored, "the store does not hold all of session \(session)")
        }
        // What another program wrote unreported is found at the next read, which is the next renewal.
        if record.tokens != held.tokens, !provider.accepts(record.tokens, at: now),
            provider.accepts(held.tokens, at: now), !store.unseen.contains(key(session))
        {
            report(.stored, "the store holds tokens of session \(session) that are not those in use")
        }
    }
}

extension SessionRecord {
    /// Compares what changes while a session is in use.
    fileprivate func hasAll(of other: SessionRecord) -> Bool {
        tokens.areSame(as: other.tokens) && revision == other.revision && user == other.user
            && needsPassword == other.needsPassword
    }
}
