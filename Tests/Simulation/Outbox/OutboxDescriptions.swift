import AuthMachines
import AuthModel
import AuthWire

// What a trace says. Nothing of it runs unless a schedule is traced.

extension OutboxEvent {
    var words: String {
        switch self {
        case .loaded(let entries): "read from the disk: \(entries.map(\.id).joined(separator: ", "))"
        case .added(let entry, _): "\(entry.id) of \(entry.session) is written down"
        case .looked(let sights):
            "sees "
                + sights.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.maySend ? "open" : "shut")" }
                .joined(separator: ", ")
        case .answered(let id, .success): "\(id) is done"
        case .answered(let id, .failure(let error)): "\(id) failed: \(error)"
        case .settled(let id, let error): "the end of \(id) is \(error == nil ? "" : "not ")on the disk"
        case .callerGone(let id): "who handed in \(id) has gone"
        case .wake: "wakes"
        case .flush(let ids): "a person wants \(ids.joined(separator: ", ")) tried"
        case .revived(let id): "\(id) waits again"
        case .dropped(let ids): "a person dropped \(ids.joined(separator: ", "))"
        }
    }
}

extension OutboxAction {
    var words: String {
        switch self {
        case .send(let entry): "send \(entry.id)"
        case .remove(let id): "strike out \(id)"
        case .note(_, let id): "give up \(id)"
        case .answer(let id, .sent): "tell who handed in \(id): done"
        case .answer(let id, .refused): "tell who handed in \(id): refused"
        case .answer(let id, .queued): "tell who handed in \(id): it waits"
        case .tell(let name, let item): "event: \(item.id) \(name)"
        case .wakeAt(let deadline): deadline.map { "wake at \($0.sinceBoot)" } ?? "no deadline"
        }
    }
}
