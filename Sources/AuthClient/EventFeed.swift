import AuthConnection
import AuthWire
import Glibc
import Synchronization

/// One thread and one connection that receive events, and reconnect if the connection ends.
///
/// Invariants: the thread runs from the first `next` until `stop`; it reads only while there is room for events; the waiting
/// consumer is resumed once, never under the lock.
final class EventFeed: Sendable {
    private typealias Waiter = CheckedContinuation<Result<AgentEvent?, ClientError>, Never>

    private let path: String
    private let requiresOwnAgent: Bool
    private let subscription: SubscribeParams
    private let state = Mutex(State())

    private struct State {
        var events: [AgentEvent] = []
        var waiter: Waiter?
        /// Set while the thread runs.
        var wake: Wake?
        var isStopped = false
        /// Thrown once, after the events before it.
        var failure: ClientError?
    }

    init(path: String, requiresOwnAgent: Bool, subscription: SubscribeParams) {
        self.path = path
        self.requiresOwnAgent = requiresOwnAgent
        self.subscription = subscription
    }

    func next() async throws(ClientError) -> AgentEvent? {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let answer = state.withLock { nextEvent(&$0, or: waiter) }
                if let answer { waiter.resume(returning: answer) }
            }
        } onCancel: {
            stop()
        }
        return try result.get()
    }

    func stop() {
        let waiter = state.withLock { state in
            state.isStopped = true
            state.events = []
            state.wake?.signal()
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: .success(nil))
    }

    private func nextEvent(_ state: inout State, or waiter: Waiter) -> Result<AgentEvent?, ClientError>? {
        guard !state.isStopped, !Task.isCancelled else { return .success(nil) }
        if !state.events.isEmpty {
            if state.events.count == ClientLimits.queuedEvents { state.wake?.signal() }
            return .success(state.events.removeFirst())
        }
        if let failure = state.failure {
            state.failure = nil
            state.isStopped = true
            return .failure(failure)
        }
        guard state.waiter == nil else { return .failure(.system("two tasks use one iterator")) }
        if state.wake == nil {
            do throws(ClientError) {
                let wake = try Wake()
                let number = wake.reading.number
                try WorkThread.start { self.run(wake: number) }
                state.wake = wake
            } catch {
                return .failure(error)
            }
        }
        state.waiter = waiter
        return nil
    }

    // MARK: - The thread

    private enum Room {
        case some
        case none
        case stopped
    }

    /// - Parameter wake: stays open until this function clears `state.wake`.
    private func run(wake: Int32) {
        var pause = ClientLimits.firstPause
        var isDisconnected = false
        var connection: AgentConnection?
        while room() != .stopped {
            var requested = Duration.zero
            do throws(ClientError) {
                if let socket = try LocalSocket.attempt(path) {
                    if requiresOwnAgent { try socket.requireOwnServer() }
                    let made = AgentConnection(socket: socket)
                    connection = made
                    try follow(made, wake: wake) {
                        pause = ClientLimits.firstPause
                        isDisconnected = false
                    }
                }
            } catch {
                if case .otherUser = error {
                    fail(with: error)
                    break
                }
                if case .agent(let refusal) = error {
                    guard refusal.retryable else {
                        fail(with: error)
                        break
                    }
                    requested = min(refusal.retryAfter ?? .zero, ClientLimits.longestPause)
                }
                connection = nil
                if !isDisconnected { deliver(AgentEvent(topic: .agent, name: "disconnected", at: wallTime())) }
                isDisconnected = true
            }
            guard room() != .stopped else { break }
            wait(wake, nil, until: .after(requested + pause * Double.random(in: 0.5...1)))
            pause = min(pause * 2, ClientLimits.longestPause)
        }
        // The pair before the socket: when the peer sees the socket closed, all descriptors are closed.
        withExtendedLifetime(connection) { state.withLock { $0.wake = nil } }
    }

    /// Subscribes and delivers events until stopped. Calls `onEvent` for each event.
    private func follow(
        _ connection: AgentConnection, wake: Int32, onEvent: () -> Void
    ) throws(ClientError) {
        var deadline = Deadline.after(ClientLimits.subscribeTimeout)
        _ = try connection.begin(EventsSubscribe(subscription), deadline: deadline)
        while true {
            switch room() {
            case .stopped: return
            case .none: wait(wake, nil, until: .never)
            case .some:
                guard let message = try connection.nextMessage(deadline: .now) else {
                    guard !deadline.hasPassed else { throw .timedOut }
                    wait(wake, connection.fileDescriptor, until: deadline)
                    break
                }
                if case .answer(_, .failure(let error)) = message { throw .agent(error) }
                if case .event(let event) = message {
                    deadline = .never
                    onEvent()
                    deliver(event)
                }
            }
        }
    }

    private func room() -> Room {
        state.withLock { state in
            state.wake?.clear()
            if state.isStopped { return .stopped }
            return state.events.count < ClientLimits.queuedEvents ? .some : .none
        }
    }

    private func deliver(_ event: AgentEvent) {
        let waiter = state.withLock { state -> Waiter? in
            guard !state.isStopped else { return nil }
            guard let waiter = state.waiter else {
                state.events.append(event)
                return nil
            }
            state.waiter = nil
            return waiter
        }
        waiter?.resume(returning: .success(event))
    }

    private func fail(with error: ClientError) {
        let waiter = state.withLock { state -> Waiter? in
            defer { state.waiter = nil }
            if state.waiter == nil { state.failure = error } else { state.isStopped = true }
            return state.waiter
        }
        waiter?.resume(returning: .failure(error))
    }

    private func wait(_ wake: Int32, _ socket: Int32?, until deadline: Deadline) {
        var descriptors = [pollfd(fd: wake, events: Int16(POLLIN), revents: 0)]
        if let socket { descriptors.append(pollfd(fd: socket, events: Int16(POLLIN), revents: 0)) }
        waitUntilReady(&descriptors, until: deadline)
    }

    private func wallTime() -> Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
