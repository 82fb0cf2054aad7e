import GLibRuntime

/// Lets one writer at the keyring at a time, in the order they came.
///
/// A keyring daemon writes its whole file for each item. With a hundred writes at once the last would find its limit
/// passed while the daemon was working all the time; with turns, the limit is that of one write. Used on the GLib
/// thread only.
final class WriteTurns {
    private var isTaken = false
    private var waiting: [GIOCall<Void>.Answer] = []

    /// Answers when it is the caller's turn, who then calls ``done()`` whatever happens.
    func turn() -> GIOCall<Void> {
        GIOCall(waiting: { [self] answer in
            if isTaken {
                waiting.append(answer)
            } else {
                isTaken = answer(.success(()))
            }
        })
    }

    func done() {
        isTaken = false
        while !isTaken, !waiting.isEmpty {
            // A caller who gave up meanwhile takes no turn.
            isTaken = waiting.removeFirst()(.success(()))
        }
    }

    /// Sends all who wait away with `failure`.
    func refuseWaiting(_ failure: GLibFailure) {
        let refused = waiting
        waiting = []
        for answer in refused { _ = answer(.failure(failure)) }
    }
}
