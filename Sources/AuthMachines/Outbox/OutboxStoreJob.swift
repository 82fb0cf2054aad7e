import AuthModel
import AuthWire

/// A call of the store, and what it is for.
indirect enum OutboxStoreJob: Sendable {
    case load, release
    case add(OutboxEntry, OutboxWrite, CallerID, isCallerGone: Bool)
    case end(String, WriteQueue.End)
    case revive(String, CallerID, OutboxParams)
    /// Removes the first of these. The items are the caller's reply.
    case drop([String], CallerID, [OutboxItem])

    /// Waits for the result.
    var caller: CallerID? {
        switch self {
        case .load, .release, .end: nil
        case .add(_, _, let caller, _), .revive(_, let caller, _), .drop(_, let caller, _): caller
        }
    }

    var call: OutboxStoreCall {
        switch self {
        case .load: .load
        case .release: .release
        case .add(let entry, let write, _, _): .add(entry, write.request)
        case .end(let id, .givenUp(let error)): .record(error, on: id)
        case .end(let id, _): .remove(id)
        case .revive(let id, _, _): .record(nil, on: id)
        case .drop(let ids, _, _): .remove(ids[0])
        }
    }
}
