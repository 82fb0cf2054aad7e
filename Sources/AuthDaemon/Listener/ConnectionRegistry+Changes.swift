import AuthAgent

/// What changes of the agent's state and rules do to connections.
extension ConnectionRegistry {
    func rulesChanged() {
        let policy = policy.now
        for connection in Array(connections.values) {
            if policy.refusal(of: connection.peer) != nil { connection.close() } else { connection.rulesChanged() }
        }
        bus?.policyChanged()
    }

    /// Repeated requests do not keep tokens that are not current any more in memory.
    func dropFormerTokens() {
        let version = board.version
        for connection in connections.values where connection.repeated?.boardVersion != version {
            connection.repeated = nil
        }
    }

    /// No token of a request that was accepted before is sent from now on.
    func agentLocked() {
        for owner in Array(working.values) { owner.agentLocked() }
        // A batch can hold back tokens while none of its requests waits: the others have not begun.
        for connection in Array(connections.values) where connection.batch != nil { connection.agentLocked() }
    }
}
