package import CSecret

/// Something on a GLib thread that answers later; mostly one asynchronous function of GIO or libsecret.
package struct GIOCall<Value: Sendable> {
    package typealias Failure = UnsafeMutablePointer<UnsafeMutablePointer<GError>?>
    /// Says whether anybody was still waiting for the answer.
    package typealias Answer = (Result<Value, GLibFailure>) -> Bool

    let start: (_ cancellable: UnsafeMutablePointer<GCancellable>?, _ answer: @escaping Answer) -> Void

    /// - Parameters:
    ///   - start: begins the function with the cancellable, callback and user data it is given.
    ///   - finish: calls the function's `_finish`; `nil` when that set the error.
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
            start(cancellable, callbackCame, Unmanaged.passRetained(box).toOpaque())
        }
    }

    /// Waits for something that is no function of GIO: `start` keeps the answer and calls it when it has one.
    package init(waiting start: @escaping (_ answer: @escaping Answer) -> Void) {
        self.start = { _, answer in start(answer) }
    }
}

/// What C holds of a call.
private final class CallbackBox {
    let came: (OpaquePointer?) -> Void

    init(_ came: @escaping (OpaquePointer?) -> Void) {
        self.came = came
    }
}

private let callbackCame: GAsyncReadyCallback = { _, result, data in
    guard let data else { return }
    Unmanaged<CallbackBox>.fromOpaque(data).takeRetainedValue().came(result)
}

extension GLibThread {
    /// Begins a call whose result is told to `completion`, once, on this thread.
    ///
    /// - Parameter limit: how long its answer may take, of time awake; `nil` for calls that wait for a person.
    @discardableResult
    package func begin<Value>(
        _ call: GIOCall<Value>, limit: Duration?, completion: @escaping (Result<Value, GLibFailure>) -> Void
    ) -> any GLibOperation {
        assertOwned()
        let operation = PendingCall(call, on: self, completion: completion)
        operation.begin(limit: limit)
        return operation
    }

    /// Runs `block` here once `delay` has passed, of time awake; not after the thread's end.
    package func after(_ delay: Duration, _ block: @escaping () -> Void) {
        begin(GIOCall<Void>(waiting: { _ in }), limit: delay) { result in
            if case .failure(.timedOut) = result { block() }
        }
    }

    /// The call's result. Returns promptly when the task is cancelled or the limit has passed, whatever the other
    /// side does; a result that still comes is dropped.
    package func call<Value>(
        _ call: GIOCall<Value>, limit: Duration?, isolation: isolated any Actor = #isolation
    ) async throws(GLibFailure) -> Value {
        let slot = OperationSlot()
        let result: Result<Value, GLibFailure> = await withTaskCancellationHandler {
            // The closure names `isolation` so that it runs where the caller does: a closure that does not capture
            // the isolated parameter begins the call on a thread of the pool, and nobody answers it.
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

// @unchecked Sendable: read and written on the GLib thread alone, by `call` (which asserts that) and by `perform`.
private final class OperationSlot: @unchecked Sendable {
    var operation: (any GLibOperation)?
}
