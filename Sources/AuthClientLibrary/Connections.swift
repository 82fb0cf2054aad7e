import AuthConnection
import AuthWire
import Glibc

/// The connections of one client. A call takes one that is not in use, or opens one.
///
/// Invariant: a connection in `idle` has no call, and nothing that was sent on it is unanswered.
///
/// Sendable, because `idle` is only used under the lock.
final class Connections: @unchecked Sendable {
    /// More stay open only while their calls run.
    private static let maxIdle = 4

    let path: String
    private let lock = TryLock()
    private var idle: [CallConnection] = []
    /// The process that opened them: a child of fork(2) must not send on its parent's connections.
    private var process = getpid()

    init(path: String) {
        self.path = path
    }

    /// The result of a method.
    func result(of request: RPCRequest, deadline: Deadline) throws(ClientError) -> JSON {
        let connection = try acquire(deadline: deadline)
        defer { if connection.isIdle { release(connection) } }
        return try connection.result(of: request, deadline: deadline)
    }

    func open(deadline: Deadline) throws(ClientError) -> CallConnection {
        CallConnection(try AgentConnection(path: path, deadline: deadline))
    }

    private func acquire(deadline: Deadline) throws(ClientError) -> CallConnection {
        while let kept = next() {
            // Readable without a call: the agent has closed it.
            if !kept.hasInput { return kept }
        }
        return try open(deadline: deadline)
    }

    private func next() -> CallConnection? {
        let found = lock.attempt {
            if process != getpid() { (idle, process) = ([], getpid()) }
            return idle.popLast()
        }
        return found ?? nil
    }

    private func release(_ connection: CallConnection) {
        lock.attempt {
            if process == getpid(), idle.count < Self.maxIdle { idle.append(connection) }
        }
    }
}
