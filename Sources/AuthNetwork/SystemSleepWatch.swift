package import AuthModel
package import GLibRuntime
import Synchronization

/// The machine's sleep and clock changes, as logind and the kernel report them.
///
/// logind reports sleep in advance and waits. If it does not run, or is bypassed, the clocks show it afterwards. Each sleep is
/// reported once.
/// @unchecked Sendable: mutable state is used on `thread` only, and the listeners are protected by their mutex.
package final class SystemSleepWatch: SleepWatch, @unchecked Sendable {
    private let thread: GLibThread
    private let listeners = Mutex<[AsyncStream<SleepEvent>.Continuation]>([])
    private var logind: LogindSleep?
    private var clocks: ClockWatch?
    private var isPreparing = false
    /// Sleep until then has been reported.
    private var reportedUntil = ClockReading.now()

    /// - Parameter systemBus: its address; `nil` if there is none.
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
        let listeners = listeners.withLock { $0 }
        let parts = SharedSleepHold.parts(of: hold ?? SleepHold {}, count: listeners.count)
        for (listener, part) in zip(listeners, parts) { listener.yield(.preparing(part)) }
    }

    /// logind also reports a sleep that was cancelled.
    private func awake() {
        guard isPreparing else { return }
        isPreparing = false
        reportedUntil = .now()
        send(.resumed)
    }

    private func clocksMoved(_ slept: Duration, _ shift: Duration) {
        let now = ClockReading.now()
        if now.sleep(since: reportedUntil) > .zero {
            isPreparing = false
            reportedUntil = now
            send(.resumed)
        }
        if shift != .zero { send(.clockSet) }
    }

    private func send(_ event: SleepEvent) {
        for listener in listeners.withLock({ $0 }) { listener.yield(event) }
    }
}

/// The address of the system's message bus.
package enum SystemBus {
    /// `DBUS_SYSTEM_BUS_ADDRESS`, else the default (D-Bus specification, "System message bus").
    package static func address(environment: (String) -> String?) -> String? {
        if let address = environment("DBUS_SYSTEM_BUS_ADDRESS"), !address.isEmpty { return address }
        return "unix:path=/var/run/dbus/system_bus_socket"
    }
}
