import AuthWire

/// Prints a line for each change, for a log or a pipe.
struct ChangeLines: WatchView {
    private var state = WatchedState()

    mutating func show(_ event: AgentEvent?) throws(Failure) {
        guard let event else { return }
        state.apply(event)
        let now = WallClock.now
        let time = WallClock.text(event.at, now: now, withSeconds: true)
        if event.name == AgentEvent.snapshotName {
            for status in state.inOrder { try line(time, about(status, now)) }
            if let network = state.network { try line(time, "network " + network.state.rawValue) }
        } else if let notice = event.notice {
            try line(time, "\(notice.title), \(event.name): \(notice.message)")
        } else if let entry = event.outbox {
            let what = event.name == "given_up" ? "given up" : event.name
            try line(time, "outbox, \(what): \(entry.session) \(entry.request)")
        } else if let status = event.status {
            try line(time, about(status, now) + (event.name == "ending" ? ending(status, now) : ""))
        } else if let network = event.network {
            try line(time, "network " + network.state.rawValue)
        } else if let store = event.store {
            try line(time, "store " + StatusCard.spaced(store.state.rawValue))
        } else {
            let session = event.session.map { " \($0)" } ?? ""
            try line(time, "\(event.topic.rawValue)\(session) \(event.name)")
        }
    }

    private func about(_ status: SessionStatus, _ now: Double) -> String {
        var text = "\(status.session) " + StatusCard.stateText(status)
        if status.state == .active, let end = status.expiresAt, end > now {
            text += ", " + Span.text(seconds: end - now) + " left"
        }
        return text
    }

    private func ending(_ status: SessionStatus, _ now: Double) -> String {
        guard let end = status.endsAt else { return ", cannot be renewed" }
        return ", cannot be renewed after \(WallClock.text(end, now: now))"
    }

    private func line(_ time: String, _ text: String) throws(Failure) {
        try Output.result(Visible.line("\(time) \(text)"))
    }
}
