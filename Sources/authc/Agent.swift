import AuthClient
import AuthWire
import Glibc

/// The agent as a command speaks to it: every call with a deadline, every error a `Failure`.
struct Agent {
    /// The agent gives a provider's whole answer 60 s.
    static let usualTime = Duration.seconds(70)
    /// Where the agent keeps the time itself, its own words about it come first.
    static let grace = Duration.seconds(2)
    /// A Unix socket is reached at once or not at all; longer means that its queue is full.
    private static let connectTime = Duration.seconds(10)

    let connection: AgentConnection
    private let timeout: Duration?

    init(path: String, timeout: Duration?) throws(Failure) {
        self.timeout = timeout
        do {
            connection = try AgentConnection(path: path, deadline: .after(timeout ?? Self.connectTime))
        } catch {
            throw Failure(error, doing: "connect", within: timeout ?? Self.connectTime)
        }
    }

    /// Gets a first answer while the agent can still see which program this is, and closes this process's memory to others.
    /// Before a secret is read, sent or received.
    func introduce(watching signals: Signals? = nil) throws(Failure) {
        guard !MemoryGuard.isClosed else { return }
        let time = timeout ?? Self.usualTime
        do throws(Failure) {
            if let signals {
                _ = try call(.agentPing, watching: signals) { $0 }
            } else {
                _ = try call(.agentPing, within: time) { $0 }
            }
        } catch {
            // Any answer will do, unless it ends the connection: then it says why.
            guard let answer = error.agentError, answer.kind != .denied, answer.kind != .busy else { throw error }
        }
        MemoryGuard.close()
    }

    func call<Value>(
        _ request: AgentRequest, _ make: (JSON) throws(AgentError) -> Value
    ) throws(Failure) -> (value: Value, json: JSON) {
        let time = timeout ?? Self.usualTime
        return try call(request, within: time, make)
    }

    func call<Value>(
        _ request: AgentRequest, within time: Duration, _ make: (JSON) throws(AgentError) -> Value
    ) throws(Failure) -> (value: Value, json: JSON) {
        if request.holdsSecrets { try introduce() }
        do throws(ClientError) {
            let json = try connection.call(request, deadline: .after(time))
            return (try decoded(json, make), json)
        } catch {
            throw Failure(error, doing: request.method.rawValue, within: time)
        }
    }

    /// The same, given up as soon as a signal says so.
    func call<Value>(
        _ request: AgentRequest, watching signals: Signals, until deadline: Deadline? = nil,
        _ make: (JSON) throws(AgentError) -> Value
    ) throws(Failure) -> Value {
        if request.holdsSecrets { try introduce(watching: signals) }
        let time = timeout ?? Self.usualTime
        let deadline = deadline ?? .after(time)
        do throws(ClientError) {
            let id = try connection.begin(request, deadline: deadline)
            while true {
                if case .answer(id, let result)? = try connection.nextMessage(deadline: .now) {
                    return try decoded(try result.mapError(ClientError.agent).get(), make)
                }
                switch signals.wait(for: connection.fileDescriptor, until: deadline) {
                case .ready: break
                case .deadline: throw .timedOut
                case .signal where signals.caught == SIGTSTP: signals.stopProgram()
                case .signal: throw .cancelled
                }
            }
        } catch {
            throw Failure(error, doing: request.method.rawValue, within: time)
        }
    }
}
