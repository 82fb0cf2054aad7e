import AuthModel
import AuthWire
import Testing

@testable import AuthAgent

@Suite("A latch", .timeLimit(.minutes(1)))
struct LatchTests {
    private let latch = Latch()

    private func error() async -> AgentError? {
        do throws(AgentError) {
            try await latch.wait()
            return nil
        } catch {
            return error
        }
    }

    @Test("once it is open, every wait ends, and a later stop changes nothing")
    func opens() async {
        async let early = error()
        latch.open()
        latch.stop()
        #expect(await early == nil)
        #expect(await error() == nil)
    }

    @Test("that is stopped ends every wait with `stopping`, before and after, and is not opened any more")
    func stops() async {
        async let early = error()
        latch.stop()
        latch.open()
        #expect(await early == .stopping)
        #expect(await error() == .stopping)
    }

    @Test("lets a cancelled task go, and the others wait on")
    func cancelled() async {
        async let other = error()
        let task = Task { await error() }
        task.cancel()
        #expect(await task.value == .callerGone)
        latch.open()
        #expect(await other == nil)
    }
}
