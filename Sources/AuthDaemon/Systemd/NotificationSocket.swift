import AuthConcurrency
import CSystemd
import Glibc
package import Logging

/// Where the service manager receives messages (sd_notify(3)).
package protocol NotificationReceiver: Sendable {
    /// Sends one message at once, or not at all. It does not block.
    func send(_ message: String, with descriptor: CInt?) -> NotificationResult

    /// Does the work on another thread, when the manager may receive again. It does not block. The caller must not hold
    /// a lock that the work needs.
    func whenReceiving(_ work: @escaping @Sendable () -> Void)
}

package enum NotificationResult: Sendable, Equatable {
    case sent
    /// The queue of the manager's socket is full: the manager is busy or hangs.
    case isFull
    /// There is no such socket, or the kernel refuses the message.
    case failed
}

/// The socket of `NOTIFY_SOCKET`. A manager that does not receive messages delays no caller; libsystemd would block in
/// sendmsg(2) while the socket's queue is full (`net.unix.max_dgram_qlen`).
package final class NotificationSocket: NotificationReceiver {
    /// In milliseconds. After that, the path may lead to another socket. While the manager receives, there is no wait.
    private static let longestPoll: CInt = 10_000
    /// In milliseconds, if the socket cannot be connected to.
    private static let pause: CInt = 1000
    /// How long the agent waits, when it ends, for a manager that does not receive the last messages.
    package static let longestFinish = Duration.seconds(1)

    private let place: String
    private let logger: Logger
    private let thread = BlockingThread()
    /// How many calls of ``whenReceiving(_:)`` wait for the manager.
    private let waiting = StateBroadcast(0)

    /// - Parameter place: a path, an abstract name after `@`, or another form that libsystemd knows.
    package init(_ place: String, logger: Logger) {
        self.place = place
        self.logger = logger
    }

    /// `nil` without a service manager.
    package static func ofManager(logger: Logger) -> NotificationSocket? {
        Environment.value("NOTIFY_SOCKET").map { NotificationSocket($0, logger: logger) }
    }

    package func send(_ message: String, with descriptor: CInt?) -> NotificationResult {
        guard isUnix else { return sendWithLibrary(message, descriptor) }
        return switch unsafe authd_notify(place, message, descriptor ?? -1) {
        case 0: .sent
        case EAGAIN: .isFull
        default: .failed
        }
    }

    private var isUnix: Bool { place.hasPrefix("/") || place.hasPrefix("@") }

    /// For example to the host of a virtual machine (vsock(7)). A user's manager has no such socket.
    private func sendWithLibrary(_ message: String, _ descriptor: CInt?) -> NotificationResult {
        let descriptors = descriptor.map { [$0] } ?? []
        let sent = unsafe sd_pid_notify_with_fds(0, 0, message, descriptors, UInt32(descriptors.count))
        return sent > 0 ? .sent : .failed
    }

    package func whenReceiving(_ work: @escaping @Sendable () -> Void) {
        waiting.update { $0 = ($0 ?? 0) + 1 }
        thread.submit { [self] in
            if !canSend() {
                logger.warning(
                    "The service manager does not receive messages: the newest sessions are not handed over until it does."
                )
                while !canSend() {}
            }
            work()
            waiting.update { $0 = ($0 ?? 0) - 1 }
        }
    }

    /// Waits until the queue has room for the next message; `false` after the longest wait.
    private func canSend() -> Bool {
        let socket = unsafe authd_connect_to_notify(place)
        guard socket >= 0 else {
            // The next message fails, too. The pause prevents a busy loop if it does not.
            _ = poll(nil, 0, Self.pause)
            return true
        }
        defer { close(socket) }
        var writable = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
        return unsafe poll(&writable, 1, Self.longestPoll) != 0
    }

    /// Returns when nothing waits for the manager any more, or after that time.
    package func finish(within limit: Duration = longestFinish) async {
        guard waiting.current != 0 else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [waiting] in _ = await waiting.wait { $0 == 0 } }
            group.addTask { try? await Task.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
    }
}
