import AuthFiles
import CSystemd
import Glibc
import Logging

/// Accepts clients at the listening socket, and pauses if the system has no resources for another one.
final class AcceptSource: ReadinessHandler {
    /// Clients of one socket that are accepted and have not begun: each has a descriptor, and no limit counts it.
    static let maxAtOnce = 16
    private static let rest = Duration.milliseconds(100)

    private let executor: SocketExecutor
    private let descriptor: CInt
    private let logger: Logger
    private let accept: (CInt) -> Void
    private var isOpen = true
    private var isShort = false
    /// Accepted clients that have not begun.
    private(set) var waiting = 0

    /// - Parameter accept: owns the client's descriptor.
    init(
        _ descriptor: CInt, on executor: SocketExecutor, logger: Logger, accept: @escaping (CInt) -> Void
    ) throws(SystemFailure) {
        self.descriptor = descriptor
        self.executor = executor
        self.logger = logger
        self.accept = accept
        guard fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) == 0 else {
            throw SystemFailure("listen without blocking")
        }
        try executor.watch(descriptor, for: .input, self)
    }

    func ready(for readiness: Readiness) {
        // If there are more, the kernel reports the socket again in the next turn.
        for _ in 0..<Self.maxAtOnce where waiting < Self.maxAtOnce {
            let client = authd_accept(descriptor)
            if client >= 0 {
                // After clients that have just left are unregistered.
                waiting += 1
                executor.performNext { [self] in
                    waiting -= 1
                    accept(client)
                }
                continue
            }
            switch errno {
            case EINTR, ECONNABORTED: continue
            case EAGAIN:
                isShort = false
                return
            default: return pause(SystemFailure("accept a client"))
            }
        }
    }

    /// Without descriptors or memory, retrying at once would only use the processor.
    private func pause(_ failure: SystemFailure) {
        if !isShort {
            logger.error("Clients have to wait: \(failure).", metadata: CatalogMessage.clientsWait.metadata())
        }
        isShort = true
        executor.change(descriptor, to: [])
        executor.schedule(in: Self.rest) { [weak self] in
            guard let self, isOpen else { return }
            executor.change(descriptor, to: .input)
        }
    }

    func close() {
        guard isOpen else { return }
        isOpen = false
        executor.unwatch(descriptor)
        Glibc.close(descriptor)
    }

    func executorStops() { close() }
}
