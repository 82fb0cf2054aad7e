import AuthConcurrency
import Synchronization
import Testing

@Suite("A lock that tasks wait for", .timeLimit(.minutes(1)))
struct AsyncLockTests {
    private struct Failure: Error {}

    private final class Inside: Sendable {
        let count = Atomic(0)
    }

    private let lock = AsyncLock()

    @Test("lets one task at a time in, and every one of them in the end")
    func oneAtATime() async {
        let inside = Inside()
        let done = Counter()
        await withTaskGroup(of: Void.self) { group in
            for _ in 1...50 {
                group.addTask {
                    _ = await lock.withLock {
                        #expect(inside.count.add(1, ordering: .relaxed).newValue == 1)
                        await Task.yield()
                        inside.count.subtract(1, ordering: .relaxed)
                        _ = done.next()
                    }
                }
            }
        }
        #expect(done.next() == 51)
    }

    @Test("does nothing for a task that is cancelled while it waits, and lets the next one in")
    func cancelled() async {
        let hold = Hold()
        let first = Task { await lock.withLock { await hold.pass() } }
        await hold.isReached()
        let second = Task { await lock.withLock { Issue.record("a cancelled task got the lock") } }
        second.cancel()
        _ = await second.value
        hold.release()
        #expect(await first.value == true)
        #expect(await lock.withLock { 3 } == 3)
    }

    @Test("is free again after work that failed")
    func failed() async throws {
        await #expect(throws: Failure.self) {
            _ = try await lock.withLock { () throws(Failure) -> Int in throw Failure() }
        }
        #expect(await lock.withLock { 3 } == 3)
    }
}
