import AuthConnection
import AuthWire
import Glibc
import Synchronization

/// One thread and one connection for all calls of an asynchronous client.
///
/// Invariants: the thread runs from the first call until `close`; a call's continuation is resumed once, never under the lock;
/// only the thread uses the socket and the read buffer.
final class CallLoop: Sendable {
    private let path: String
    private let requiresOwnAgent: Bool
    private let state = Mutex(State())

    private struct State {
        var calls = CallQueue()
        /// Set while the thread runs.
        var wake: Wake?
        var isClosed = false
    }

    init(path: String, requiresOwnAgent: Bool) {
        self.path = path
        self.requiresOwnAgent = requiresOwnAgent
    }

    func call(_ method: some AgentMethod, deadline: Deadline) async throws(ClientError) -> JSON {
        let id = state.withLock { $0.calls.nextID() }
        let line = try Message.line(id: id, method)
        let answer = await withTaskCancellationHandler {
            await withCheckedContinuation { finish in
                add(
                    CallQueue.Call(
                        id: id, line: line, sendsSecrets: method.sendsSecrets, deadline: deadline, finish: finish))
            }
        } onCancel: {
            cancel(id)
        }
        return try answer.get()
    }

    /// Ends every call with `cancelled`, then the thread. Returns at once.
    func close() {
        let ended = state.withLock { state in
            state.isClosed = true
            state.wake?.signal()
            return state.calls.all()
        }
        finish(ended, .cancelled)
    }

    private func add(_ call: CallQueue.Call) {
        let refusal: ClientError? = state.withLock { state in
            // The task may have been cancelled before the call was added.
            guard !state.isClosed, !Task.isCancelled else { return .cancelled }
            do throws(ClientError) {
                try startThread(&state)
            } catch {
                return error
            }
            state.calls.add(call)
            state.wake?.signal()
            return nil
        }
        if let refusal { call.finish.resume(returning: .failure(refusal)) }
    }

    private func cancel(_ id: Int64) {
        let call = state.withLock { state in
            // The thread's next deadline may change, and another call may be sent.
            state.wake?.signal()
            return state.calls.cancelled(id)
        }
        call?.finish.resume(returning: .failure(.cancelled))
    }

    private func finish(_ calls: [CallQueue.Call], _ error: ClientError) {
        for call in calls { call.finish.resume(returning: .failure(error)) }
    }

    // MARK: - The thread

    private func startThread(_ state: inout State) throws(ClientError) {
        guard state.wake == nil else { return }
        let wake = try Wake()
        let number = wake.reading.number
        try WorkThread.start { self.run(wake: number) }
        state.wake = wake
    }

    private enum Step {
        case end
        case connect(until: Deadline)
        case reconnect
        case exchange(lines: [UInt8], until: Deadline)
    }

    /// - Parameter wake: stays open until this function clears `state.wake`.
    private func run(wake: Int32) {
        var link: Link?
        while true {
            switch nextStep(link) {
            case .end:
                // The pair first: when the peer sees the socket closed, all descriptors are closed.
                withExtendedLifetime(link) { state.withLock { $0.wake = nil } }
                return
            case .reconnect:
                link = nil
                finish(state.withLock { $0.calls.disconnected() }, .closed)
            case .connect(let deadline):
                link = connect(wake, until: deadline)
            case .exchange(let lines, let deadline):
                guard link != nil else {
                    var descriptors = [pollfd(fd: wake, events: Int16(POLLIN), revents: 0)]
                    waitUntilReady(&descriptors, until: deadline)
                    continue
                }
                do throws(ClientError) {
                    try link?.exchange(sending: lines, wake: wake, until: deadline, deliver: deliver)
                } catch {
                    link = nil
                    finish(state.withLock { $0.calls.disconnected() }, error)
                }
            }
        }
    }

    /// Why this connection must not carry secrets; `nil` if it may, or if there is none.
    private func secretObstacle(of link: Link?) -> ClientError? {
        do throws(ClientError) {
            try link?.requireOwnServer()
            return nil
        } catch {
            return error
        }
    }

    private func nextStep(_ link: Link?) -> Step {
        let isConnected = link != nil
        let obstacle = secretObstacle(of: link)
        var refused: [CallQueue.Call] = []
        let (step, late): (Step, [CallQueue.Call]) = state.withLock { state in
            state.wake?.clear()
            guard !state.isClosed else { return (.end, []) }
            let late = state.calls.overdue(at: .now)
            // Under the same lock as removing the lines: a call that is added in between would be sent.
            if obstacle != nil { refused = state.calls.unsentSecrets() }
            let deadline = state.calls.earliestDeadline
            if !isConnected && state.calls.hasUnsent { return (.connect(until: deadline), late) }
            if state.calls.isBlocked { return (.reconnect, late) }
            return (.exchange(lines: isConnected ? state.calls.removeUnsentLines() : [], until: deadline), late)
        }
        finish(late, .timedOut)
        if let obstacle { finish(refused, obstacle) }
        return step
    }

    private func connect(_ wake: Int32, until deadline: Deadline) -> Link? {
        do throws(ClientError) {
            if let socket = try LocalSocket.attempt(path) {
                if requiresOwnAgent { try socket.requireOwnServer() }
                return Link(socket: socket)
            }
            var descriptors = [pollfd(fd: wake, events: Int16(POLLIN), revents: 0)]
            waitUntilReady(&descriptors, until: min(deadline, .after(ClientLimits.connectPause)))
        } catch {
            finish(state.withLock { $0.calls.all() }, error)
        }
        return nil
    }

    private func deliver(_ message: Message) {
        guard case .answer(let id, let result) = message else { return }
        let call = state.withLock { $0.calls.answered(id) }
        call?.finish.resume(returning: result.mapError(ClientError.agent))
    }
}
