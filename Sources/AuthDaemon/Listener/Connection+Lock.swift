import AuthAgent
import AuthConcurrency
import AuthMachines
import AuthModel
import AuthWire

/// Ends what was accepted before the agent was locked. The responses are sent before that of `agent.lock`.
extension Connection {
    func agentLocked() {
        // First: an answer below may complete a batch.
        pending.agentLocked()
        for (ticket, late) in endAtLock {
            answered(ticket, .failure(.agentLocked))
            late.send(.agentLocked)
        }
        for (ticket, stream) in streams.values {
            answered(ticket, .failure(.agentLocked))
            stream.close(.agentLocked)
        }
        // Also if nothing was answered, the number of buffered bytes may have changed.
        flush()
    }

    func isStream(_ ticket: Int) -> Bool { streams.values.contains { $0.ticket == ticket } }
}
