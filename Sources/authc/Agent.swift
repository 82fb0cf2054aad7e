import AuthConnection
import AuthWire
import Glibc

/// Calls the agent for a command: every call has a deadline, every error is a `Failure`.
struct Agent {
    /// The agent waits up to 60 s for a provider's response.
    static let defaultTimeout = Duration.seconds(70)
    /// Added to a limit that the agent enforces too, so that its error arrives first.
    static let grace = Duration.seconds(2)
    /// For a request that changes every session.
    static let changeOfAllSessions = Limits.changeOfAllSessions + grace
    /// A Unix socket connects at once or fails; it only blocks if its queue is full.
    private static let connectTimeout = Duration.seconds(10)

    let connection: AgentConnection
    private let timeout: Duration?

    /// - Parameter requiresOwnAgent: if not, it may be another user's agent, which gets no secret.
    init(path: String, timeout: Duration?, requiresOwnAgent: Bool) throws(Failure) {
        self.timeout = timeout
        do {
            connection = try AgentConnection(path: path, deadline: .after(timeout ?? Self.connectTimeout))
            if requiresOwnAgent { try connection.requireOwnAgent() }
        } catch {
            throw Failure(error, doing: "connect", within: timeout ?? Self.connectTimeout)
        }
    }

    /// Makes a first call while the agent can still identify this program, then closes this process's memory to others.
    /// Must run before a secret is read, sent or received.
    func introduce(watching signals: Signals? = nil) throws(Failure) {
        guard !MemoryGuard.isClosed else { return }
        do throws(Failure) {
            if let signals {
                _ = try result(of: AgentPing(), watching: signals, until: .after(timeout ?? Self.defaultTimeout))
            } else {
                _ = try result(of: AgentPing(), within: timeout ?? Self.defaultTimeout)
            }
        } catch {
            // Any response will do, unless it ends the connection.
            guard let answer = error.agentError, answer.kind != .denied, answer.kind != .busy else { throw error }
        }
        MemoryGuard.close()
    }

    /// - Parameter usual: the limit if `--timeout` sets none.
    func call<Method: AgentMethod>(
        _ method: Method, within time: Duration? = nil, usually usual: Duration = Self.defaultTimeout
    ) throws(Failure) -> (value: Method.Result, json: JSON) {
        if method.sendsSecrets { try introduce() }
        let json = try result(of: method, within: time ?? timeout ?? usual)
        return (try decode(json, of: method), json)
    }

    /// The same, cancelled by a signal.
    /// - Parameter onAccept: runs once the agent has received the request, unless it refuses the request at once.
    func call<Method: AgentMethod>(
        _ method: Method, watching signals: Signals, until deadline: Deadline? = nil, onAccept: (() -> Void)? = nil
    ) throws(Failure) -> Method.Result {
        if method.holdsSecrets { try introduce(watching: signals) }
        let deadline = deadline ?? .after(timeout ?? Self.defaultTimeout)
        return try decode(result(of: method, watching: signals, until: deadline, onAccept: onAccept), of: method)
    }

    /// The result as the agent has sent it.
    func json<Method: AgentMethod>(of method: Method) throws(Failure) -> JSON {
        try result(of: method, within: timeout ?? Self.defaultTimeout)
    }

    private func result<Method: AgentMethod>(of method: Method, within time: Duration) throws(Failure) -> JSON {
        do throws(ClientError) {
            let deadline = Deadline.after(time)
            guard method.holdsSecrets, !MemoryGuard.isClosed else {
                return try connection.result(of: method, deadline: deadline)
            }
            // Both are sent at once, which saves a round trip. The answer to the first comes at once, and nothing is read
            // before the memory is closed.
            _ = try connection.begin(AgentPing(), deadline: deadline)
            let id = try connection.begin(method, deadline: deadline)
            try connection.waitForInput(deadline: deadline)
            MemoryGuard.close()
            return try connection.result(to: id, deadline: deadline)
        } catch {
            throw Failure(error, doing: Method.name, within: time)
        }
    }

    private func result<Method: AgentMethod>(
        of method: Method, watching signals: Signals, until deadline: Deadline, onAccept: (() -> Void)? = nil
    ) throws(Failure) -> JSON {
        var onAccept = onAccept
        do throws(ClientError) {
            let id = try connection.begin(method, deadline: deadline)
            // The ping is answered at once, but not before an immediate refusal of the first request.
            if onAccept != nil { _ = try connection.begin(AgentPing(), deadline: deadline) }
            while true {
                while let message = try connection.nextMessage(deadline: .now) {
                    guard case .answer(let answered, let result) = message else { continue }
                    if answered == id, case .failure(let error) = result { throw .agent(error) }
                    onAccept?()
                    onAccept = nil
                    if answered == id { return try result.mapError(ClientError.agent).get() }
                }
                switch signals.wait(for: .readable(connection.fileDescriptor), until: deadline) {
                case .ready: break
                case .deadline: throw .timedOut
                case .signal where signals.caught == SIGTSTP: signals.stopProgram()
                case .signal: throw .cancelled
                }
            }
        } catch {
            throw Failure(error, doing: Method.name, within: timeout ?? Self.defaultTimeout)
        }
    }

    func decode<Method: AgentMethod>(_ json: JSON, of _: Method) throws(Failure) -> Method.Result {
        do throws(ClientError) {
            return try decoded(json)
        } catch {
            throw Failure(error, doing: Method.name, within: timeout ?? Self.defaultTimeout)
        }
    }
}
