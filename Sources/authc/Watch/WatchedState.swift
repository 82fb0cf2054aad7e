import AuthWire

/// The state after the events so far.
struct WatchedState {
    private(set) var sessions: [SessionName: SessionStatus] = [:]
    private(set) var network: NetworkStatus?
    private(set) var store: StoreInfo?
    /// `nil`: the agent is not locked.
    private(set) var lock: LockStatus?
    private(set) var isDisconnected = false

    /// The default first, then by name.
    var inOrder: [SessionStatus] {
        sessions.values.sorted { ($0.isDefault ? 0 : 1, $0.session) < ($1.isDefault ? 0 : 1, $1.session) }
    }

    mutating func apply(_ event: AgentEvent) {
        isDisconnected = event.topic == .agent && event.name == "disconnected"
        if let snapshot = event.snapshot {
            // If a part cannot be read, the former state stays.
            if let list = try? SessionList(snapshot) {
                sessions = [:]
                for status in list.sessions { sessions[status.session] = status }
            }
            network = snapshot["network"].flatMap { try? NetworkStatus($0) } ?? network
            store = snapshot["store"].flatMap { try? StoreInfo($0) } ?? store
            lock = snapshot["lock"].flatMap { try? LockStatus($0) }
        }
        if let status = event.status {
            if status.isDefault, sessions[status.session]?.isDefault != true {
                for name in sessions.keys { sessions[name]?.isDefault = false }
            }
            sessions[status.session] = status.state == .signedOut ? nil : status
        }
        if let lock = event.lock {
            self.lock = lock.isLocked ? lock : nil
            for name in sessions.keys { sessions[name]?.lockedSince = lock.isLocked ? lock.since : nil }
        }
        network = event.network ?? network
        store = event.store ?? store
    }
}
