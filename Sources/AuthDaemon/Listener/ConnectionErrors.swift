import AuthWire

/// What a connection refuses for the sake of the others.
extension AgentError {
    static func tooManyRequests(_ limits: ConnectionLimits) -> AgentError {
        AgentError(
            .busy,
            "This connection has \(limits.requestsPerConnection) requests under way, which is all that one may have: "
                + "wait for some.")
    }

    static var tooManyLongRequests: AgentError {
        AgentError(
            .busy,
            "The long requests that are in progress take all the memory that this process, or all together, may have for them: "
                + "wait for some.")
    }

    static func tooManyStreams(_ most: Int) -> AgentError {
        AgentError(.busy, "This connection streams \(most) calls, which is all that one may: wait for one.")
    }

    static var streamNameTaken: AgentError {
        AgentError(.conflict, "A stream of this connection has that name already.", cause: "stream")
    }
}
