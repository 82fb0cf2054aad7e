import AuthWire
import Synchronization

/// The open sockets for bodies of all clients.
///
/// Invariant: a socket counts from ``begin(isConfined:)`` until ``end(isConfined:)``, when its descriptor has been closed.
/// Any thread may close it.
final class BodySocketBudget: Sendable {
    private struct Use {
        var all = 0
        var confined = 0
    }

    private let limits: (all: Int, confined: Int)
    private let counters: AgentCounters
    private let use = Mutex(Use())

    init(_ limits: ConnectionLimits, counters: AgentCounters) {
        self.limits = (limits.bodySockets, limits.confinedBodySockets)
        self.counters = counters
    }

    /// Counts a socket.
    /// - Throws: `busy` if a limit is reached. Then nothing is counted.
    func begin(isConfined: Bool) throws(AgentError) {
        let refusal = use.withLock { use -> AgentError? in
            guard use.all < limits.all else { return .tooManyBodySockets(use.all) }
            guard !isConfined || use.confined < limits.confined else {
                return .tooManyConfinedBodySockets(use.confined)
            }
            use.all += 1
            if isConfined { use.confined += 1 }
            return nil
        }
        if let refusal { throw refusal }
        counters.bodySocketOpened()
    }

    /// Balances ``begin(isConfined:)``, with the same argument.
    func end(isConfined: Bool) {
        use.withLock { use in
            use.all -= 1
            if isConfined { use.confined -= 1 }
        }
        counters.bodySocketClosed()
    }
}

extension AgentError {
    fileprivate static func tooManyBodySockets(_ open: Int) -> AgentError {
        AgentError(
            .busy, "The agent has \(open) sockets for bodies open, the most that are allowed: use pieces.")
    }

    fileprivate static func tooManyConfinedBodySockets(_ open: Int) -> AgentError {
        AgentError(
            .busy,
            "Clients of the extra socket and in sandboxes have \(open) sockets for bodies open, the most that are "
                + "allowed: use pieces.")
    }
}
