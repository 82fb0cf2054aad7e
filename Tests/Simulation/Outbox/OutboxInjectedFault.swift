import AuthMachines
import AuthModel
import AuthWire

/// A fault between the outbox machine and its environment, which the checker must find.
package enum OutboxInjectedFault: String, InjectedFault {
    case sendsTwice, answersTwice, answersLate, ignoresDeadlines
    case losesEntriesAtStart, readsInReverse
    /// The next write is sent before the end of the former is recorded.
    case advancesBeforeRecorded
    case treatsEachRefusalAsFinal, removesUnanswered
    case overlooksHolds, sendsWhileOffline
    /// A write is sent again after its answer.
    case repeatsAnsweredWrites
    /// The machine's clock runs a thousand times too fast.
    case shortensPauses

    package var rule: Rule {
        switch self {
        case .sendsTwice: .oneWrite
        case .answersTwice, .answersLate: .writeAnswers
        case .ignoresDeadlines, .losesEntriesAtStart: .writeLiveness
        case .readsInReverse, .advancesBeforeRecorded: .writeOrder
        case .treatsEachRefusalAsFinal, .removesUnanswered: .lostWrite
        case .overlooksHolds: .writeHold
        case .sendsWhileOffline: .writeHold
        case .repeatsAnsweredWrites: .repeatedWrite
        case .shortensPauses: .writeThrift
        }
    }

    /// What the machine gets instead of an event.
    func changed(_ event: OutboxEvent) -> OutboxEvent {
        switch (self, event) {
        case (.losesEntriesAtStart, .stored(.success)): .stored(.success([]))
        case (.readsInReverse, .stored(.success(let entries))): .stored(.success(entries.reversed()))
        case (.treatsEachRefusalAsFinal, .answered(let id, .failure)):
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

    /// What the environment gets instead of an action.
    func changed(_ action: OutboxAction) -> [OutboxAction] {
        switch (self, action) {
        case (.sendsTwice, .send): [action, action]
        case (.removesUnanswered, .send(let entry, _, _)): [action, .store(.remove(entry.id))]
        default: [action]
        }
    }
}
