import CSecret

/// A source of GLib callbacks, until this is dropped or ``cancel()`` is called.
package final class GLibSubscription {
    private let thread: GLibThread
    private var end: (() -> Void)?

    /// - Parameter end: unsubscribes; any thread may do that.
    init(thread: GLibThread, end: @escaping () -> Void) {
        self.thread = thread
        self.end = end
    }

    /// Calls `received` for each such signal of an object that belongs to `thread`.
    package convenience init(
        to signal: String, of object: GObjectReference, on thread: GLibThread, received: @escaping () -> Void
    ) {
        thread.assertOwned()
        let handler: @convention(c) (gpointer?) -> Void = { data in
            guard let data else { return }
            Unmanaged<SignalHandler>.fromOpaque(data).takeUnretainedValue().received()
        }
        // G_CONNECT_SWAPPED passes the data first, so that one handler serves signals with any arguments.
        let id = g_signal_connect_data(
            object.raw, signal, unsafeBitCast(handler, to: GCallback.self),
            Unmanaged.passRetained(SignalHandler(received)).toOpaque(),
            { data, _ in
                if let data { Unmanaged<SignalHandler>.fromOpaque(data).release() }
            }, G_CONNECT_SWAPPED)
        self.init(thread: thread) { g_signal_handler_disconnect(object.raw, id) }
    }

    deinit {
        end?()
        // Released before the thread, which frees its context: the closure may hold a source of that context.
        end = nil
    }

    package func cancel() {
        thread.assertOwned()
        end?()
        end = nil
    }
}

private final class SignalHandler {
    let received: () -> Void

    init(_ received: @escaping () -> Void) {
        self.received = received
    }
}
