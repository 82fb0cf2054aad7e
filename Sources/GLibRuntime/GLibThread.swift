import CSecret
import Synchronization

/// A thread that runs a GMainLoop on its own context, as the executor of the actors that use GLib.
///
/// Invariant: everything runs here while this thread owns the context, which is its thread-default one. So the result of every
/// GIO call of an actor of this executor comes from this loop, and two pieces of work never run at once.
/// @unchecked Sendable: any thread may use `context` and `loop`, `state` is protected by its mutex, and `operations` is used
/// only after `assertOwned`.
package final class GLibThread: SerialExecutor, @unchecked Sendable {
    private let context: OpaquePointer
    private let loop: OpaquePointer
    private let state = Mutex(State())
    private var operations: [ObjectIdentifier: any GLibOperation] = [:]

    private struct State {
        var work: [Work] = []
        /// `work` is about to run: the thread need not be woken.
        var isScheduled = false
        var phase = Phase.running(nil)
    }

    private enum Phase {
        /// With the thread, once it exists.
        case running(ThreadHandle?)
        case stopping
        case ended
    }

    private enum Work {
        case job(UnownedJob)
        case block(@Sendable () -> Void)
    }

    /// - Throws: ``GLibFailure/error(_:)`` if there is no thread.
    package init(name: String = "glib") throws(GLibFailure) {
        context = g_main_context_new()
        loop = g_main_loop_new(context, 0)
        var error: UnsafeMutablePointer<GError>?
        let thread = g_thread_try_new(
            name,
            { data in
                // The thread retains its executor until stop().
                guard let data else { return nil }
                Unmanaged<GLibThread>.fromOpaque(data).takeRetainedValue().run()
                return nil
            }, Unmanaged.passRetained(self).toOpaque(), &error)
        guard let thread else {
            Unmanaged.passUnretained(self).release()
            throw GLibFailure(taking: error)
        }
        let handle = ThreadHandle(pointer: thread)
        state.withLock { $0.phase = .running(handle) }
    }

    deinit {
        g_main_loop_unref(loop)
        g_main_context_unref(context)
    }

    /// Ends the loop and joins the thread. Calls in progress and later ones end with ``GLibFailure/ended``. Any other thread
    /// may call it; a second call returns at once.
    package func stop() {
        let thread: ThreadHandle? = state.withLock { state in
            guard case .running(let thread) = state.phase else { return nil }
            state.phase = .stopping
            return thread
        }
        guard let thread else { return }
        perform { [self] in
            for operation in operations.values { operation.abandon(.ended) }
            g_main_loop_quit(loop)
        }
        g_thread_join(thread.pointer)
    }

    /// Runs `block` on this thread, after earlier blocks.
    package func perform(_ block: @escaping @Sendable () -> Void) {
        add(.block(block))
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        add(.job(UnownedJob(job)))
    }

    package func checkIsolated() {
        assertOwned()
    }

    package func isIsolatingCurrentContext() -> Bool? {
        isOwned
    }

    /// Traps on another thread: a GIO call begun there would wait for a context that nobody runs.
    package func assertOwned() {
        precondition(isOwned, "GLib was used outside of its thread")
    }

    private var isOwned: Bool { g_main_context_is_owner(context) != 0 }

    private func run() {
        g_main_context_push_thread_default(context)
        g_main_loop_run(loop)
        // Cancelled calls still deliver their results, and those free their memory.
        var iterations = 0
        while iterations < Self.maxFinalIterations, g_main_context_iteration(context, 0) != 0 { iterations += 1 }
        g_main_context_pop_thread_default(context)
        let isLeft = state.withLock { state in
            state.phase = .ended
            return state.isScheduled
        }
        if isLeft { drainAfterEnd() }
    }

    /// Enough for every cancelled call to return, and a limit if some source is always ready.
    private static let maxFinalIterations = 1000

    private func add(_ work: Work) {
        let isEnded = state.withLock { state in
            state.work.append(work)
            guard !state.isScheduled else { return false }
            state.isScheduled = true
            if case .ended = state.phase { return true }
            wake()
            return false
        }
        if isEnded { drainAfterEnd() }
    }

    /// Called with the lock of `state`, so that the work does not run before this has returned. The runtime does not retain the
    /// executor of a job that it submits, and the job may release the last actor of this executor, and with it the context.
    private func wake() {
        guard let source = g_idle_source_new() else { return }
        g_source_set_priority(source, G_PRIORITY_DEFAULT)
        // Not retained: only run() dispatches sources, and the thread retains its executor until that returns.
        g_source_set_callback(
            source,
            { data in
                if let data { Unmanaged<GLibThread>.fromOpaque(data).takeUnretainedValue().drain() }
                return 0
            }, Unmanaged.passUnretained(self).toOpaque(), nil)
        g_source_attach(source, context)
        g_source_unref(source)
    }

    private func drain() {
        let work = state.withLock { state in
            state.isScheduled = false
            defer { state.work = [] }
            return state.work
        }
        for item in work { run(item) }
    }

    /// Work after the end still runs, one piece at a time, on the submitting thread: a waiting task must get its error. No
    /// GIO call begins here any more.
    private func drainAfterEnd() {
        // The runtime retains an executor only through its actors, and the last of them may end with its job here.
        let own = Unmanaged.passRetained(self)
        defer { own.release() }
        while g_main_context_acquire(context) == 0 { g_thread_yield() }
        defer { g_main_context_release(context) }
        while true {
            let work: [Work] = state.withLock { state in
                if state.work.isEmpty { state.isScheduled = false }
                defer { state.work = [] }
                return state.work
            }
            if work.isEmpty { return }
            for item in work { run(item) }
        }
    }

    private func run(_ work: Work) {
        switch work {
        case .job(let job): job.runSynchronously(on: asUnownedSerialExecutor())
        case .block(let block): block()
        }
    }
}

extension GLibThread {
    /// Whether calls may still begin.
    var isOpen: Bool {
        state.withLock { state in
            if case .running = state.phase { true } else { false }
        }
    }

    func add(_ operation: any GLibOperation) {
        assertOwned()
        operations[ObjectIdentifier(operation)] = operation
    }

    func attach(_ source: UnsafeMutablePointer<GSource>?) {
        g_source_attach(source, context)
    }

    func remove(_ operation: any GLibOperation) {
        assertOwned()
        operations[ObjectIdentifier(operation)] = nil
    }

    /// A source that calls `operation` once after `delay`, attached here. The caller destroys and unrefs it.
    func timer(after delay: Duration, for operation: any GLibOperation) -> UnsafeMutablePointer<GSource>? {
        assertOwned()
        let source = g_timeout_source_new(delay.milliseconds)
        let box = TimerTarget(operation)
        g_source_set_callback(
            source,
            { data in
                if let data { Unmanaged<TimerTarget>.fromOpaque(data).takeUnretainedValue().operation.limitReached() }
                return 0
            }, Unmanaged.passRetained(box).toOpaque(),
            { data in
                if let data { Unmanaged<TimerTarget>.fromOpaque(data).release() }
            })
        g_source_attach(source, context)
        return source
    }
}

// @unchecked Sendable: any thread may join another, and stop() removes the handle from the state once.
private struct ThreadHandle: @unchecked Sendable {
    let pointer: UnsafeMutablePointer<GThread>
}

private final class TimerTarget {
    let operation: any GLibOperation

    init(_ operation: any GLibOperation) {
        self.operation = operation
    }
}
