import AuthConcurrency
import AuthMachines
package import AuthModel
package import AuthWire

/// Asks the user about programs: runs ``ConsentMachine``, and has questions shown.
package final class ConsentService: Sendable {
    private let runner: Runner<ConsentMachine>

    /// - Parameters:
    ///   - hasLoginSession: whether the user has one, on whose terminal a question could be answered.
    ///   - log: for the user.
    package init(
        context: AgentContext, prompt: any ConsentPrompt, hasLoginSession: @escaping @Sendable () async -> Bool,
        log: @escaping @Sendable (String) -> Void
    ) {
        runner = Runner(
            ConsentMachine(),
            performer: ConsentPerformer(prompt: prompt, hasLoginSession: hasLoginSession, log: log),
            tasks: context.tasks)
    }

    /// Returns when the user has allowed it. A cancelled task no longer waits.
    package func confirm(_ question: ConsentQuestion) async throws(AgentError) {
        _ = try await ask { .asked($0, question) }
    }

    package func list() async throws(AgentError) -> ConsentList {
        guard case .questions(let questions) = try await ask({ .listRequested($0) }) else { throw .stopping }
        return ConsentList(questions: questions)
    }

    /// - Parameter isHidden: whether the client must not see the session. A question about it is unknown.
    package func answer(
        _ call: ConsentAnswerCall, by subject: PresenceSubject, without isHidden: ((SessionName) -> Bool)? = nil
    ) async throws(AgentError) {
        if let isHidden {
            // No other question ever has this number.
            let question = try await list().questions.first { $0.number == call.question }
            if let session = question?.session, isHidden(session) { throw .unknownQuestion }
        }
        let time = call.minutes.map { min(Duration.seconds($0) * 60, Limits.longestDuration) }
        let answer = call.allowed ? ConsentAnswer.allowed(remembered: time) : .refused
        _ = try await ask { .answered($0, question: UInt64(clamping: call.question), answer, by: subject) }
    }

    /// Drops what is remembered.
    package func agentLocked() async { await runner.send(.locked) }

    /// Returns when it is cancelled. Callers that still wait then get `stopping`, and so do later ones.
    package func run() async {
        _ = await OneShot<Void>().value()
        await runner.close()
    }

    private func ask(_ event: @Sendable (CallerID) -> ConsentEvent) async throws(AgentError) -> ConsentResult {
        let result = try await converting(WaitEnd.self, try await runner.ask(event))
        if case .failure(let error) = result { throw error }
        return result
    }
}

private struct ConsentPerformer: ActionPerformer {
    let prompt: any ConsentPrompt
    let hasLoginSession: @Sendable () async -> Bool
    let log: @Sendable (String) -> Void

    func perform(_ action: ConsentAction, on runner: isolated Runner<ConsentMachine>) {
        switch action {
        case .show(let question, let number):
            runner.start { [prompt, hasLoginSession, log] in
                async let shown = prompt.show(question, number: number)
                let hasLoginSession = await hasLoginSession()
                if hasLoginSession {
                    let text = question.lines.joined(separator: "; ")
                    log("A program waits for your answer: run `authc approve`. \(text)")
                }
                let reply = await shown
                return .shown(number, reply == .notShown && !hasLoginSession ? .unanswerable : reply)
            }
        case .withdraw(let number): prompt.withdraw(number)
        }
    }
}
