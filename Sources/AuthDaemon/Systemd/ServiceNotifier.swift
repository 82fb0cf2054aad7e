import CLinux
import CSystemd
import Glibc

/// Reports the agent's state to the service manager (sd_notify(3)). Nothing here blocks.
package struct ServiceNotifier: Sendable {
    private let send: @Sendable (StateNotification) -> Void

    /// - Parameter send: receives lines `KEY=VALUE`; must not wait.
    package init(send: @escaping @Sendable (String) -> Void) {
        self.send = { send($0.text) }
    }

    /// - Parameter receiver: `nil`: there is no service manager.
    package init(to receiver: (any NotificationReceiver)?) {
        let queue = receiver.map { NotificationQueue($0) }
        send = { queue?.send($0) }
    }

    package func ready(status: String) { send(.ready, "READY=1\n\(Self.line(status))") }

    /// The manager gets this status, or a newer one in its place.
    package func status(_ text: String) { send(.status, Self.line(text)) }

    package func alive() { send(.alive, "WATCHDOG=1") }

    package func stopping() { send(.stopping, "STOPPING=1\n\(Self.line("Stopping: finishing requests in progress"))") }

    /// Type=notify-reload compares the time with its own signal, so it is CLOCK_MONOTONIC (systemd.service(5)).
    package func reloading() {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        let microseconds = time.tv_sec * 1_000_000 + time.tv_nsec / 1000
        send(.reloading, "RELOADING=1\nMONOTONIC_USEC=\(microseconds)")
    }

    /// How long the manager waits for a watchdog notification; `nil` without a watchdog.
    package static func watchdogInterval() -> Duration? {
        var microseconds: UInt64 = 0
        guard unsafe sd_watchdog_enabled(0, &microseconds) > 0, microseconds > 0 else { return nil }
        return .microseconds(Int64(clamping: microseconds))
    }

    private func send(_ kind: StateNotification.Kind, _ text: String) {
        send(StateNotification(kind: kind, text: text))
    }

    private static func line(_ status: String) -> String {
        "STATUS=" + status.split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}
