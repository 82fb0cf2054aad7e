package import AuthFiles
import CSystemd
import Glibc
import NIOCore
import Synchronization

/// The thread that serves all clients: the executor of the actors that own their connections, with epoll(7) and timers
/// (Docs/decisions/socket-server.md).
///
/// Invariant: all work runs on this thread, one piece at a time, in the order of submission. After ``stop()`` the submitting
/// thread runs the work, still one piece at a time, so that no task waits for an actor of this executor forever. @unchecked
/// Sendable: `poller`, `work`, `queue`, `timers`, `isEnding`, `input` and `copy` are used only by the thread in `owner`,
/// `inbox` is protected by its mutex, and the rest is Sendable itself. @safe: `input` is allocated once and released
/// only in `deinit`, and no pointer to it outlives a call.
@safe package final class SocketExecutor: SerialExecutor, @unchecked Sendable {
    // @unchecked Sendable: a block runs on the thread. Non-Sendable captures come from that thread, as performNext(_:)
    // requires.
    private enum Work: @unchecked Sendable {
        case job(UnownedJob)
        case block(() -> Void)
    }

    private struct Inbox {
        var work: [Work] = []
        var phase = Phase.open
        var whenStopped: [CheckedContinuation<Void, Never>] = []
    }

    private enum Phase {
        case open, stopping, stopped
    }

    /// Bytes that are read from a client at once. If the client has sent 512 at a time, 16 KiB take about 5 µs.
    private static let maxInput = 16 << 10

    /// Ready descriptors that are served before the kernel is asked for others. If more are ready, processes take turns.
    private static let servedAtOnce = 8

    /// How long pieces of work are run, or descriptors served, before the other of both has its turn. A piece is not
    /// interrupted, so it may take longer.
    private static let turnTime = Duration.microseconds(10)

    /// If more pieces of work came at once, their memory is released.
    private static let keptWork = 256

    private let waker: Waker
    private let time: @Sendable () -> SuspendingClock.Instant
    private let start: SuspendingClock.Instant
    private var poller: Poller
    /// Submitted work that has been taken from `inbox`, the last piece first.
    private var work: [Work] = []
    /// Ready descriptors that wait for their turn.
    private var queue = FairQueue<Poller.WatchedDescriptor>()
    private var timers = TimerQueue()
    private var isEnding = false
    private let inbox = Mutex(Inbox())
    /// The thread that runs the work now; 0 for none.
    private let owner = Atomic<pthread_t>(0)
    private var lastTimer: UInt64 = 0
    /// All sockets read into it in turn.
    private let input = UnsafeMutableRawBufferPointer.allocate(byteCount: maxInput, alignment: 1)
    /// For what is not answered at once.
    private var copy = ByteBuffer()

    /// - Parameter time: the clock of the timers; it is read when there is work.
    package init(
        time: @escaping @Sendable () -> SuspendingClock.Instant = { SuspendingClock.now }
    ) throws(SystemFailure) {
        self.time = time
        start = time()
        waker = try Waker()
        poller = try Poller()
        try poller.watch(waker.descriptor, for: .input, waker, .early)
        var made = pthread_t()
        let failure = unsafe pthread_create(
            &made, nil,
            { executor in
                // The thread retains its executor until it ends.
                if let executor = unsafe executor {
                    unsafe Unmanaged<SocketExecutor>.fromOpaque(executor).takeRetainedValue().run()
                }
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        guard failure == 0 else {
            unsafe Unmanaged.passUnretained(self).release()
            throw SystemFailure("start a thread", number: failure)
        }
        pthread_detach(made)
    }

    deinit { unsafe input.deallocate() }

    // MARK: Work

    /// Runs `block` on this thread, after earlier blocks. Any thread may call it.
    package func perform(_ block: @escaping @Sendable () -> Void) { give(.block(block)) }

    /// The same for a non-Sendable block. Only this thread may call it.
    func performNext(_ block: @escaping () -> Void) {
        assertOwned()
        give(.block(block))
    }

    package func enqueue(_ job: consuming ExecutorJob) { give(.job(UnownedJob(job))) }

    package func checkIsolated() { precondition(isOwned, "a client's connection was used outside of its thread") }

    package func isIsolatingCurrentContext() -> Bool? { isOwned }

    /// Runs all submitted work, closes the sockets, drops the timers, and ends the thread.
    package func stop() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let isStopped = inbox.withLock { inbox in
                guard inbox.phase != .stopped else { return true }
                inbox.phase = .stopping
                inbox.whenStopped.append(continuation)
                return false
            }
            if isStopped { continuation.resume() } else { waker.wake() }
        }
    }

    private var isOwned: Bool { owner.load(ordering: .relaxed) == pthread_self() }

    private func assertOwned() { assert(isOwned, "outside of the thread of the sockets") }

    private func give(_ work: Work) {
        // The runtime retains an executor only through its actors. Another thread may run this work at once, and the last
        // actor may end before this returns.
        let own = unsafe Unmanaged.passRetained(self)
        defer { unsafe own.release() }
        let (isFirst, isStopped) = inbox.withLock { inbox in
            inbox.work.append(work)
            return (inbox.work.count == 1, inbox.phase == .stopped)
        }
        if isStopped { return runLeftWork() }
        if isFirst, !isOwned { waker.wake() }
    }

    private func run(_ work: Work) {
        switch work {
        case .job(let job): unsafe job.runSynchronously(on: asUnownedSerialExecutor())
        case .block(let block): block()
        }
    }

    // MARK: The thread

    private func run() {
        owner.store(pthread_self(), ordering: .relaxed)
        unsafe authd_name_thread("sockets")
        while turn() {}
        owner.store(0, ordering: .releasing)
        runLeftWork()
        let waiting = inbox.withLock { inbox in
            defer { inbox.whenStopped = [] }
            return inbox.whenStopped
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Runs work that was submitted after the last turn, on the submitting thread. The caller has retained the executor.
    private func runLeftWork() {
        // If another thread runs work, it checks again after it has released ownership.
        while hasWork,
            owner.compareExchange(expected: 0, desired: pthread_self(), ordering: .acquiringAndReleasing).exchanged
        {
            let work = inbox.withLock { inbox in
                defer { inbox.work = [] }
                return inbox.work
            }
            for piece in work { run(piece) }
            owner.store(0, ordering: .releasing)
        }
    }

    /// - Returns: whether there is another turn.
    private func turn() -> Bool {
        let phase = takeWork()
        let hasRun = !work.isEmpty
        guard phase == .open else {
            runAllWork()
            // What was submitted before ``stop()``, while the other work waited.
            _ = takeWork()
            runAllWork()
            return end()
        }
        runWork()
        let (left, haveTimersRun) = runDueTimers()
        // Other threads wake this one; but the work that has just run may have submitted more without that.
        let isBusy = !work.isEmpty || ((haveTimersRun || hasRun) && hasWork)
        serve(poller.poll(milliseconds: isBusy || queue.count > 0 ? 0 : left))
        return true
    }

    /// Takes what was submitted, if all that was taken before has run.
    private func takeWork() -> Phase {
        guard work.isEmpty else { return inbox.withLock { $0.phase } }
        let phase = inbox.withLock { inbox in
            if !inbox.work.isEmpty { swap(&work, &inbox.work) }
            return inbox.phase
        }
        if work.count > 1 { work.reverse() }
        return phase
    }

    private func runAllWork() {
        while let piece = work.popLast() { run(piece) }
    }

    /// Runs as much as one turn's time allows, and at least one piece.
    private func runWork() {
        defer { if work.isEmpty, work.capacity > Self.keptWork { work = [] } }
        guard work.count > 1 else { return runAllWork() }
        let end = now + Self.turnTime
        while let piece = work.popLast() {
            run(piece)
            if now >= end { return }
        }
    }

    /// Serves ready descriptors, as many as one turn allows: a few in the order of the kernel, and if there are more, from a queue
    /// in which processes take turns. So a client beside hundreds of connections of another process waits for one or two of
    /// them, not for all.
    private func serve(_ ready: Int) {
        guard queue.count == 0, ready <= Self.servedAtOnce else {
            queueEvents(0..<ready)
            return serveQueue()
        }
        guard ready > 1 else {
            if ready == 1 { serveEvent(0) }
            return
        }
        let end = now + Self.turnTime
        for index in 0..<ready {
            serveEvent(index)
            if index + 1 < ready, now >= end { return queueEvents(index + 1..<ready) }
        }
    }

    /// The waker, and processes that have ended, do not wait.
    private func queueEvents(_ indices: Range<Int>) {
        for index in indices {
            if poller.isEarly(index) {
                serveEvent(index)
            } else if let (descriptor, process) = poller.queueForTurn(index) {
                queue.add(descriptor, of: process)
            }
        }
    }

    private func serveQueue() {
        let end = now + Self.turnTime
        for _ in 0..<Self.servedAtOnce {
            guard let descriptor = queue.next() else { return }
            if let (watcher, readiness) = poller.turn(of: descriptor) { watcher.ready(for: readiness) }
            if queue.count > 0, now >= end { return }
        }
    }

    private func serveEvent(_ index: Int) {
        if let (watcher, readiness) = poller.ready(index) { watcher.ready(for: readiness) }
    }

    /// Ends sockets and timers, until there is no more work.
    private func end() -> Bool {
        isEnding = true
        timers = TimerQueue()
        for watcher in poller.watchers { watcher.executorStops() }
        return inbox.withLock { inbox in
            guard inbox.work.isEmpty else { return true }
            inbox.phase = .stopped
            return false
        }
    }

    private var hasWork: Bool { inbox.withLock { !$0.work.isEmpty } }

    /// - Returns: how long to wait for the next timer: whole milliseconds, rounded up; -1 if there is none.
    private func runDueTimers() -> (left: CInt, haveRun: Bool) {
        guard timers.next != nil else { return (-1, false) }
        var now = now
        var haveRun = false
        while let work = timers.popDue(at: now) {
            work()
            haveRun = true
        }
        guard let next = timers.next else { return (-1, haveRun) }
        // Reading the clock costs as much as half of a plain request.
        if haveRun { now = self.now }
        let left = min(max(next - now, .zero), Self.longestWait).components
        return (CInt(left.seconds * 1000 + (left.attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000), haveRun)
    }

    /// epoll_wait(2) accepts an int of milliseconds. A later timer is waited for in parts.
    private static let longestWait = Duration.seconds(1_000_000)

    // MARK: Timers

    /// On the clock of the timers.
    var now: ExecutorInstant { ExecutorInstant(sinceStart: start.duration(to: time())) }

    /// Runs `work` on this thread at that time, or never if the executor stops first. Only this thread may call it.
    @discardableResult
    func schedule(at deadline: ExecutorInstant, _ work: @escaping () -> Void) -> TimerID {
        assertOwned()
        lastTimer += 1
        let id = TimerID(deadline: deadline, number: lastTimer)
        if !isEnding { timers.add(id, work) }
        return id
    }

    @discardableResult
    func schedule(in delay: Duration, _ work: @escaping () -> Void) -> TimerID { schedule(at: now + delay, work) }

    /// Only this thread may call it.
    func cancel(_ timer: TimerID) {
        assertOwned()
        timers.remove(timer)
    }

    // MARK: Sockets

    func watch(
        _ descriptor: CInt, for readiness: Readiness, _ watcher: any ReadinessHandler, _ order: ReportOrder = .always
    ) throws(SystemFailure) {
        assertOwned()
        try poller.watch(descriptor, for: readiness, watcher, order)
    }

    /// Ends a connection, and watches it until the client has received everything or has closed its end. What the
    /// client has not received uses memory of this process, even after the descriptor is closed.
    ///
    /// The watcher is called when little is left, and then calls ``authd_unreceived``.
    /// - Returns: `false` if there is nothing to wait for.
    func watchUnreceived(_ descriptor: CInt, _ watcher: any ReadinessHandler) -> Bool {
        assertOwned()
        guard !isEnding, authd_unreceived(descriptor) > 0, shutdown(descriptor, CInt(SHUT_RDWR)) == 0 else {
            return false
        }
        return (try? watch(descriptor, for: .output, watcher, .once)) != nil
    }

    func change(_ descriptor: CInt, to readiness: Readiness) {
        assertOwned()
        poller.change(descriptor, to: readiness)
    }

    func unwatch(_ descriptor: CInt) {
        assertOwned()
        poller.unwatch(descriptor)
    }

    /// Serves the descriptor again, after those that wait, because its watcher has not read everything.
    func serveAgain(_ descriptor: CInt, for readiness: Readiness) {
        assertOwned()
        guard let (queued, process) = poller.queueForTurn(descriptor, for: readiness) else { return }
        queue.add(queued, of: process)
    }

    /// Passes on available input of one sender, and wipes it.
    ///
    /// - Returns: the number of bytes, 0 at the end of the input, and -1 with errno set; and how many bytes are left, -1
    ///   if the kernel did not report that.
    func read(_ descriptor: CInt, for delegate: any ClientSocketDelegate) -> (count: Int, unread: CInt) {
        assertOwned()
        var count = 0
        var sender = authd_peer()
        var unread: CInt = -1
        repeat {
            count = unsafe authd_receive(descriptor, input.baseAddress, Self.maxInput, &sender, &unread)
        } while count < 0 && errno == EINTR
        guard count > 0 else { return (count, unread) }
        let bytes = unsafe UnsafeRawBufferPointer(rebasing: input[..<count])
        if unsafe !delegate.answeredAtOnce(bytes, from: PeerCredentials(sender)) {
            unsafe copy.writeBytes(bytes)
            delegate.received(copy, from: PeerCredentials(sender))
            copy.clear()
            unsafe copy.withUnsafeMutableWritableBytes { unsafe Self.wipe($0, count) }
        }
        unsafe Self.wipe(input, count)
        return (count, unread)
    }

    private static func wipe(_ bytes: UnsafeMutableRawBufferPointer, _ count: Int) {
        if let start = bytes.baseAddress { unsafe explicit_bzero(start, min(count, bytes.count)) }
    }
}
