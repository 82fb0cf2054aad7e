import AuthModel
import AuthWire

/// What ``OutboxStore`` promises: entries in order, one call after the other, each whole or not at all.
struct SimulatedDisk {
    enum Call {
        case all
        case read(OutboxEntry)
        case add(OutboxEntry)
        case note(AgentError?, on: String)
        case remove(String)
    }

    /// Who wants it.
    enum Purpose {
        case start, sending, posting, settling
        /// A person drops it, or has it tried again.
        case dropping, reviving
    }

    var mood = DiskBehaviour.ready
    /// What survives everything.
    private(set) var entries: [OutboxEntry] = []

    func holds(_ id: String) -> Bool { entries.contains { $0.id == id } }

    mutating func carryOut(_ call: Call) {
        switch call {
        case .all, .read: break
        case .add(let entry): entries.append(entry)
        case .note(let finalRefusal, let id):
            guard let index = entries.firstIndex(where: { $0.id == id }) else { return }
            entries[index].finalRefusal = finalRefusal
        case .remove(let id): entries.removeAll { $0.id == id }
        }
    }
}
