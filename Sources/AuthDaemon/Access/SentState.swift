import AuthWire

/// The last state sent to a subscriber from which sessions are hidden. An event with the same state is not sent: it
/// would show that a hidden session has changed.
struct SentState {
    private var sessions: [String: JSON] = [:]
    private var network: JSON?
    private var store: JSON?

    mutating func record(_ snapshot: AgentEvent) {
        for status in snapshot.snapshot?["sessions"]?.arrayValue ?? [] {
            if let name = status["session"]?.stringValue { sessions[name] = status }
        }
        network = snapshot.snapshot?["network"]
        store = snapshot.snapshot?["store"]
    }

    /// Records the event.
    /// - Returns: whether it shows a change. An event whose name is not `changed`, such as `renewed`, always does.
    mutating func isNew(_ event: AgentEvent) -> Bool {
        let former: JSON?
        let now: JSON?
        switch event.topic {
        case .session:
            guard let name = event.session?.text else { return true }
            (former, now) = (sessions[name], event.status?.json)
            if now != nil { sessions[name] = now }
        case .network:
            (former, now) = (network, event.network?.json)
            if now != nil { network = now }
        case .store:
            (former, now) = (store, event.store?.json)
            if now != nil { store = now }
        case .login, .outbox, .notice, .agent: return true
        }
        return now == nil || now != former || event.name != "changed"
    }
}
