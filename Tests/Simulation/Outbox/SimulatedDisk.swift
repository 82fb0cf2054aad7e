import AuthMachines
import AuthModel
import AuthWire

/// What ``OutboxStore`` promises: entries in order, one call after the other, each whole or not at all.
struct SimulatedDisk {
    indirect enum Call {
        case store(OutboxStoreCall)
        case read(OutboxEntry)
    }

    var behaviour = DiskBehaviour.ready
    /// What survives everything.
    private(set) var entries: [OutboxEntry] = []

    func holds(_ id: String) -> Bool { entries.contains { $0.id == id } }

    mutating func carryOut(_ call: OutboxStoreCall) {
        switch call {
        case .load, .release: break
        case .add(let entry, _): entries.append(entry)
        case .record(let refusal, let id):
            guard let index = entries.firstIndex(where: { $0.id == id }) else { return }
            entries[index].finalRefusal = refusal
        case .remove(let id): entries.removeAll { $0.id == id }
        }
    }
}
