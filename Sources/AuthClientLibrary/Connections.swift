import AuthClient
import AuthWire
import Glibc
import Synchronization

/// The connections of one client. A call takes one that is not in use, or opens one.
///
/// Invariant: a connection in `idle` has no call, and nothing that was sent on it is unanswered.
final class Connections: Sendable {
    /// More stay open only while their calls run.
    private static let maxIdle = 4

    private struct Idle {
        var connections: [CallConnection] = []
        /// The process that opened them: a child of fork(2) must not send on its parent's connections.
        var process = getpid()
    }

    let path: String
    private let idle = Mutex(Idle())

    init(path: String) {
        self.path = path
    }

    /// The result of a method.
    func result(of request: RPCRequest, deadline: Deadline) throws(ClientError) -> JSON {
        let connection = try take(deadline: deadline)
        do throws(ClientError) {
            let result = try connection.result(of: request, deadline: deadline)
            put(connection)
            return result
        } catch {
            // After any other error a response may still arrive.
            if case .agent = error { put(connection) }
            throw error
        }
    }

    func open(deadline: Deadline) throws(ClientError) -> CallConnection {
        CallConnection(try AgentConnection(path: path, deadline: deadline))
    }

    private func take(deadline: Deadline) throws(ClientError) -> CallConnection {
        while let kept = next() {
            // Readable without a call: the agent has closed it.
            if !kept.hasInput { return kept }
        }
        return try open(deadline: deadline)
    }

    private func next() -> CallConnection? {
        idle.withLock { idle in
            if idle.process != getpid() { idle = Idle() }
            return idle.connections.popLast()
        }
    }

    private func put(_ connection: CallConnection) {
        idle.withLock { idle in
            guard idle.process == getpid(), idle.connections.count < Self.maxIdle else { return }
            idle.connections.append(connection)
        }
    }
}
