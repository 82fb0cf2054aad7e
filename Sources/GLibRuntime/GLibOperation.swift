import CSecret

/// A call in progress. Used on its GLib thread only.
package protocol GLibOperation: AnyObject {
    /// Ends it with `reason` now, unless it has ended, and cancels the function.
    func abandon(_ reason: GLibFailure)

    /// Its limit has passed.
    func limitReached()
}

/// Invariant: `completion` is called once: after the result, the limit, the caller's cancellation or the thread's end,
/// whichever comes first. The memory of the result is freed in every case.
final class PendingCall<Value: Sendable>: GLibOperation {
    private let call: GIOCall<Value>
    private let thread: GLibThread
    private let cancellable: UnsafeMutablePointer<GCancellable>?
    private var completion: ((Result<Value, GLibFailure>) -> Void)?
    private var timer: UnsafeMutablePointer<GSource>?
    private var limit: Duration?

    init(
        _ call: GIOCall<Value>, on thread: GLibThread, completion: @escaping (Result<Value, GLibFailure>) -> Void
    ) {
        self.call = call
        self.thread = thread
        self.completion = completion
        cancellable = g_cancellable_new()
    }

    deinit {
        g_object_unref(cancellable)
    }

    func begin(limit: Duration?) {
        guard thread.isOpen else {
            complete(.failure(.ended))
            return
        }
        if let limit {
            guard limit > .zero else {
                complete(.failure(.timedOut(after: .zero)))
                return
            }
            self.limit = limit
            timer = thread.timer(after: limit, for: self)
        }
        thread.add(self)
        call.start(cancellable) { self.complete($0) }
    }

    func abandon(_ reason: GLibFailure) {
        guard completion != nil else { return }
        complete(.failure(reason))
        g_cancellable_cancel(cancellable)
    }

    func limitReached() {
        abandon(.timedOut(after: limit ?? .zero))
    }

    @discardableResult
    private func complete(_ result: Result<Value, GLibFailure>) -> Bool {
        guard let completion else { return false }
        self.completion = nil
        if let timer {
            g_source_destroy(timer)
            g_source_unref(timer)
        }
        timer = nil
        thread.remove(self)
        completion(result)
        return true
    }
}
