import AuthConcurrency
import AuthModel
import AuthWire

/// Keeps moves of sessions apart from other work: during a move none begins, and a move waits for what has begun.
final class MoveGate: Sendable {
    private struct Use: Equatable {
        var pieces = 0
        var isClosed = false
        var moves = 0

        mutating func begin() -> Bool {
            if !isClosed { pieces += 1 }
            return !isClosed
        }

        mutating func close() -> Bool {
            defer { isClosed = true }
            return !isClosed
        }
    }

    private let use = StateBroadcast(Use())

    /// How often it was closed and opened again.
    var moves: Int { use.current?.moves ?? 0 }

    /// Returns when a piece of work may begin. Its end calls ``leave()``.
    /// - Returns: `false`: the task was cancelled first.
    func enter() async -> Bool {
        while !use.update({ $0?.begin() ?? false }) {
            guard await use.wait(until: { !$0.isClosed }) else { return false }
        }
        return true
    }

    func leave() { use.update { $0?.pieces -= 1 } }

    /// Lets nothing begin until ``reopen()``. Returns when nothing is in progress.
    /// - Throws: if it is closed already, or if the task was cancelled first: then this call has not closed it.
    func close() async throws(AgentError) {
        guard use.update({ $0?.close() ?? false }) else {
            throw AgentError(.busy, "Another command is moving or renewing all sessions: try again.", cause: "moving")
        }
        guard await use.wait(until: { $0.pieces == 0 }) else {
            reopen()
            throw .callerGone
        }
    }

    func reopen() {
        use.update {
            $0?.isClosed = false
            $0?.moves += 1
        }
    }
}
