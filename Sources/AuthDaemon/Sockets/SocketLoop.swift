import CSystemd
package import Dispatch
import Glibc
package import NIOCore
import Synchronization

/// The thread on which all clients are served: an event loop that knows sockets of this machine alone, and nothing between
/// epoll(7) and a connection (Docs/decisions/socket-server.md). To everything else it is an event loop as NIO's own are.
///
/// Invariant: what is executed runs here, one after the other, in the order in which it was given. After
/// ``shutdownGracefully(queue:_:)`` has ended, whoever gives work does it, still one piece at a time: so every future
/// completes. What is submitted or scheduled then fails with `EventLoopError.shutdown`.
// @unchecked Sendable: `poller`, `timetable`, `hasEnded` and `input` are touched only by the thread in `thread`, `inbox` is behind
// its mutex, and the rest is Sendable by itself.
package final class SocketLoop: EventLoop, @unchecked Sendable {
    // @unchecked Sendable: it is done on the thread, or by nobody. What it holds that is not Sendable comes from there too, or
    // is handed over with it and used nowhere else.
    private struct Work: @unchecked Sendable {
        let body: () -> Void
    }

    private struct Inbox {
        var work: [Work] = []
        var phase = Phase.open
        var whenClosed: @Sendable () -> Void = {}
    }

    private enum Phase {
        case open, closing, closed
    }

    /// What a client says in one piece; longer ones come in several.
    private static let mostInput = 64 << 10

    private let bell: Bell
    private let time: @Sendable () -> SuspendingClock.Instant
    private var poller: Poller
    private var timetable = Timetable()
    private var hasEnded = false
    private let inbox = Mutex(Inbox())
    /// Which thread does the work now; 0 for none.
    private let thread = Atomic<pthread_t>(0)
    private let lastNumber = Atomic<UInt64>(0)
    /// Of all sockets: each reads into it in turn, and leaves nothing in it.
    private var input = ByteBuffer()

    /// - Parameter time: the clock of the timers. A test may give another one; the loop reads it when it has work.
    package init(
        time: @escaping @Sendable () -> SuspendingClock.Instant = { SuspendingClock.now }
    ) throws(SystemFailure) {
        self.time = time
        bell = try Bell()
        poller = try Poller()
        try poller.watch(bell.descriptor, for: .input, bell)
        var made = pthread_t()
        let failure = unsafe pthread_create(
            &made, nil,
            { loop in
                // The thread keeps its loop until it ends.
                if let loop = unsafe loop { unsafe Unmanaged<SocketLoop>.fromOpaque(loop).takeRetainedValue().run() }
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        guard failure == 0 else {
            unsafe Unmanaged.passUnretained(self).release()
            throw SystemFailure("start a thread", number: failure)
        }
        pthread_detach(made)
    }

    // MARK: The thread

    private func run() {
        thread.store(pthread_self(), ordering: .relaxed)
        unsafe authd_name_thread("sockets")
        while turn() {}
        thread.store(0, ordering: .releasing)
        doLeftWork()
        inbox.withLock { $0.whenClosed }()
    }

    /// What was given after the last turn, by the thread that gave it.
    private func doLeftWork() {
        // Whoever gives work while another thread is at it leaves it there; that thread looks again when it has let go.
        while hasWork,
            thread.compareExchange(expected: 0, desired: pthread_self(), ordering: .acquiringAndReleasing).exchanged
        {
            for piece in takeWork() { piece.body() }
            thread.store(0, ordering: .releasing)
        }
    }

    private func takeWork() -> [Work] {
        inbox.withLock { inbox in
            defer { inbox.work = [] }
            return inbox.work
        }
    }

    /// - Returns: whether there is another one.
    private func turn() -> Bool {
        let (work, phase) = inbox.withLock { inbox in
            defer { inbox.work = [] }
            return (inbox.work, inbox.phase)
        }
        for piece in work { piece.body() }
        guard phase == .open else { return letGo() }
        let hasDone = doWhatIsDue() || !work.isEmpty
        // What others give from now on rings the bell; only what was done here may have left more without.
        let ready = poller.wait(milliseconds: hasDone && hasWork ? 0 : untilNextDeadline())
        for index in 0..<ready {
            if let (watcher, readiness) = poller.ready(index) { watcher.ready(for: readiness) }
        }
        return true
    }

    /// Ends what is left, until nothing more comes of that.
    private func letGo() -> Bool {
        for watcher in poller.watchers { watcher.loopEnds() }
        for entry in timetable.takeAll() { entry.fail(EventLoopError.cancelled) }
        return inbox.withLock { inbox in
            guard inbox.work.isEmpty, timetable.next == nil else { return true }
            inbox.phase = .closed
            hasEnded = true
            return false
        }
    }

    private var hasWork: Bool { inbox.withLock { !$0.work.isEmpty } }

    private func doWhatIsDue() -> Bool {
        guard timetable.next != nil else { return false }
        let now = instant
        var hasDone = false
        while let entry = timetable.takeDue(at: now) {
            entry.work()
            hasDone = true
        }
        return hasDone
    }

    /// In whole milliseconds, rounded up; -1 if there is no timer.
    private func untilNextDeadline() -> CInt {
        guard let next = timetable.next else { return -1 }
        let left = min(max(next - instant, .zero), Self.longestWait).components
        return CInt(left.seconds * 1000 + (left.attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }

    /// epoll_wait(2) takes its milliseconds as an int. A later timer is waited for again.
    private static let longestWait = Duration.seconds(1_000_000)

    // MARK: Sockets

    func watch(_ descriptor: CInt, for readiness: Readiness, _ watcher: any Watcher) throws(SystemFailure) {
        assertInEventLoop()
        try poller.watch(descriptor, for: readiness, watcher)
    }

    func change(_ descriptor: CInt, to readiness: Readiness) {
        assertInEventLoop()
        poller.change(descriptor, to: readiness)
    }

    func unwatch(_ descriptor: CInt) {
        assertInEventLoop()
        poller.unwatch(descriptor)
    }

    /// Hands over what there is to read, and wipes it.
    ///
    /// - Returns: how many bytes there were, 0 at the end of the input, and -1 with errno set.
    func read(_ descriptor: CInt, _ body: (ByteBuffer) -> Void) -> Int {
        assertInEventLoop()
        var count = 0
        unsafe input.writeWithUnsafeMutableBytes(minimumWritableBytes: Self.mostInput) { room in
            repeat {
                count = unsafe recv(descriptor, room.baseAddress, Self.mostInput, 0)
            } while count < 0 && errno == EINTR
            return max(0, count)
        }
        guard count > 0 else { return count }
        body(input)
        input.clear()
        unsafe input.withUnsafeMutableWritableBytes { room in
            if let start = room.baseAddress { unsafe explicit_bzero(start, count) }
        }
        return count
    }

    // MARK: As NIO has it

    package var inEventLoop: Bool { thread.load(ordering: .relaxed) == pthread_self() }

    package func execute(_ task: @escaping @Sendable () -> Void) { give(task) }

    package func _executeIsolatedUnsafeUnchecked(_ task: @escaping () -> Void) { give(task) }

    private func give(_ task: @escaping () -> Void) {
        let work = Work(body: task)
        let (isFirst, isClosed) = inbox.withLock { inbox in
            inbox.work.append(work)
            return (inbox.work.count == 1, inbox.phase == .closed)
        }
        if isClosed { return doLeftWork() }
        if isFirst, !inEventLoop { bell.ring() }
    }

    package func submit<T>(_ task: @escaping @Sendable () throws -> T) -> EventLoopFuture<T> {
        let promise = makePromise(of: T.self)
        give {
            guard !self.hasEnded else { return promise.fail(EventLoopError.shutdown) }
            promise.assumeIsolatedUnsafeUnchecked().completeWith(Result { try task() })
        }
        return promise.futureResult
    }

    @discardableResult
    package func scheduleTask<T>(
        deadline: NIODeadline, _ task: @escaping @Sendable () throws -> T
    ) -> Scheduled<T> {
        scheduleTask(in: deadline - .now(), task)
    }

    @discardableResult
    package func scheduleTask<T>(in delay: TimeAmount, _ task: @escaping @Sendable () throws -> T) -> Scheduled<T> {
        let promise = makePromise(of: T.self)
        let id = TimerID(
            deadline: instant + .nanoseconds(delay.nanoseconds),
            number: lastNumber.add(1, ordering: .relaxed).newValue)
        let entry = Timetable.Entry(
            id: id,
            work: { promise.assumeIsolatedUnsafeUnchecked().completeWith(Result { try task() }) },
            fail: { promise.fail($0) })
        if inEventLoop { add(entry) } else { give { self.add(entry) } }
        return Scheduled(promise: promise) {
            if self.inEventLoop {
                self.timetable.remove(id)
            } else {
                self.give { self.timetable.remove(id) }
            }
        }
    }

    private func add(_ entry: Timetable.Entry) {
        if hasEnded { entry.fail(EventLoopError.shutdown) } else { timetable.add(entry) }
    }

    package func next() -> any EventLoop { self }

    package func makeIterator() -> EventLoopIterator { EventLoopIterator([self]) }

    /// What was given is still done; clients are let go of, and what was to be done later fails.
    package func shutdownGracefully(
        queue: DispatchQueue, _ callback: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let isFirst = inbox.withLock { inbox in
            guard inbox.phase == .open else { return false }
            inbox.phase = .closing
            inbox.whenClosed = { queue.async { callback(nil) } }
            return true
        }
        guard isFirst else { return queue.async { callback(EventLoopError.shutdown) } }
        bell.ring()
    }
}

// MARK: Timers

extension SocketLoop {
    /// Now, by the clock of the timers.
    var instant: SuspendingClock.Instant { time() }

    /// Runs `work` on this thread at that time, or never if the loop ends first. Only this thread may call it.
    @discardableResult
    func schedule(at deadline: SuspendingClock.Instant, _ work: @escaping () -> Void) -> TimerID {
        assertInEventLoop()
        let id = TimerID(deadline: deadline, number: lastNumber.add(1, ordering: .relaxed).newValue)
        add(Timetable.Entry(id: id, work: work, fail: { _ in }))
        return id
    }

    @discardableResult
    func schedule(in delay: Duration, _ work: @escaping () -> Void) -> TimerID { schedule(at: instant + delay, work) }

    /// Only this thread may call it.
    func cancel(_ timer: TimerID) {
        assertInEventLoop()
        timetable.remove(timer)
    }
}
