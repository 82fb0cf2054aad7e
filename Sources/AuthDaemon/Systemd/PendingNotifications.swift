/// A message about the agent's state: lines `KEY=VALUE` (sd_notify(3)).
struct StateNotification: Sendable, Equatable {
    enum Kind: Sendable {
        case ready
        case reloading
        case stopping
        /// The others have a status, too, except for `reloading` and `alive`.
        case status
        case alive
    }

    let kind: Kind
    let text: String
}

/// Messages that the service manager has not received yet, in order. A message that a newer one makes obsolete is
/// dropped, so there are few of them, however long the manager does not receive.
struct PendingNotifications: Equatable {
    private(set) var list: [StateNotification] = []

    mutating func add(_ new: StateNotification) {
        switch new.kind {
        case .alive: remove([.alive])
        case .status, .stopping: remove([.status])
        case .ready:
            remove([.status])
            // If reloads run at the same time, only the last one to end reports it.
            if let last = list.lastIndex(where: { $0.kind != .alive }), list[last].kind == .ready {
                list.remove(at: last)
            }
        case .reloading:
            // A manager that waits for an earlier reload accepts a later one (MONOTONIC_USEC=). `READY=1` of the start
            // stays.
            if let first = list.firstIndex(where: { $0.kind == .reloading }) {
                remove([.reloading, .ready], from: first)
            }
        }
        list.append(new)
    }

    mutating func removeFirst() { list.removeFirst() }

    private mutating func remove(_ kinds: Set<StateNotification.Kind>, from first: Int = 0) {
        list = list[..<first] + list[first...].filter { !kinds.contains($0.kind) }
    }
}
