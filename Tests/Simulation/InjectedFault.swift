import AuthMachines
import AuthModel
import AuthWire

/// A fault put between the machine and the world on purpose: that the referee sees it proves that he looks.
package enum InjectedFault: String, Sendable, CaseIterable {
    case tellsBeforeTheStoreHasIt, writesTheFormerTokens
    /// The store says yes and keeps nothing.
    case losesWrites
    case sleepsThroughAlarms, sendsTwice
    case handsOutEndedTokens, takesAnyNoForTheLast
    case deletesOnTheLastNo, overlooksNewSignIns, overlooksPortals, overlooksRemovals
    case answersTwice, forgetsCallers
    case ignoresTimeout, keepsNagging
    case spendsUnproven
    case dropsLateRevocations, waitsBeyondTheEnd

    /// The rule that is broken by it.
    package var rule: Rule {
        switch self {
        case .tellsBeforeTheStoreHasIt, .writesTheFormerTokens: .storeFirst
        case .losesWrites, .overlooksRemovals: .stored
        case .sleepsThroughAlarms: .liveness
        case .sendsTwice: .oneFlight
        case .handsOutEndedTokens: .endedToken
        case .takesAnyNoForTheLast: .verdict
        case .deletesOnTheLastNo: .deletion
        case .overlooksNewSignIns: .generation
        case .overlooksPortals: .portal
        case .answersTwice, .forgetsCallers: .answers
        case .ignoresTimeout, .keepsNagging: .notices
        case .spendsUnproven: .proof
        case .dropsLateRevocations: .revoked
        case .waitsBeyondTheEnd: .lastChance
        }
    }

    /// Whether the machine does not hear of an event.
    func swallows(_ event: SessionEvent) -> Bool {
        switch (self, event) {
        case (.overlooksNewSignIns, .replaced), (.overlooksPortals, .networkChanged(.portal)),
            (.overlooksRemovals, .storeChanged):
            true
        default: false
        }
    }

    /// What the world gets to see of what the machine has decided.
    func changed(_ turn: SessionTurn, for seat: SimulatedSession?) -> SessionTurn {
        var changed = turn
        changed.actions = turn.actions.flatMap { self.changed($0, seat) }
        switch self {
        case .answersTwice: changed.replies = turn.replies.flatMap { [$0, $0] }
        case .forgetsCallers: changed.replies.removeAll { if case .failure = $0.reply { true } else { false } }
        case .waitsBeyondTheEnd:
            if let end = seat?.snapshot?.end, seat?.snapshot?.token != nil { changed.wakeUp = end }
        default: break
        }
        return changed
    }

    private func changed(_ action: SessionAction, _ seat: SimulatedSession?) -> [SessionAction] {
        switch (self, action) {
        case (.tellsBeforeTheStoreHasIt, .save(let record, _)):
            guard var early = seat?.snapshot, seat?.machine.currentRequest != nil else { return [action] }
            early.token = record.tokens.accessToken
            return [.publish(early), action]
        case (.writesTheFormerTokens, .save(var record, let replacesOther)):
            record.tokens = seat?.machine.record.tokens ?? record.tokens
            return [.save(record, replacesOther: replacesOther)]
        case (.handsOutEndedTokens, .publish(var snapshot)) where snapshot.status.state == .stale:
            snapshot.token = seat?.machine.record.tokens.accessToken
            snapshot.end = nil
            return [.publish(snapshot)]
        case (.takesAnyNoForTheLast, .publish(var snapshot)) where snapshot.status.lastError != nil:
            snapshot.status.state = .signInRequired
            return [.publish(snapshot)]
        case (.deletesOnTheLastNo, .publish(let snapshot)) where snapshot.status.state == .signInRequired:
            return [action, .delete(snapshot.status.session)]
        case (.spendsUnproven, .rewrite(let record)):
            return seat?.machine.currentRequest.map { [.renew($0.id, record)] } ?? [action]
        case (.sendsTwice, .renew): return [action, action]
        case (.dropsLateRevocations, .revoke): return []
        default: return [action]
        }
    }
}
