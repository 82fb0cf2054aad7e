package import AuthModel
package import GLibRuntime
import Synchronization

/// The machine's sleep and its clock, as logind and the kernel tell them.
///
/// logind tells beforehand and waits; where it does not run, or somebody sends the machine to sleep behind its back, the
/// clocks tell afterwards. Each sleep is told of once.
// @unchecked Sendable: what changes is used on `thread` only, and the listeners are behind their mutex.
package final class SystemSleepWatch: SleepWatch, @unchecked Sendable {
    private let thread: GLibThread
    private let listeners = Mutex<[AsyncStream<SleepEvent>.Continuation]>([])
    private var logind: LogindSleep?
    private var clocks: ClockWatch?
    private var isPreparing = false
    /// Sleep up to here has been told of.
    private var toldUpTo = ClockReading.now()

    /// - Parameter systemBus: its address; `nil` where there is none.
    package init(on thread: GLibThread, systemBus: String?) {
        self.thread = thread
        thread.perform { [weak self] in self?.start(systemBus) }
    }

    package func events() -> AsyncStream<SleepEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: SleepEvent.self)
        listeners.withLock { $0.append(continuation) }
        return stream
    }

    private func start(_ systemBus: String?) {
        clocks = ClockWatch(on: thread) { [weak self] slept, shift in self?.clocksMoved(slept, shift) }
        guard let systemBus else { return }
        logind = LogindSleep(on: thread, address: systemBus) { [weak self] isGoing, hold in
            if isGoing { self?.preparing(hold) } else { self?.awake() }
        }
    }

    private func preparing(_ hold: SleepHold?) {
        isPreparing = true
        tell(.preparing(hold ?? SleepHold {}))
    }

    /// logind says so also of a sleep that was called off.
    private func awake() {
        guard isPreparing else { return }
        isPreparing = false
        toldUpTo = .now()
        tell(.resumed)
    }

    private func clocksMoved(_ slept: Duration, _ shift: Duration) {
        let now = ClockReading.now()
        if now.sleep(since: toldUpTo) > .zero {
            isPreparing = false
            toldUpTo = now
            tell(.resumed)
        }
        if shift != .zero { tell(.clockSet) }
    }

    private func tell(_ event: SleepEvent) {
        for listener in listeners.withLock({ $0 }) { listener.yield(event) }
    }
}

/// Where the machine's own message bus is.
package enum SystemBus {
    /// `DBUS_SYSTEM_BUS_ADDRESS`, else the well-known place (D-Bus specification, "System message bus").
    package static func address(environment: (String) -> String?) -> String? {
        if let address = environment("DBUS_SYSTEM_BUS_ADDRESS"), !address.isEmpty { return address }
        return "unix:path=/var/run/dbus/system_bus_socket"
    }
}
