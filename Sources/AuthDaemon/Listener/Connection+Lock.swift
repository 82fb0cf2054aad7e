import AuthAgent
import AuthMachines
import AuthModel
import AuthWire

/// Ends what was accepted before the agent was locked, or before a rule refused it. The responses are sent before that of
/// `agent.lock`.
extension Connection {
    func agentLocked() {
        // First: an answer below may complete a batch.
        pending.agentLocked()
        requests.agentLocked(self)
        for (ticket, stream, _) in streams.values {
            answered(ticket, .failure(.agentLocked))
            stream.close(.agentLocked)
        }
        // Even if nothing was answered, the number of buffered bytes may have changed.
        flush()
    }

    /// Waiting requests are decided again before their results are sent; a stream has no end for that.
    func rulesChanged() {
        if !subscriptions.isEmpty, confinement == nil {
            let request = AccessRequest(EventsSubscribe(SubscribeParams()), default: nil)
            // An event feed has no other end.
            if registry.dispatcher.access.decision(about: request, by: caller).isRefused { return close() }
        }
        for (ticket, stream, request) in streams.values {
            guard let request else { continue }
            let decision = registry.dispatcher.access.decision(about: request, by: caller)
            guard decision.isRefused else { continue }
            let refusal = decision.error(request.title)
            let error = confinement?.visibility.error(refusal) ?? refusal
            answered(ticket, .failure(error))
            stream.close(error)
        }
        flush()
    }

    func isStream(_ ticket: Int) -> Bool { streams.values.contains { $0.ticket == ticket } }
}
