import AuthMachines
import AuthModel
import AuthWire

/// A fault put between the outbox and its world on purpose: that the referee sees it proves that he looks.
package enum OutboxInjectedFault: String, Sendable, CaseIterable {
    case sendsTwice, answersTwice, sleepsThroughAlarms
    case forgetsAtTheStart, readsBackwards
    /// An end is taken for written down before it is.
    case hastens
    case takesAnyNoForTheLast, strikesOutUnanswered
    case overlooksHolds, sendsWhileOffline

    /// The rule that is broken by it.
    package var rule: Rule {
        switch self {
        case .sendsTwice: .oneWrite
        case .answersTwice: .writeAnswers
        case .sleepsThroughAlarms, .forgetsAtTheStart: .writeLiveness
        case .readsBackwards, .hastens: .writeOrder
        case .takesAnyNoForTheLast, .strikesOutUnanswered: .lostWrite
        case .overlooksHolds: .writeHold
        case .sendsWhileOffline: .writeHold
        }
    }

    /// What reaches the machine.
    func changed(_ event: OutboxEvent) -> OutboxEvent {
        switch (self, event) {
        case (.forgetsAtTheStart, .stored(.success)): .stored(.success([]))
        case (.readsBackwards, .stored(.success(let entries))): .stored(.success(entries.reversed()))
        case (.takesAnyNoForTheLast, .answered(let id, .failure)):
            .answered(id, .failure(AgentError(.refused, "no")))
        case (.overlooksHolds, .answered(let id, .failure(let error))):
            .answered(id, .failure(AgentError(error.kind ?? .providerError, error.message)))
        case (.sendsWhileOffline, .statusChanged(let sessions, let mayLoad)):
            .statusChanged(
                sessions.mapValues { Deliverability(maySend: true, isReached: true, since: $0.since) }, mayLoad: mayLoad
            )
        default: event
        }
    }

    /// What the world gets to see of the machine's actions.
    func changed(_ action: OutboxAction) -> [OutboxAction] {
        switch (self, action) {
        case (.sendsTwice, .send): [action, action]
        case (.strikesOutUnanswered, .send(let entry, _, _)): [action, .store(.remove(entry.id))]
        default: [action]
        }
    }
}
