import GLibRuntime

/// Follows the kernel's links, addresses and routes. Used on its GLib thread only, and never waits there.
final class KernelNetwork {
    private let socket: RouteSocket?
    private var subscription: GLibSubscription?

    /// - Parameter changed: something was announced; what, ``RouteSocket/picture()`` tells.
    init(on thread: GLibThread, changed: @escaping () -> Void) {
        socket = RouteSocket.listening()
        guard let descriptor = socket?.descriptor else { return }
        subscription = thread.watch(readable: descriptor) { [weak self] in
            self?.socket?.discard()
            changed()
        }
    }

    deinit {
        // Before the descriptor is closed; from whatever thread lets go last.
        subscription = nil
    }
}
