import AuthMachines
import AuthModel
import AuthWire

/// A fault between the session machine and its environment, which the checker must find.
package enum SessionInjectedFault: String, InjectedFault {
    case publishesBeforeSaving, writesTheFormerTokens
    /// The store reports success and stores nothing.
    case losesWrites
    /// The store does not keep the user.
    case losesUsers
    case ignoresDeadlines, sendsTwice
    case returnsExpiredTokens, treatsEachRefusalAsFinal, treatsEarlyRefusalsAsFinal, overlooksRefusals
    case deletesAfterRefusal, overlooksNewSignIns, overlooksPortals, overlooksRemovals
    case answersTwice, answersLate, forgetsCallers
    case ignoresTimeout, keepsNotices
    case spendsUnproven
    case dropsLateRevocations, keepsTargetedTokens, waitsBeyondTheEnd
    /// Callers get an error although the token is good.
    case withholdsTokens
    /// Replies with a token are lost.
    case losesTokens
    case treatsFailuresAsFinal
    /// A request that has failed is sent again at once, until its time is over.
    case repeatsFailedRequests
    case skipsTheQueue, ignoresRetryAfter

    package var rule: Rule {
        switch self {
        case .publishesBeforeSaving, .writesTheFormerTokens: .storeFirst
        case .losesWrites, .losesUsers, .overlooksRemovals: .stored
        case .ignoresDeadlines: .liveness
        case .sendsTwice: .oneFlight
        case .returnsExpiredTokens: .endedToken
        case .treatsEachRefusalAsFinal: .verdict
        case .treatsEarlyRefusalsAsFinal, .overlooksRefusals: .early
        case .deletesAfterRefusal: .deletion
        case .overlooksNewSignIns: .generation
        case .overlooksPortals: .portal
        case .answersTwice, .answersLate, .forgetsCallers: .answers
        case .ignoresTimeout, .keepsNotices: .notices
        case .spendsUnproven: .proof
        case .dropsLateRevocations, .keepsTargetedTokens: .revoked
        case .waitsBeyondTheEnd: .lastChance
        case .withholdsTokens, .losesTokens: .goodToken
        case .treatsFailuresAsFinal: .lostSession
        case .repeatsFailedRequests: .thrift
        case .skipsTheQueue: .spread
        case .ignoresRetryAfter: .hold
        }
    }

    /// Whether the machine does not get an event.
    func swallows(_ event: SessionEvent) -> Bool {
        switch (self, event) {
        case (.overlooksNewSignIns, .replaced), (.overlooksPortals, .networkChanged(.portal)),
            (.overlooksRemovals, .storeChanged):
            true
        default: false
        }
    }

    /// What the environment gets instead of the machine's decisions.
    func changed(_ turn: SessionTurn, for seat: SimulatedSession?) -> SessionTurn {
        var changed = turn
        changed.actions = turn.actions.flatMap { self.changed($0, seat) }
        switch self {
        case .answersTwice: changed.replies = turn.replies.flatMap { [$0, $0] }
        case .forgetsCallers: changed.replies.removeAll { if case .failure = $0.reply { true } else { false } }
        case .withholdsTokens: changed.replies = turn.replies.map { ($0.caller, $0.reply.withoutToken) }
        case .losesTokens: changed.replies.removeAll { if case .token = $0.reply { true } else { false } }
        case .waitsBeyondTheEnd:
            if let end = seat?.snapshot?.end, seat?.snapshot?.token != nil { changed.wakeUp = end }
        default: break
        }
        return changed
    }

    private func changed(_ action: SessionAction, _ seat: SimulatedSession?) -> [SessionAction] {
        switch (self, action) {
        case (.publishesBeforeSaving, .save(let record, _)):
            guard var early = seat?.snapshot, seat?.machine.currentRequest != nil else { return [action] }
            early.token = record.tokens.accessToken
            return [.publish(early), action]
        case (.writesTheFormerTokens, .save(var record, let replacesOther)):
            record.tokens = seat?.machine.record.tokens ?? record.tokens
            return [.save(record, replacesOther: replacesOther)]
        case (.losesUsers, .save(var record, let replacesOther)):
            record.user = nil
            return [.save(record, replacesOther: replacesOther)]
        case (.returnsExpiredTokens, .publish(var snapshot)) where snapshot.status.state == .stale:
            snapshot.token = seat?.machine.record.tokens.accessToken
            snapshot.end = nil
            return [.publish(snapshot)]
        case (.treatsEachRefusalAsFinal, .publish(var snapshot)) where snapshot.status.lastError != nil:
            snapshot.status.state = .signInRequired
            return [.publish(snapshot)]
        case (.treatsEarlyRefusalsAsFinal, .publish(var snapshot)) where snapshot.status.cause == "renewal_refused":
            snapshot.status.state = .signInRequired
            return [.publish(snapshot)]
        case (.deletesAfterRefusal, .publish(let snapshot)) where snapshot.status.state == .signInRequired:
            return [action, .delete(snapshot.status.session)]
        case (.spendsUnproven, .rewrite(let record)):
            return seat?.machine.currentRequest.map { [.renew($0.id, record)] } ?? [action]
        case (.sendsTwice, .renew): return [action, action]
        case (.dropsLateRevocations, .revoke): return []
        default: return [action]
        }
    }
}

extension SessionReply {
    fileprivate var withoutToken: SessionReply {
        if case .token = self { .failure(AgentError(.providerUnreachable, "no")) } else { self }
    }
}
