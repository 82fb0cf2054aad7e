import AuthWire

/// Prints a line for each change, for a log or a pipe.
struct ChangeLines: WatchView {
    private var state = WatchedState()

    mutating func show(_ event: AgentEvent?) throws(Failure) {
        guard let event else { return }
        state.apply(event)
        let now = WallClock.now
        let time = WallClock.text(event.at, now: now, withSeconds: true)
        for text in Self.texts(event, state, now: now) { try Output.result(Visible.line("\(time) \(text)")) }
    }

    /// An event in words; a snapshot has several lines.
    /// - Parameter state: the state after the event.
    static func texts(_ event: AgentEvent, _ state: WatchedState, now: Double) -> [String] {
        if event.name == AgentEvent.snapshotName {
            return state.inOrder.map { about($0, now) }
                + (state.network.map { ["network " + $0.state.rawValue] } ?? [])
        }
        if let notice = event.notice { return ["\(notice.title), \(event.name): \(notice.message)"] }
        if let entry = event.outbox {
            let what = event.name == "given_up" ? "given up" : event.name
            return ["outbox, \(what): \(entry.session) \(entry.request)"]
        }
        if let status = event.status {
            return [about(status, now) + (event.name == "ending" ? ending(status, now) : "")]
        }
        if let network = event.network { return ["network " + network.state.rawValue] }
        if event.lock != nil { return ["agent " + StatusCard.spaced(event.name)] }
        if let store = event.store { return ["store " + StatusCard.spaced(store.state.rawValue)] }
        return ["\(event.topic.rawValue)\(event.session.map { " \($0)" } ?? "") \(event.name)"]
    }

    private static func about(_ status: SessionStatus, _ now: Double) -> String {
        var text = "\(status.session) " + StatusCard.stateText(status)
        if status.lockedSince != nil { text += ", locked" }
        if status.state == .active, let end = status.expiresAt, end > now {
            text += ", " + Span.text(seconds: end - now) + " left"
        }
        return text
    }

    private static func ending(_ status: SessionStatus, _ now: Double) -> String {
        guard let end = status.endsAt else { return ", cannot be renewed" }
        return ", cannot be renewed after \(WallClock.text(end, now: now))"
    }
}
