package import CSecret

/// An operation on a GLib thread with a later result, usually an asynchronous function of GIO or libsecret.
package struct GIOCall<Value: Sendable> {
    package typealias Failure = UnsafeMutablePointer<UnsafeMutablePointer<GError>?>
    /// Returns whether the caller was still waiting.
    package typealias Answer = (Result<Value, GLibFailure>) -> Bool

    let start: (_ cancellable: UnsafeMutablePointer<GCancellable>?, _ answer: @escaping Answer) -> Void

    /// - Parameters:
    ///   - start: begins the function with the given cancellable, callback and user data.
    ///   - finish: calls the function's `_finish`; `nil` if that set the error.
    package init(
        start: @escaping (UnsafeMutablePointer<GCancellable>?, GAsyncReadyCallback, gpointer) -> Void,
        finish: @escaping (OpaquePointer?, Failure) -> Value?
    ) {
        self.start = { cancellable, answer in
            let box = CallbackBox { result in
                var error: UnsafeMutablePointer<GError>?
                let value = finish(result, &error)
                if let value, error == nil {
                    _ = answer(.success(value))
                } else {
                    _ = answer(.failure(GLibFailure(taking: error)))
                }
            }
            start(cancellable, callbackCompleted, Unmanaged.passRetained(box).toOpaque())
        }
    }

    /// Waits for something that is not a function of GIO: `start` stores `answer` and calls it with the result.
    package init(waiting start: @escaping (_ answer: @escaping Answer) -> Void) {
        self.start = { _, answer in start(answer) }
    }
}

/// The user data of a call.
private final class CallbackBox {
    let completed: (OpaquePointer?) -> Void

    init(_ completed: @escaping (OpaquePointer?) -> Void) {
        self.completed = completed
    }
}

private let callbackCompleted: GAsyncReadyCallback = { _, result, data in
    guard let data else { return }
    Unmanaged<CallbackBox>.fromOpaque(data).takeRetainedValue().completed(result)
}

extension GLibThread {
    /// Begins a call. `completion` receives the result once, on this thread.
    ///
    /// - Parameter limit: for the result, in time awake; `nil` for calls that wait for the user.
    @discardableResult
    package func begin<Value>(
        _ call: GIOCall<Value>, limit: Duration?, completion: @escaping (Result<Value, GLibFailure>) -> Void
    ) -> any GLibOperation {
        assertOwned()
        let operation = PendingCall(call, on: self, completion: completion)
        operation.begin(limit: limit)
        return operation
    }

    /// Runs `block` here after `delay`, in time awake; not after the thread's end.
    package func after(_ delay: Duration, _ block: @escaping () -> Void) {
        begin(GIOCall<Void>(waiting: { _ in }), limit: delay) { result in
            if case .failure(.timedOut) = result { block() }
        }
    }

    /// The call's result. Returns promptly if the task is cancelled or the limit has passed, whatever the other side does; a
    /// late result is dropped.
    package func call<Value>(
        _ call: GIOCall<Value>, limit: Duration?, isolation: isolated any Actor = #isolation
    ) async throws(GLibFailure) -> Value {
        let slot = OperationSlot()
        let result: Result<Value, GLibFailure> = await withTaskCancellationHandler {
            // The closure names `isolation` so that it runs on the caller's executor: without capturing the isolated
            // parameter, the call would begin on a thread of the pool and never get a result.
            _ = isolation
            return await withCheckedContinuation(isolation: isolation) { continuation in
                slot.operation = begin(call, limit: limit) { continuation.resume(returning: $0) }
            }
        } onCancel: {
            perform { slot.operation?.abandon(.cancelled) }
        }
        return try result.get()
    }
}

// @unchecked Sendable: used on the GLib thread only, by `call` (which asserts that) and by `perform`.
private final class OperationSlot: @unchecked Sendable {
    var operation: (any GLibOperation)?
}
