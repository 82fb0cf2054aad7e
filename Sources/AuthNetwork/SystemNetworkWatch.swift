import AuthConcurrency
package import AuthModel
import AuthWire
package import GLibRuntime

/// The network as the kernel and the desktop's monitor report it.
///
/// The kernel says whether packets can go anywhere, including links without carrier; NetworkManager, if it runs, says whether
/// there is Internet access or a portal. The first reading comes within milliseconds of the start, then at most one every
/// `settling`. The monitor is global to the process: create one watch.
/// @unchecked Sendable: mutable state is used on `thread` only.
package final class SystemNetworkWatch: NetworkWatch, @unchecked Sendable {
    /// How long changes are collected: a change of network removes a route and adds another within a second.
    package static let settling = Duration.seconds(1)
    /// The same while offline: an early report disturbs no connection, and callers may be waiting.
    private static let settlingFromNothing = Duration.milliseconds(250)

    private let thread: GLibThread
    private let settling: Duration
    private let broadcast = StateBroadcast<NetworkReading>(nil)
    private let isMetered = StateBroadcast<Bool>(false)
    private var kernel: KernelNetwork?
    private var monitor: DesktopMonitor?
    private var picture = KernelSnapshot()
    /// The last known ones.
    private var addresses: Set<KernelSnapshot.Address> = []
    private var isSettling = false

    /// - Parameters:
    ///   - thread: a thread that never blocks, for the kernel's messages.
    ///   - monitors: for GIO's monitor, which may wait for NetworkManager.
    package init(
        on thread: GLibThread, monitors: GLibThread, settling: Duration = SystemNetworkWatch.settling
    ) {
        self.thread = thread
        self.settling = settling
        thread.perform { [weak self] in self?.start(monitors) }
    }

    package func readings() -> AsyncStream<NetworkReading> {
        broadcast.states()
    }

    package func metered() -> AsyncStream<Bool> {
        isMetered.states()
    }

    private func start(_ monitors: GLibThread) {
        kernel = KernelNetwork(on: thread) { [weak self] in self?.changed() }
        publish()
        monitor = DesktopMonitor(on: monitors) { [weak self, thread] in
            thread.perform { [weak self] in self?.changed() }
        }
    }

    private func changed() {
        guard !isSettling else { return }
        isSettling = true
        let wait = broadcast.current?.reach == .offline ? min(settling, Self.settlingFromNothing) : settling
        thread.after(wait) { [weak self] in
            self?.isSettling = false
            self?.publish()
        }
    }

    private func publish() {
        let report = monitor?.report ?? DesktopMonitor.Report()
        let state = report.network
        isMetered.set(report.isMetered)
        guard let new = RouteSocket.picture() else {
            // Without the kernel's data, only the monitor counts. Nothing shows a change of the network.
            let reach = state == .offline ? NetworkReading.Reach.offline : .internet
            var reading = broadcast.current ?? NetworkReading(reach: reach)
            (reading.reach, reading.monitor) = (reach, state)
            return broadcast.set(reading)
        }
        let old = picture
        picture = new
        var reading = broadcast.current ?? NetworkReading(reach: new.reach)
        reading.reach = new.reach
        reading.monitor = state
        if (new.workingDefaultRoutes, new.ownAddresses) != (old.workingDefaultRoutes, old.ownAddresses) {
            reading.generation += 1
        }
        let own = new.ownAddresses
        if !own.isEmpty {
            if !addresses.isEmpty, own.isDisjoint(with: addresses) { reading.move += 1 }
            addresses = own
        }
        broadcast.set(reading)
    }
}
