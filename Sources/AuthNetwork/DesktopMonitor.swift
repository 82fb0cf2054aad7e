import AuthWire
import CSecret
import GLibRuntime
import Synchronization

/// GIO's network monitor, if it knows more than the kernel's routes: NetworkManager, or a portal.
///
/// Creating and querying it may wait for NetworkManager as long as a D-Bus call may wait: it has its own thread.
// @unchecked Sendable: `bus`, `monitor` and `subscriptions` are used on the GLib thread only.
final class DesktopMonitor: @unchecked Sendable {
    private let thread: GLibThread
    private let changed: @Sendable () -> Void
    private let state = Mutex(Report())
    /// Retained as long as the monitor: GIO would create another one, which ends the process when it closes.
    private var bus: GObjectReference?
    private var monitor: GObjectReference?
    private var subscriptions: [GLibSubscription] = []

    /// - Parameter changed: called on the monitor's thread.
    init(on thread: GLibThread, changed: @escaping @Sendable () -> Void) {
        self.thread = thread
        self.changed = changed
        thread.perform { [weak self] in self?.start() }
    }

    struct Report: Equatable {
        var network = NetworkState.online
        /// The user pays by volume, or the volume is limited. A guess of NetworkManager counts, too.
        var isMetered = false
    }

    /// The latest report; an unmetered network that is online before the first one.
    var report: Report { state.withLock { $0 } }

    private func start() {
        bus = Self.sharedBus()
        guard let pointer = g_network_monitor_get_default() else { return }
        // The monitor of the kernel's routes ignores links that are down; we read the routes ourselves.
        guard typeName(pointer) != "GNetworkMonitorNetlink" else { return }
        let monitor = GObjectReference(taking: g_object_ref(UnsafeMutableRawPointer(pointer)))
        self.monitor = monitor
        let signals = [
            "network-changed", "notify::connectivity", "notify::network-available", "notify::network-metered",
        ]
        subscriptions = signals.map { signal in
            GLibSubscription(to: signal, of: monitor, on: thread) { [weak self] in self?.read() }
        }
        read()
    }

    private func read() {
        guard let monitor else { return }
        let new = Report(
            network: Self.state(of: monitor.opaque),
            isMetered: g_network_monitor_get_network_metered(monitor.opaque) != 0)
        let isNew = state.withLock { state in
            defer { state = new }
            return state != new
        }
        if isNew { changed() }
    }

    /// The process's connection to the system bus, which GIO's monitor uses: GIO ends the process when it closes, unless that
    /// is disabled. `nil` if there is no system bus.
    private static func sharedBus() -> GObjectReference? {
        guard let bus = g_bus_get_sync(G_BUS_TYPE_SYSTEM, nil, nil) else { return nil }
        g_dbus_connection_set_exit_on_close(bus, 0)
        return GObjectReference(taking: UnsafeMutableRawPointer(bus))
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

private func typeName(_ object: OpaquePointer) -> String {
    g_type_name_from_instance(UnsafeMutablePointer(object)).map { String(cString: $0) } ?? ""
}
