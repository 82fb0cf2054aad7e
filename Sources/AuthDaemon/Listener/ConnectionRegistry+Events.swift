import AuthAgent
import AuthMachines
import AuthModel
import AuthWire

/// What clients are sent without a request.
extension ConnectionRegistry {
    /// Serialized once for all subscribers, and once for those that are confined, unless a rule hides sessions from some.
    func send(_ event: AgentEvent) {
        bus?.changed()
        dropFormerTokens()
        let access = dispatcher.access
        let isHiding = access.mayHideSessions
        var (line, confinedLine): ([UInt8]?, [UInt8]?)
        var visible: AgentEvent??
        for connection in followers.values where connection.subscriptions.matches(event) {
            guard let confinement = access.confinement(of: connection.caller) else {
                if let hidden = HiddenSessions(access, for: connection.caller) {
                    if hidden.allow(event) { connection.send(event: hidden.line(of: event)) }
                    continue
                }
                let bytes = line ?? RPCReply.notification(event).serialized()
                line = bytes
                connection.send(event: bytes)
                continue
            }
            if isHiding { (visible, confinedLine) = (nil, nil) }
            let filtered = visible ?? confinement.visibility.event(event)
            visible = .some(filtered)
            guard let filtered, connection.sent.isNew(filtered) else { continue }
            let bytes = confinedLine ?? RPCReply.notification(filtered).serialized()
            confinedLine = bytes
            connection.send(event: bytes)
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
