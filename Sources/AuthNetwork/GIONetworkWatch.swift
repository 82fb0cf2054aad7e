import AuthCore
package import AuthWire
import CSecret
package import GLibRuntime

/// The network as GIO's monitor sees it: NetworkManager's word where that runs, else the kernel's default routes.
///
/// A state is told within milliseconds of the start and then at most once a `settling` time. It is advice: without a
/// default route the machine may still reach providers of its own network, and a link that has lost its carrier keeps
/// its routes. The monitor is one of the whole process: make one watch.
// @unchecked Sendable: `monitoring` is used on the GLib thread only.
package final class GIONetworkWatch: NetworkWatch, @unchecked Sendable {
    /// How long changes are gathered: a change of network takes a route away and brings another within a second.
    package static let settling = Duration.seconds(1)

    private let thread: GLibThread
    private let settling: Duration
    private let broadcast = StateBroadcast<NetworkState>(nil)
    private var monitoring: Monitoring?

    private struct Monitoring {
        let monitor: GObjectReference
        let subscriptions: [GLibSubscription]
        var isSettling = false
    }

    package init(on thread: GLibThread, settling: Duration = GIONetworkWatch.settling) {
        self.thread = thread
        self.settling = settling
        thread.perform { [weak self] in self?.start() }
    }

    package func states() -> AsyncStream<NetworkState> {
        broadcast.states()
    }

    private func start() {
        guard let monitor = g_network_monitor_get_default() else { return }
        let reference = GObjectReference(taking: g_object_ref(UnsafeMutableRawPointer(monitor)))
        let subscriptions = ["network-changed", "notify::connectivity", "notify::network-available"].map { signal in
            GLibSubscription(to: signal, of: reference, on: thread) { [weak self] in self?.changed() }
        }
        monitoring = Monitoring(monitor: reference, subscriptions: subscriptions)
        tell()
    }

    private func changed() {
        guard let monitoring, !monitoring.isSettling else { return }
        self.monitoring?.isSettling = true
        thread.after(settling) { [weak self] in
            self?.monitoring?.isSettling = false
            self?.tell()
        }
    }

    private func tell() {
        guard let monitoring else { return }
        let monitor = monitoring.monitor.opaque
        guard g_network_monitor_get_network_available(monitor) != 0 else { return broadcast.tell(.offline) }
        switch g_network_monitor_get_connectivity(monitor) {
        case G_NETWORK_CONNECTIVITY_LOCAL: broadcast.tell(.offline)
        case G_NETWORK_CONNECTIVITY_LIMITED: broadcast.tell(.limited)
        case G_NETWORK_CONNECTIVITY_PORTAL: broadcast.tell(.portal)
        default: broadcast.tell(.online)
        }
    }
}
