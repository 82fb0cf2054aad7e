import AuthAgent
import AuthFiles
import CSystemd
import Glibc
import Synchronization

/// Our end of a pair of sockets. A client writes a body to the other end.
///
/// It only receives: no bytes leave the agent through it, and no descriptors come in. From Linux 6.16 on, a client
/// cannot block a call: each end has its own lock in the kernel, and bytes are read without waiting. The ends of a pipe
/// share one lock, and a client could hold it with a splice(2) from a file that does not answer. The reader's thread
/// reads; the executor only watches the socket while the reader waits. @unchecked Sendable: `isWatched` is used only by
/// the executor's thread, and the rest is Sendable itself.
final class InputSocket: BodySocket, ReadinessHandler, @unchecked Sendable {
    private struct State {
        /// `nil` after ``InputSocket/close()``.
        var descriptor: CInt?
        var notify: (@Sendable () -> Void)?
    }

    private let executor: SocketExecutor
    /// Called once, when the descriptor has been closed.
    private let whenClosed: @Sendable () -> Void
    private let state: Mutex<State>
    private var isWatched = false

    private init(_ descriptor: CInt, on executor: SocketExecutor, whenClosed: @escaping @Sendable () -> Void) {
        self.executor = executor
        self.whenClosed = whenClosed
        state = Mutex(State(descriptor: descriptor))
    }

    /// The client's end, until the client has a descriptor of it.
    struct ClientEnd {
        let number: CInt

        func close() { Glibc.close(number) }
    }

    /// - Parameters:
    ///   - room: bytes that the kernel holds for the reader. It doubles the number for its own data about them, and
    ///     allows at most `net.core.wmem_max` (socket(7)).
    ///   - refusesDescriptors: fails on kernels that cannot refuse descriptors (before Linux 6.16). They close a
    ///     descriptor that the client sends in the reader's thread, which may take long.
    ///   - whenClosed: called once, when the agent's end has been closed; not if an error is thrown.
    /// - Returns: the socket, and the client's end, which the caller closes. Neither blocks.
    static func open(
        on executor: SocketExecutor, room: Int, refusesDescriptors: Bool = false,
        whenClosed: @escaping @Sendable () -> Void = {}
    ) throws(SystemFailure) -> (socket: InputSocket, end: ClientEnd) {
        var ends: (CInt, CInt) = (-1, -1)
        let made = unsafe withUnsafeMutablePointer(to: &ends) { pair in
            unsafe pair.withMemoryRebound(to: CInt.self, capacity: 2) {
                unsafe authd_body_sockets($0, CInt(room), refusesDescriptors)
            }
        }
        guard made == 0 else { throw SystemFailure("create sockets for a body") }
        return (InputSocket(ends.0, on: executor, whenClosed: whenClosed), ClientEnd(number: ends.1))
    }

    deinit {
        guard let descriptor = state.withLock({ $0.descriptor }) else { return }
        Glibc.close(descriptor)
        whenClosed()
    }

    var isReady: Bool {
        state.withLock { state in
            guard let descriptor = state.descriptor else { return true }
            var found = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            return unsafe Glibc.poll(&found, 1, 0) > 0
        }
    }

    func read(into room: UnsafeMutableRawBufferPointer) -> Int? {
        state.withLock { state in
            guard let descriptor = state.descriptor else { return 0 }
            while true {
                let count = unsafe recv(descriptor, room.baseAddress, room.count, CInt(MSG_DONTWAIT))
                if count >= 0 { return count }
                guard errno == EINTR else { return errno == EAGAIN ? nil : 0 }
            }
        }
    }

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
                Glibc.close(descriptor)
                whenClosed()
            }
        }
        // A reader that still waits finds the end.
        former.notify?()
    }

    // MARK: The executor's thread

    private func watch() {
        let (descriptor, notify) = state.withLock { ($0.descriptor, $0.notify) }
        // It was closed after the reader had looked.
        guard let descriptor else {
            state.withLock { $0.notify = nil }
            notify?()
            return
        }
        guard notify != nil, !isWatched else { return }
        do throws(SystemFailure) {
            try executor.watch(descriptor, for: .input, self, .once)
            isWatched = true
        } catch {
            // The client asks for another one.
            close()
        }
    }

    func ready(for readiness: Readiness) {
        let (descriptor, notify) = state.withLock { state in
            defer { state.notify = nil }
            return (state.descriptor, state.notify)
        }
        // Until the reader waits again, neither more input nor its end wakes this thread.
        if let descriptor {
            isWatched = false
            executor.unwatch(descriptor)
        }
        notify?()
    }

    func executorStops() {
        isWatched = false
        close()
    }
}
