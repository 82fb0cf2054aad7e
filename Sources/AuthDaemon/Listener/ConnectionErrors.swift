import AuthMachines
import AuthWire

/// Errors of a connection's limits.
extension AgentError {
    static func tooManyRequests(_ limits: ConnectionLimits) -> AgentError {
        AgentError(
            .busy,
            "This connection has \(limits.requestsPerConnection) requests in progress, the most that are allowed: "
                + "wait for some.", retryAfter: retryWhenBusy)
    }

    static func tooManyRequests(_ count: Int, ofProcess process: Int32) -> AgentError {
        AgentError(
            .busy, "Process \(process) has \(count) requests in progress, the most that are allowed: wait for some.",
            retryAfter: retryWhenBusy)
    }

    static func tooManyRequests(_ count: Int, ofUser user: UInt32) -> AgentError {
        AgentError(
            .busy,
            "User \(user) has \(count) requests in progress, the most that one user may have: wait for some.",
            retryAfter: retryWhenBusy)
    }

    static func tooManyConfinedRequests(_ count: Int) -> AgentError {
        AgentError(
            .busy,
            "Clients of the extra socket and in sandboxes have \(count) requests in progress, the most that are "
                + "allowed: wait for some.", retryAfter: retryWhenBusy)
    }

    static func tooManyRequests(ofConfinedProcess count: Int) -> AgentError {
        AgentError(
            .busy,
            "This process has \(count) requests in progress, the most that one client of the extra socket or in a sandbox may "
                + "have: wait for some.", retryAfter: retryWhenBusy)
    }

    static var tooManyLongRequests: AgentError {
        AgentError(
            .busy,
            "Long requests in progress use all the memory that this process, or all clients, may use: "
                + "wait for some.", retryAfter: retryWhenBusy)
    }

    static func tooManyConfined(_ open: Int) -> AgentError {
        AgentError(
            .busy,
            "Clients of the extra socket and in sandboxes have \(open) connections open, the most that are allowed: "
                + "close some.", retryAfter: retryWhenBusy)
    }

    static func tooManyConnections(_ open: Int, ofProcess process: Int32) -> AgentError {
        AgentError(
            .busy,
            "Process \(process) has \(open) connections open, the most that are allowed: "
                + "close some, or use one for several requests.", retryAfter: retryWhenBusy)
    }

    static func tooManyConnections(_ open: Int, ofUser user: UInt32) -> AgentError {
        AgentError(
            .busy, "User \(user) has \(open) connections open, the most that one user may have: close some.",
            retryAfter: retryWhenBusy)
    }

    static func tooManyConnections(of group: UnitConnections.Group) -> AgentError {
        let owner =
            switch group {
            case .unit(let name, _): "The programs of the unit \(name) have"
            case .process(let number): "Process \(number) has"
            }
        return AgentError(
            .busy, "\(owner) half of the connections that one user may have, the most that are allowed: close some.",
            retryAfter: retryWhenBusy)
    }

    static func tooManyConnections(inAll open: Int) -> AgentError {
        AgentError(
            .busy,
            "The agent has \(open) connections open, the most that its descriptor limit allows: close some.",
            retryAfter: retryWhenBusy)
    }

    /// The client does not complete its lines, and others need the memory.
    static let incompleteLines = AgentError(
        .busy,
        "Lines that are incomplete or wait for their turn use too much of the agent's memory, and most of it is this "
            + "process's: connect again, send complete lines, and fewer at once.", retryAfter: retryWhenBusy)

    static let senderChanged = AgentError(
        .denied,
        "A process other than the one that connected wrote to this connection, or that one has ended: each process needs "
            + "its own connection.", cause: "sender_changed")

    static func tooManyStreams(_ most: Int) -> AgentError {
        AgentError(
            .busy, "This connection streams \(most) calls, the most that are allowed: wait for one.",
            retryAfter: retryWhenBusy)
    }

    static var streamNameTaken: AgentError {
        AgentError(.conflict, "This connection already has a stream with that name.", cause: "stream")
    }
}
