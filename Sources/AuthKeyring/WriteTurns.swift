import GLibRuntime

/// Lets one writer use the keyring at a time, in order.
///
/// A keyring service writes its whole file for each item. With a hundred writes at once, the last one would exceed its limit
/// although the service works all the time; with turns, the limit applies to each write. Used on the GLib thread only.
final class WriteTurns {
    private var isTaken = false
    private var waiting: [GIOCall<Void>.Answer] = []

    /// Completes when it is the caller's turn. The caller must then call ``done()``.
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
            // A caller that has stopped waiting gets no turn.
            isTaken = waiting.removeFirst()(.success(()))
        }
    }

    /// Ends all waiting callers with `failure`.
    func refuseWaiting(_ failure: GLibFailure) {
        let refused = waiting
        waiting = []
        for answer in refused { _ = answer(.failure(failure)) }
    }
}
