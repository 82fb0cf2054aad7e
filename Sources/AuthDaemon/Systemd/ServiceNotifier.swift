import CLinux
import CSystemd
import Glibc

/// Reports the agent's state to the service manager (sd_notify(3)), if `NOTIFY_SOCKET` is set.
package struct ServiceNotifier: Sendable {
    private let send: @Sendable (String) -> Void

    /// - Parameter send: receives lines `KEY=VALUE`; must not wait.
    package init(send: @escaping @Sendable (String) -> Void) {
        self.send = send
    }

    package static let systemd = ServiceNotifier { unsafe sd_notify(0, $0) }

    package func ready(status: String) { send("READY=1\n\(Self.line(status))") }

    package func status(_ text: String) { send(Self.line(text)) }

    package func alive() { send("WATCHDOG=1") }

    package func stopping() { send("STOPPING=1\n\(Self.line("Stopping: finishing requests in progress"))") }

    /// Type=notify-reload compares the time with its own signal, so it is CLOCK_MONOTONIC (systemd.service(5)).
    package func reloading() {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        let microseconds = time.tv_sec * 1_000_000 + time.tv_nsec / 1000
        send("RELOADING=1\nMONOTONIC_USEC=\(microseconds)")
    }

    /// How long the manager waits for a watchdog notification; `nil` without a watchdog.
    package static func watchdogInterval() -> Duration? {
        var microseconds: UInt64 = 0
        guard unsafe sd_watchdog_enabled(0, &microseconds) > 0, microseconds > 0 else { return nil }
        return .microseconds(Int64(clamping: microseconds))
    }

    private static func line(_ status: String) -> String {
        "STATUS=" + status.split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}
