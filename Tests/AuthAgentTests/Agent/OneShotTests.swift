import AuthConcurrency
import AuthWire
import Testing

@Suite("A value that one task waits for", .timeLimit(.minutes(1)))
struct OneShotTests {
    private let shot = OneShot<Int>()

    /// What a task gets that is cancelled before it waits.
    private func valueOfCancelledTask() async -> Int? {
        await Task { [shot] in
            withUnsafeCurrentTask { if let task = $0 { task.cancel() } }
            return await shot.value()
        }.value
    }

    @Test("may come before the wait; a second one is refused")
    func early() async {
        #expect(shot.send(1))
        #expect(!shot.send(2))
        #expect(await shot.value() == 1)
    }

    @Test("does not come to a task that was cancelled before it waits")
    func cancelledBefore() async {
        #expect(await valueOfCancelledTask() == nil)
        #expect(!shot.send(1))
    }

    @Test("is not lost if it came before the cancellation")
    func cancelledAfter() async {
        shot.send(1)
        #expect(await valueOfCancelledTask() == 1)
    }

    @Test("and a cancellation that come at once are never both taken, and never both lost")
    func atOnce() async {
        for _ in 1...500 {
            let shot = OneShot<Int>()
            let task = Task { await shot.value() }
            async let sent = shot.send(1)
            task.cancel()
            let (value, isTaken) = (await task.value, await sent)
            #expect((value == 1) == isTaken)
        }
    }

    @Test("work without cancellation ends, although the task that waits for it is cancelled")
    func shielded() async {
        let isCancelled = await Task {
            withUnsafeCurrentTask { if let task = $0 { task.cancel() } }
            return await withoutCancellation { Task.isCancelled }
        }.value
        #expect(!isCancelled)
    }
}
