import AuthFiles
import CSystemd
import Glibc
import Synchronization

/// Our end of a pair of sockets for a body. Another thread reads or writes, and the executor watches it while that thread
/// waits.
///
/// Its descriptor is closed only when the client has received everything, or has closed its end
/// (``SocketExecutor/watchUnreceived(_:_:)``).
///
/// @unchecked Sendable: `isWatched` and `unreceived` are used only by the executor's thread, and the rest is Sendable
/// itself.
class WatchedSocket: ReadinessHandler, @unchecked Sendable {
    private struct State {
        /// `nil` after ``WatchedSocket/close()``.
        var descriptor: CInt?
        var notify: (@Sendable () -> Void)?
    }

    private let executor: SocketExecutor
    private let readiness: Readiness
    /// Called once, when the descriptor has been closed.
    private let whenClosed: @Sendable () -> Void
    private let state: Mutex<State>
    private var isWatched = false
    /// The descriptor after ``close()``, while the client has not received everything.
    private var unreceived: CInt?

    /// The client's end, until the client has a descriptor of it.
    struct ClientEnd {
        let number: CInt

        func close() { Glibc.close(number) }
    }

    init(
        _ descriptor: CInt, for readiness: Readiness, on executor: SocketExecutor,
        whenClosed: @escaping @Sendable () -> Void
    ) {
        self.executor = executor
        self.readiness = readiness
        self.whenClosed = whenClosed
        state = Mutex(State(descriptor: descriptor))
    }

    deinit {
        guard let descriptor = state.withLock({ $0.descriptor }) else { return }
        Glibc.close(descriptor)
        whenClosed()
    }

    /// The descriptor is not closed before `use` returns. `nil`: it has been closed.
    func withDescriptor<Value: Sendable>(_ use: (CInt?) -> Value) -> Value { state.withLock { use($0.descriptor) } }

    /// Calls `notify` once the socket is ready or closed. A later call replaces it.
    func whenReady(_ notify: @escaping @Sendable () -> Void) {
        state.withLock { $0.notify = notify }
        executor.perform { [self] in watch() }
    }

    func close() {
        let former = state.withLock { state in
            defer { state = State() }
            return state
        }
        if let descriptor = former.descriptor {
            executor.perform { [self] in
                if isWatched { executor.unwatch(descriptor) }
                isWatched = false
                if readiness.contains(.output), executor.watchUnreceived(descriptor, self) {
                    unreceived = descriptor
                } else {
                    Glibc.close(descriptor)
                    whenClosed()
                }
            }
        }
        // A thread that still waits finds the end.
        former.notify?()
    }

    // MARK: The executor's thread

    private func watch() {
        let (descriptor, notify) = state.withLock { ($0.descriptor, $0.notify) }
        // It was closed after the other thread had tried to use it.
        guard let descriptor else {
            state.withLock { $0.notify = nil }
            notify?()
            return
        }
        guard notify != nil, !isWatched else { return }
        do throws(SystemFailure) {
            try executor.watch(descriptor, for: readiness, self, .once)
            isWatched = true
        } catch {
            close()
        }
    }

    private func closeUnreceived(_ descriptor: CInt) {
        unreceived = nil
        executor.unwatch(descriptor)
        Glibc.close(descriptor)
        whenClosed()
    }

    func ready(for readiness: Readiness) {
        if let unreceived {
            if authd_unreceived(unreceived) == 0 { closeUnreceived(unreceived) }
            return
        }
        let (descriptor, notify) = state.withLock { state in
            defer { state.notify = nil }
            return (state.descriptor, state.notify)
        }
        // Until somebody waits again, nothing about this socket wakes this thread.
        if let descriptor {
            isWatched = false
            executor.unwatch(descriptor)
        }
        notify?()
    }

    func executorStops() {
        if let unreceived { return closeUnreceived(unreceived) }
        isWatched = false
        close()
    }
}
