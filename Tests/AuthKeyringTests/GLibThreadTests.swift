import GLibRuntime
import Synchronization
import Testing

@Suite("The GLib thread", .timeLimit(.minutes(1)))
struct GLibThreadTests {
    private actor Resident {
        private nonisolated let thread: GLibThread
        private var visits = 0

        nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

        init(on thread: GLibThread) {
            self.thread = thread
        }

        func visit() -> Int {
            thread.assertOwned()
            visits += 1
            return visits
        }

        /// A call without a result.
        func wait(limit: Duration?, begun: @escaping @Sendable () -> Void = {}) async throws {
            let call = GIOCall<Void>(waiting: { _ in begun() })
            try await thread.call(call, limit: limit)
        }
    }

    @Test("runs its actors, one piece of work at a time")
    func isolation() async throws {
        let thread = try GLibThread()
        defer { thread.stop() }
        let resident = Resident(on: thread)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<1000 { group.addTask { _ = await resident.visit() } }
        }
        #expect(await resident.visit() == 1001)
    }

    @Test("ends a call at its limit")
    func limit() async throws {
        let thread = try GLibThread()
        defer { thread.stop() }
        let resident = Resident(on: thread)
        let limit = Duration.milliseconds(20)
        await #expect(throws: GLibFailure.timedOut(after: limit)) { try await resident.wait(limit: limit) }
    }

    @Test("ends a call whose task is cancelled, before it begins and after")
    func cancellation() async throws {
        let thread = try GLibThread()
        defer { thread.stop() }
        let resident = Resident(on: thread)
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await resident.wait(limit: nil) { beginning.yield() } }
            for await _ in begun { break }
            group.cancelAll()
            await #expect(throws: GLibFailure.cancelled) { try await group.next() }
            group.addTask { try await resident.wait(limit: nil) }
            await #expect(throws: GLibFailure.cancelled) { try await group.next() }
        }
    }

    @Test("ends calls in progress when it is stopped, and fails later ones")
    func stops() async throws {
        let thread = try GLibThread()
        let resident = Resident(on: thread)
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await resident.wait(limit: nil) { beginning.yield() } }
            for await _ in begun { break }
            thread.stop()
            await #expect(throws: GLibFailure.ended) { try await group.next() }
        }
        await #expect(throws: GLibFailure.ended) { try await resident.wait(limit: nil) }
        #expect(await resident.visit() == 1)
        thread.stop()
    }

    @Test("may be stopped and released by the work that a caller is still submitting")
    func releasedByWork() async throws {
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<250 {
                        guard let thread = try? GLibThread() else { return false }
                        guard await Resident(on: thread).visit() == 1 else { return false }
                        thread.stop()
                    }
                    return true
                }
            }
            for await visited in group { #expect(visited) }
        }
    }

    @Test("outlives the last work of its actors, which may come after its end and release them")
    func lastWork() async throws {
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<500 {
                group.addTask {
                    guard let thread = try? GLibThread() else { return false }
                    thread.stop()
                    return await Resident(on: thread).visit() == 1
                }
            }
            for await visited in group { #expect(visited) }
        }
    }
}
