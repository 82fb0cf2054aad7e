import AuthWire
import CSecret
import GLibRuntime
import Synchronization

/// GIO's monitor of the whole process, where it knows more than the kernel's routes: NetworkManager, or a portal.
///
/// Making it, and asking it, may wait for NetworkManager as long as D-Bus lets a call wait: it has a thread of its own.
// @unchecked Sendable: `subscriptions` and `monitor` are used on the GLib thread only.
final class DesktopMonitor: @unchecked Sendable {
    private let thread: GLibThread
    private let changed: @Sendable () -> Void
    private let state = Mutex(NetworkState.online)
    private var monitor: GObjectReference?
    private var subscriptions: [GLibSubscription] = []

    /// - Parameter changed: called on the monitor's thread.
    init(on thread: GLibThread, changed: @escaping @Sendable () -> Void) {
        self.thread = thread
        self.changed = changed
        thread.perform { [weak self] in self?.start() }
    }

    /// As last told; ``NetworkState/online`` while nobody has said anything.
    var word: NetworkState { state.withLock { $0 } }

    private func start() {
        authd_keep_when_bus_closes()
        guard let pointer = g_network_monitor_get_default() else { return }
        // The one that reads the kernel's routes is blind for links that are down, and we read them ourselves.
        guard authd_type_name(pointer) != "GNetworkMonitorNetlink" else { return }
        let monitor = GObjectReference(taking: g_object_ref(UnsafeMutableRawPointer(pointer)))
        self.monitor = monitor
        subscriptions = ["network-changed", "notify::connectivity", "notify::network-available"].map { signal in
            GLibSubscription(to: signal, of: monitor, on: thread) { [weak self] in self?.read() }
        }
        read()
    }

    private func read() {
        guard let monitor else { return }
        let new = Self.state(of: monitor.opaque)
        let isNew = state.withLock { state in
            defer { state = new }
            return state != new
        }
        if isNew { changed() }
    }

    private static func state(of monitor: OpaquePointer) -> NetworkState {
        guard g_network_monitor_get_network_available(monitor) != 0 else { return .offline }
        return switch g_network_monitor_get_connectivity(monitor) {
        case G_NETWORK_CONNECTIVITY_LOCAL: .offline
        case G_NETWORK_CONNECTIVITY_LIMITED: .limited
        case G_NETWORK_CONNECTIVITY_PORTAL: .portal
        default: .online
        }
    }
}

/// The name of a GObject's type.
private func authd_type_name(_ object: OpaquePointer) -> String {
    g_type_name_from_instance(UnsafeMutablePointer(object)).map { String(cString: $0) } ?? ""
}

/// GIO ends the process when the shared connection to the system bus closes, unless it is told not to.
private func authd_keep_when_bus_closes() {
    guard let bus = g_bus_get_sync(G_BUS_TYPE_SYSTEM, nil, nil) else { return }
    g_dbus_connection_set_exit_on_close(bus, 0)
    // The monitor holds the same connection; where it does not, nobody needs it.
    g_object_unref(UnsafeMutableRawPointer(bus))
}
