package import AuthConcurrency
import AuthMachines
package import AuthModel
package import AuthWire

/// Checks the user's presence: runs ``PresenceMachine``, and has polkit asked.
package final class PresenceService: Sendable {
    private let runner: Runner<PresenceMachine>

    package init(context: AgentContext, check: any PresenceCheck) {
        runner = Runner(PresenceMachine(), performer: PresencePerformer(check: check), tasks: context.tasks)
    }

    /// Returns when the user has confirmed. A cancelled task no longer waits.
    package func confirm(_ question: PresenceQuestion) async throws(AgentError) {
        let reply = try await converting(WaitEnd.self, try await runner.ask { .asked($0, question) })
        if case .failure(let error) = reply { throw error }
    }

    /// Drops what is remembered.
    package func agentLocked() async { await runner.send(.locked) }

    /// Follows the settings until it is cancelled.
    package func run(settings: StateBroadcast<PresenceSettings>) async {
        for await settings in settings.states() { await runner.send(.configured(settings)) }
        await runner.close()
    }
}

private struct PresencePerformer: ActionPerformer {
    let check: any PresenceCheck

    func perform(_ action: PresenceMachineAction, on runner: isolated Runner<PresenceMachine>) {
        switch action {
        case .ask(let question, let number):
            runner.start { [check] in .answered(number, await check.ask(question, number: number)) }
        case .withdraw(let number): check.withdraw(number)
        }
    }
}
