import AuthMachines
import AuthWire

/// Errors of a connection's limits.
extension AgentError {
    static func tooManyRequests(_ limits: ConnectionLimits) -> AgentError {
        AgentError(
            .busy,
            "This connection has \(limits.requestsPerConnection) requests in progress, the most that are allowed: "
                + "wait for some.")
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

    static var tooManyLongRequests: AgentError {
        AgentError(
            .busy,
            "Long requests in progress use all the memory that this process, or all clients, may use: "
                + "wait for some.")
    }

    static func tooManyConfined(_ open: Int) -> AgentError {
        AgentError(
            .busy,
            "Clients of the extra socket and in sandboxes have \(open) connections open, the most that are allowed: close some."
        )
    }

    static let senderChanged = AgentError(
        .denied,
        "A process other than the one that connected wrote to this connection, or that one has ended: each process needs "
            + "its own connection.", cause: "sender_changed")

    static func tooManyStreams(_ most: Int) -> AgentError {
        AgentError(.busy, "This connection streams \(most) calls, the most that are allowed: wait for one.")
    }

    static var streamNameTaken: AgentError {
        AgentError(.conflict, "This connection already has a stream with that name.", cause: "stream")
    }
}
