import AuthMachines
import AuthModel
import AuthWire

// What a trace says. Nothing of it runs unless a schedule is traced.

extension OutboxEvent {
    var words: String {
        switch self {
        case .requested(let caller, let command): "caller \(caller.number) requests: \(command.words)"
        case .callerGone(let caller): "caller \(caller.number) has gone"
        case .statusChanged(let sessions, _):
            "sees "
                + sessions.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.maySend ? "open" : "shut")" }
                .joined(separator: ", ")
        case .stored(.success(let entries)):
            "the disk is ready" + (entries.isEmpty ? "" : ": it holds \(entries.map(\.id).joined(separator: ", "))")
        case .stored(.failure(let error)): "the disk failed: \(error)"
        case .answered(let id, .success): "\(id) is done"
        case .answered(let id, .failure(let error)): "\(id) failed: \(error)"
        case .wake: "wakes"
        case .stopping: "the agent stops"
        }
    }
}

extension OutboxCommand {
    fileprivate var words: String {
        switch self {
        case .post(let entry, _): "post \(entry.id) of \(entry.session)"
        case .list: "list"
        case .flush(let params): "try \(params.id ?? "all") now"
        case .drop(let params): "drop \(params.id ?? "all")"
        }
    }
}

extension OutboxReply {
    var words: String {
        switch self {
        case .sent: "sent"
        case .queued: "it waits"
        case .list(let items): "a list of \(items.count)"
        case .refused(let error): "refused: \(error.message)"
        }
    }
}

extension OutboxAction {
    var words: String {
        switch self {
        case .send(let entry, let write, _): "send \(entry.id)\(write == nil ? ", which is read first" : "")"
        case .store(.load): "read what waits"
        case .store(.add(let entry, _)): "store \(entry.id)"
        case .store(.record(let verdict, let id)): verdict == nil ? "have \(id) wait again" : "give up \(id)"
        case .store(.remove(let id)): "remove \(id)"
        case .store(.release): "close the disk"
        case .publish(let name, let item): "event: \(item.id) \(name)"
        }
    }
}
