import AuthFiles
import Glibc
import Synchronization
import Testing

@testable import AuthDaemon

@Suite("The thread that serves clients", .timeLimit(.minutes(1)))
struct SocketExecutorTests {
    /// Runs its work on the executor.
    private actor Guest {
        private let executor: SocketExecutor
        private(set) var count = 0

        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        init(on executor: SocketExecutor) {
            self.executor = executor
        }

        var isOnThread: Bool { executor.isIsolatingCurrentContext() == true }

        func add() { count += 1 }

        func schedule(after milliseconds: [Int], _ work: @escaping @Sendable (Int) -> Void) -> [TimerID] {
            milliseconds.enumerated().map { index, milliseconds in
                executor.schedule(in: .milliseconds(milliseconds)) { work(index) }
            }
        }

        func cancel(_ timer: TimerID) { executor.cancel(timer) }

        func repeated(_ count: Int, _ end: @escaping @Sendable () -> Void) {
            if count == 0 {
                end()
            } else {
                executor.performNext { self.assumeIsolated { $0.repeated(count - 1, end) } }
            }
        }
    }

    private final class Done: Sendable {
        private let numbers = Mutex<[Int: [Int]]>([:])

        var all: [Int: [Int]] { numbers.withLock { $0 } }

        func add(_ number: Int, by giver: Int = 0) { numbers.withLock { $0[giver, default: []].append(number) } }
    }

    @Test("work of many threads runs on one thread, and that of each thread in its order")
    func order() async throws {
        let executor = try SocketExecutor()
        let done = Done()
        await withTaskGroup(of: Void.self) { group in
            for giver in 0..<8 {
                group.addTask {
                    for number in 0..<500 {
                        executor.perform {
                            if executor.isIsolatingCurrentContext() == true { done.add(number, by: giver) }
                        }
                    }
                }
            }
        }
        await executor.stop()
        #expect(done.all.count == 8 && done.all.values.allSatisfy { $0 == Array(0..<500) })
        #expect(executor.isIsolatingCurrentContext() == false)
    }

