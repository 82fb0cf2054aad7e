import GLibRuntime

/// Follows the kernel's links, addresses and routes. Used on its GLib thread only, and never blocks it.
final class KernelNetwork {
    private let socket: RouteSocket?
    private var subscription: GLibSubscription?

    /// - Parameter changed: something has changed; ``RouteSocket/picture()`` says what.
    init(on thread: GLibThread, changed: @escaping () -> Void) {
        socket = RouteSocket.listening()
        guard let descriptor = socket?.descriptor else { return }
        subscription = thread.watch(readable: descriptor) { [weak self] in
            self?.socket?.discard()
            changed()
        }
    }

    deinit {
        // Before the descriptor is closed, on the thread that releases this object.
        subscription = nil
    }
}
