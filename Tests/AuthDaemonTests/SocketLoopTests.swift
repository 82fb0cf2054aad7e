import AuthDaemon
import NIOCore
import Synchronization
import Testing

@Suite("The loop that clients are served on", .timeLimit(.minutes(1)))
struct SocketLoopTests {
    @Test("what many threads give it is all done, on one thread, and what one of them gives in its order")
    func order() async throws {
        let loop = try SocketLoop()
        let done = Done()
        await withTaskGroup(of: Void.self) { group in
            for giver in 0..<8 {
                group.addTask {
                    for number in 0..<500 {
                        loop.execute { if loop.inEventLoop { done.add(number, by: giver) } }
                    }
                }
            }
        }
        try await loop.shutdownGracefully()
        #expect(done.all.count == 8 && done.all.values.allSatisfy { $0 == Array(0..<500) })
        #expect(!loop.inEventLoop)
    }

    private final class Done: Sendable {
        private let numbers = Mutex<[Int: [Int]]>([:])

        var all: [Int: [Int]] { numbers.withLock { $0 } }

        func add(_ number: Int, by giver: Int = 0) { numbers.withLock { $0[giver, default: []].append(number) } }
    }

    @Test("what it gives itself is done without anybody waking it")
    func own() async throws {
        let loop = try SocketLoop()
        let end = loop.makePromise(of: Int.self)
        @Sendable func again(_ left: Int) {
            if left == 0 { end.succeed(7) } else { loop.execute { again(left - 1) } }
        }
        loop.execute { again(1000) }
        #expect(try await end.futureResult.get() == 7)
        try await loop.shutdownGracefully()
    }

    @Test("what is to be done later is done in the order of its time, and what was cancelled is not")
    func later() async throws {
        let time = ManualTime()
        let loop = try SocketLoop(time: { time.now })
        let done = Done()
        let planned = try await loop.submit {
            [30, 10, 20, 10, 40].enumerated().map { index, milliseconds in
                loop.scheduleTask(in: .milliseconds(Int64(milliseconds))) { done.add(index) }
            }
        }.get()
        planned[2].cancel()
        time.pass(.milliseconds(10) - .nanoseconds(1))
        // The second one is given after a turn that looked at the time.
        for _ in 1...2 { try await loop.submit {}.get() }
        #expect(done.all[0] == nil)
        time.pass(.milliseconds(20))
        for _ in 1...2 { try await loop.submit {}.get() }
        #expect(done.all[0] == [1, 3])
        time.pass(.milliseconds(10) + .nanoseconds(1))
        loop.execute {}
        try await planned[4].futureResult.get()
        #expect(done.all[0] == [1, 3, 0, 4])
        await #expect(throws: EventLoopError.cancelled) { try await planned[2].futureResult.get() }
        try await loop.shutdownGracefully()
    }

    @Test("at its end what was given is done, and what was to be done later has failed")
    func end() async throws {
        let loop = try SocketLoop()
        let done = Done()
        loop.scheduleTask(in: .hours(1)) { done.add(1) }.futureResult.whenFailure { error in
            if error as? EventLoopError == .cancelled { done.add(2) }
        }
        loop.execute { loop.execute { done.add(3) } }
        try await loop.shutdownGracefully()
        #expect(done.all[0]?.sorted() == [2, 3])
        await #expect(throws: EventLoopError.shutdown) { try await loop.shutdownGracefully() }
    }

    private final class Together: Sendable {
        private let count = Atomic<Int>(0)

        /// Does it, if nobody else is here.
        func alone(_ work: () -> Void) {
            if count.add(1, ordering: .sequentiallyConsistent).oldValue == 0 { work() }
            count.subtract(1, ordering: .sequentiallyConsistent)
        }
    }

    @Test("after its end what is submitted or scheduled fails, and what is executed is done once, one piece at a time")
    func afterTheEnd() async throws {
        let loop = try SocketLoop()
        try await loop.shutdownGracefully()
        await #expect(throws: EventLoopError.shutdown) { try await loop.submit { 7 }.get() }
        await #expect(throws: EventLoopError.shutdown) {
            try await loop.scheduleTask(in: .hours(1)) { 7 }.futureResult.get()
        }
        let promise = loop.makePromise(of: Int.self)
        promise.succeed(7)
        #expect(try await promise.futureResult.get() == 7)

        let done = Done()
        let together = Together()
        await withTaskGroup(of: Void.self) { group in
            for giver in 0..<8 {
                group.addTask {
                    for number in 0..<200 {
                        loop.execute {
                            together.alone { if loop.inEventLoop { done.add(number, by: giver) } }
                        }
                    }
                }
            }
        }
        // Whoever gives the last piece either does it, or leaves it to a thread that is still at work.
        try await loop.submitted()
        #expect(done.all.count == 8 && done.all.values.allSatisfy { $0 == Array(0..<200) })
        #expect(!loop.inEventLoop)
    }
}

extension SocketLoop {
    /// Returns when what was given before is done.
    fileprivate func submitted() async throws {
        let promise = makePromise(of: Void.self)
        execute { promise.succeed() }
        try await promise.futureResult.get()
    }
}