    @Test("an actor runs on its thread, and calls of many tasks do not overlap")
    func actors() async throws {
        let executor = try SocketExecutor()
        let guest = Guest(on: executor)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<200 { group.addTask { await guest.add() } }
        }
        #expect(await guest.count == 200)
        #expect(await guest.isOnThread)
        executor.perform { guest.assumeIsolated { $0.add() } }
        #expect(await guest.count == 201)
        await executor.stop()
    }

    @Test("its own work runs without a wake-up")
    func own() async throws {
        let executor = try SocketExecutor()
        let guest = Guest(on: executor)
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            executor.perform { guest.assumeIsolated { $0.repeated(1000) { continuation.resume() } } }
        }
        await executor.stop()
    }

    @Test("timers run in the order of their times, and cancelled ones do not run")
    func later() async throws {
        let time = ManualTime()
        let executor = try SocketExecutor(time: { time.now })
        let guest = Guest(on: executor)
        let done = Done()
        let timers = await guest.schedule(after: [30, 10, 20, 10, 40]) { done.add($0) }
        await guest.cancel(timers[2])
        time.pass(.milliseconds(10) - .nanoseconds(1))
        // The second one is added after a turn that has read the time.
        for _ in 1...2 { await guest.add() }
        #expect(done.all[0] == nil)
        time.pass(.milliseconds(20))
        for _ in 1...2 { await guest.add() }
        #expect(done.all[0] == [1, 3])
        time.pass(.milliseconds(10) + .nanoseconds(1))
        for _ in 1...2 { await guest.add() }
        #expect(done.all[0] == [1, 3, 0, 4])
        await executor.stop()
    }

    @Test("a timer wakes the thread by itself")
    func alone() async throws {
        let executor = try SocketExecutor()
        let guest = Guest(on: executor)
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            executor.perform { guest.assumeIsolated { _ = $0.schedule(after: [1]) { _ in continuation.resume() } } }
        }
        await executor.stop()
    }

    @Test("at its end submitted work is done, and timers are dropped; each call of stop returns after that")
    func end() async throws {
        let executor = try SocketExecutor()
        let guest = Guest(on: executor)
        let done = Done()
        _ = await guest.schedule(after: [3_600_000]) { _ in done.add(1) }
        executor.perform { executor.perform { done.add(2) } }
        await withTaskGroup(of: Void.self) { group in
            for _ in 1...2 { group.addTask { await executor.stop() } }
        }
        #expect(done.all[0] == [2])
        await executor.stop()
    }

    @Test("it may stop and be released by work that a caller is still submitting")
    func releasedByWork() async throws {
        await withTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for round in 0..<250 {
                        guard let executor = try? SocketExecutor() else { return round }
                        await Guest(on: executor).add()
                        await executor.stop()
                    }
                    return 250
                }
            }
            for await rounds in group { #expect(rounds == 250) }
        }
    }

    @Test("after its end it runs the work of several callers, and may be released by it")
    func lastWork() async throws {
        for _ in 0..<300 {
            let executor = try SocketExecutor()
            await executor.stop()
            let guest = Guest(on: executor)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<3 { group.addTask { await guest.add() } }
            }
            #expect(await guest.count == 3)
        }
    }

    // MARK: Crowds

    /// A pipe with a byte to read. Only the executor's thread uses it.
    private final class Ready: ReadinessHandler, @unchecked Sendable {
        let peerProcess: Int32
        let descriptor: CInt
        private let other: CInt
        private let ready: @Sendable (Ready) -> Void

        /// - Parameter executor: the caller runs on its thread.
        init(of process: Int32, on executor: SocketExecutor, _ ready: @escaping @Sendable (Ready) -> Void) throws {
            (peerProcess, self.ready) = (process, ready)
            var ends: [CInt] = [-1, -1]
            guard pipe(&ends) == 0 else { throw SystemFailure("open a pipe") }
            (descriptor, other) = (ends[0], ends[1])
            write(other, "x", 1)
            try executor.watch(descriptor, for: .input, self)
        }

        deinit {
            close(descriptor)
            close(other)
        }

        func ready(for readiness: Readiness) { ready(self) }
        func executorStops() {}
    }

    private typealias Served = (process: Int32, descriptor: CInt)

    /// - Parameter endsInput: a connection is served once. Otherwise it is ready all the time.
    /// - Returns: what was served, in its order.
    private func served(
        _ crowds: [(process: Int32, connections: Int)], until count: Int, endsInput: Bool
    ) async throws -> [Served] {
        let executor = try SocketExecutor()
        let order = Mutex<[Served]>([])
        let all = Mutex<[Ready]>([])
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            executor.perform {
                for crowd in crowds {
                    for _ in 0..<crowd.connections {
                        let made = try? Ready(of: crowd.process, on: executor) { watched in
                            let total = order.withLock { order in
                                order.append((watched.peerProcess, watched.descriptor))
                                return order.count
                            }
                            if endsInput { executor.unwatch(watched.descriptor) }
                            if total == count { continuation.resume() }
                        }
                        if let made { all.withLock { $0.append(made) } }
                    }
                }
            }
        }
        await executor.stop()
        return order.withLock { Array($0.prefix(count)) }
    }

    @Test("a client beside hundreds of ready connections of another process is served after a few of them")
    func crowd() async throws {
        let order = try await served([(1, 60), (2, 1)], until: 61, endsInput: true).map(\.process)
        let place = try #require(order.firstIndex(of: 2))
        #expect(order.count == 61 && place <= 2, "\(order)")
        // The kernel reports 64 at once.
        let many = try await served([(1, 140), (2, 1), (3, 1)], until: 142, endsInput: true).map(\.process)
        #expect(many.count == 142 && many.prefix(60).filter { $0 != 1 }.sorted() == [2, 3], "\(many)")
    }

    @Test("connections of a process that are ready all the time are served equally often")
    func equal() async throws {
        let order = try await served([(1, 100), (2, 1)], until: 5000, endsInput: false)
        let counts = Dictionary(grouping: order, by: \.descriptor).mapValues(\.count)
        let crowd = Set(order.lazy.filter { $0.process == 1 }.map(\.descriptor)).map { counts[$0] ?? 0 }
        let (least, most) = (crowd.min() ?? 0, crowd.max() ?? 0)
        #expect(crowd.count == 100 && most - least <= 1, "\(crowd)")
        // The kernel reports the other one in every second turn at the latest, and a turn serves at most eight.
        let others = order.count { $0.process == 2 }
        #expect(others >= 5000 / 16 && others > most, "\(others) beside \(most)")
    }

    /// Runs for longer than a turn.
    private static func runLong() {
        let end = ContinuousClock.now + .microseconds(20)
        while ContinuousClock.now < end {}
    }

    @Test("a client is served between pieces of work that take long, and these run in their order")
    func betweenWork() async throws {
        let executor = try SocketExecutor()
        let done = Done()
        let served = Mutex<Int?>(nil)
        await withCheckedContinuation { continuation in
            executor.perform {
                for number in 0..<100 {
                    executor.perform {
                        if number == 0 {
                            // It is kept as long as it is watched.
                            _ = try? Ready(of: 1, on: executor) { watched in
                                executor.unwatch(watched.descriptor)
                                served.withLock { $0 = done.all[0]?.count ?? 0 }
                            }
                        }
                        Self.runLong()
                        done.add(number)
                        if number == 99 { continuation.resume() }
                    }
                }
            }
        }
        // After the piece that ran when its input came.
        #expect(served.withLock { $0 } == 1)
        #expect(done.all == [0: Array(0..<100)])
        await executor.stop()
    }

    @Test("work that was submitted before the end runs before the sockets are closed")
    func workBeforeTheEnd() async throws {
        /// Records how much was done when the executor stopped.
        final class Last: ReadinessHandler, Sendable {
            let count = Mutex<Int?>(nil)
            let done: Done

            init(_ done: Done) { self.done = done }

            func ready(for readiness: Readiness) {}
            // It remains watched, so a faulty executor would call this again later.
            func executorStops() { count.withLock { $0 = $0 ?? done.all[0]?.count ?? 0 } }
        }
        let executor = try SocketExecutor()
        let done = Done()
        let last = Last(done)
        var ends: [CInt] = [-1, -1]
        #expect(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        executor.perform { [quiet = ends[0]] in try? executor.watch(quiet, for: .input, last) }
        for number in 0..<200 {
            executor.perform {
                Self.runLong()
                done.add(number)
            }
        }
        await executor.stop()
        #expect(last.count.withLock { $0 } == 200)
        #expect(done.all == [0: Array(0..<200)])
    }

    private final class Together: Sendable {
        private let count = Atomic<Int>(0)

        /// Runs the work and records an overlap.
        func alone(_ work: () -> Void) {
            if count.add(1, ordering: .sequentiallyConsistent).oldValue == 0 { work() }
            count.subtract(1, ordering: .sequentiallyConsistent)
        }
    }

    @Test("after its end submitted work runs once, one piece at a time; actors reply, and timers do not start")
    func afterTheEnd() async throws {
        let executor = try SocketExecutor()
        let guest = Guest(on: executor)
        await executor.stop()
        #expect(await guest.isOnThread)

        let done = Done()
        _ = await guest.schedule(after: [0]) { _ in done.add(0, by: 8) }
        let together = Together()
        await withTaskGroup(of: Void.self) { group in
            for giver in 0..<8 {
                group.addTask {
                    for number in 0..<200 {
                        executor.perform {
                            together.alone {
                                if executor.isIsolatingCurrentContext() == true { done.add(number, by: giver) }
                            }
                        }
                        await guest.add()
                    }
                }
            }
        }
        // The last submitter runs the work, or leaves it to a thread that is still running some.
        #expect(await guest.count == 1600)
        #expect(done.all.count == 8 && done.all.values.allSatisfy { $0 == Array(0..<200) })
        #expect(executor.isIsolatingCurrentContext() == false)
    }
}
