import AgentTestSupport
import AuthAgent
import AuthModel
import AuthWire
import Synchronization
import Testing

@Suite("The service that asks the user about programs", .timeLimit(.minutes(1)))
struct ConsentServiceTests {
    /// Nobody answers.
    private struct SilentPrompt: ConsentPrompt {
        func show(_ question: ConsentQuestion, number: UInt64) async -> ConsentReply {
            await Hold().pass()
            return .notShown
        }

        func withdraw(_ number: UInt64) {}
    }

    private static func question() throws -> ConsentQuestion {
        let subject = PresenceSubject(processID: 7, startTicks: 1, userID: 1000, executable: "/usr/bin/app")
        let request = AccessRequest(method: "token.get", access: .token, target: .named(try SessionName("example")))
        let program = ConsentProgram(
            subject, unit: "app.service", identity: .file(device: 1, inode: 2, hash: "ab"))
        return ConsentQuestion(program, request, from: .api, purpose: nil)
    }

    private static func error(of question: ConsentQuestion, _ consent: ConsentService) async -> AgentError? {
        do throws(AgentError) {
            try await consent.confirm(question)
            return nil
        } catch {
            return error
        }
    }

    /// A question is asked a moment after the request.
    private static func number(ofQuestionIn consent: ConsentService, _ example: ExampleProvider) async throws -> Int {
        while true {
            if let question = try await consent.list().questions.first { return question.number }
            try Task.checkCancellation()
            example.clock.advance(.seconds(1))
            await Task.yield()
        }
    }

    @Test("a question about a session that is hidden from a client is unknown to it, and stays open")
    func hidden() async throws {
        let example = try ExampleProvider(transport: ExampleProvider.numbering())
        let question = try Self.question()
        try await example.running { sessions, _ in
            let consent = ConsentService(
                context: sessions.context, prompt: SilentPrompt(), hasLoginSession: { true }, log: { _ in })
            let run = Task { await consent.run() }
            async let waiting = Self.error(of: question, consent)
            let number = try await Self.number(ofQuestionIn: consent, example)
            let call = ConsentAnswerCall(question: number, allowed: true)
            let subject = PresenceSubject(processID: 8, startTicks: 1, userID: 1000, executable: "/usr/bin/authc")
            let refused = await #expect(throws: AgentError.self) {
                try await consent.answer(call, by: subject, without: { $0.text == "example" })
            }
            #expect(refused?.kind == .notFound)
            #expect(try await consent.list().questions.map(\.number) == [number])
            try await consent.answer(call, by: subject, without: { $0.text == "another" })
            #expect(await waiting == nil)
            run.cancel()
            await run.value
        }
    }

    /// There is no desktop.
    private struct NoPrompt: ConsentPrompt {
        func show(_ question: ConsentQuestion, number: UInt64) async -> ConsentReply { .notShown }
        func withdraw(_ number: UInt64) {}
    }

    @Test("a request is refused at once if no desktop shows the question and the user has no login session")
    func unavailable() async throws {
        let example = try ExampleProvider(transport: ExampleProvider.numbering())
        let question = try Self.question()
        try await example.running { sessions, _ in
            let isLoggedIn = Mutex(false)
            let consent = ConsentService(
                context: sessions.context, prompt: NoPrompt(), hasLoginSession: { isLoggedIn.withLock { $0 } },
                log: { _ in })
            let run = Task { await consent.run() }
            async let refused = Self.error(of: question, consent)
            let clock = Task {
                while !Task.isCancelled {
                    example.clock.advance(.seconds(1))
                    await Task.yield()
                }
            }
            #expect(await refused?.cause == "consent_unavailable")
            clock.cancel()
            await clock.value
            // With a login session it waits for `authc approve`.
            isLoggedIn.withLock { $0 = true }
            async let waiting = Self.error(of: question, consent)
            let number = try await Self.number(ofQuestionIn: consent, example)
            let subject = PresenceSubject(processID: 8, startTicks: 1, userID: 1000, executable: "/usr/bin/authc")
            try await consent.answer(ConsentAnswerCall(question: number, allowed: true), by: subject)
            #expect(await waiting == nil)
            run.cancel()
            await run.value
        }
    }

    @Test("ends each wait with `stopping` at its end, and asks nothing afterwards")
    func end() async throws {
        let example = try ExampleProvider(transport: ExampleProvider.numbering())
        let question = try Self.question()
        try await example.running { sessions, _ in
            let consent = ConsentService(
                context: sessions.context, prompt: SilentPrompt(), hasLoginSession: { true }, log: { _ in })
            let run = Task { await consent.run() }
            async let waiting = Self.error(of: question, consent)
            _ = try await Self.number(ofQuestionIn: consent, example)
            run.cancel()
            await run.value
            #expect(await waiting == .stopping)
            #expect(await Self.error(of: question, consent) == .stopping)
        }
    }
}
