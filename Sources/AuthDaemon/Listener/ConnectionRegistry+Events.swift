import AuthAgent
import AuthMachines
import AuthModel
import AuthWire

/// What clients are sent without a request.
extension ConnectionRegistry {
    /// Serialized once for all subscribers, and once for the confined ones of each boundary; for each of those
    /// separately if a rule hides sessions from some.
    func send(_ event: AgentEvent) {
        bus?.changed()
        dropFormerTokens()
        let access = dispatcher.access
        let isHiding = access.mayHideSessions
        var line: [UInt8]?
        var confined: [ListenerName: ConfinedEvent] = [:]
        for connection in followers.values where connection.subscriptions.matches(event) {
            guard let confinement = access.confinement(of: connection.caller) else {
                if let hidden = HiddenSessions(access, for: connection.caller) {
                    guard let filtered = hidden.event(event, on: board), connection.sent.isNew(filtered) else {
                        continue
                    }
                    connection.send(event: RPCReply.notification(filtered).serialized())
                    continue
                }
                // This event is sent in full, so the recorded state is no longer the last one sent.
                connection.sent = SentState()
                let bytes = line ?? RPCReply.notification(event).serialized()
                line = bytes
                connection.send(event: bytes)
                continue
            }
            let boundary = confinement.client.boundary
            let known = isHiding ? nil : confined[boundary]
            var visible = known ?? ConfinedEvent(event: confinement.visibility.event(event))
            defer { confined[boundary] = visible }
            guard let filtered = visible.event, connection.sent.isNew(filtered) else { continue }
            connection.send(event: visible.line(of: filtered))
        }
    }

    func snapshot(for session: SessionName?, _ caller: Caller) -> AgentEvent {
        if let confinement = dispatcher.access.confinement(of: caller) {
            return confinement.visibility.snapshot(of: session, board, at: clock.now().wall)
        }
        let hidden = HiddenSessions(dispatcher.access, for: caller)
        return HiddenSessions.snapshot(of: session, board, without: hidden, at: clock.now().wall)
    }
}

/// An event as confined clients of one boundary receive it.
private struct ConfinedEvent {
    /// `nil`: they do not.
    let event: AgentEvent?
    private var serialized: [UInt8]?

    init(event: AgentEvent?) {
        self.event = event
    }

    mutating func line(of event: AgentEvent) -> [UInt8] {
        let line = serialized ?? RPCReply.notification(event).serialized()
        serialized = line
        return line
    }
}
