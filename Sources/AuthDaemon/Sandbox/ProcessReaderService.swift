import Logging
import ServiceLifecycle
import Synchronization

/// Ends the agent with a failure when the process that identifies clients has ended: without it, each client counts as
/// limited, and an agent that restricts itself cannot start another. A service manager starts the agent again, with its
/// sessions.
package struct ProcessReaderService: Service {
    private struct Ended: Error, CustomStringConvertible {
        let description = "the process that identifies clients has ended"
    }

    private let reader: ProcessReader

    /// `nil` if there is no such process.
    package init?() {
        guard let reader = ProcessReader.current.withLock({ $0 }) else { return nil }
        self.reader = reader
    }

    init(_ reader: ProcessReader) { self.reader = reader }

    package func run() async throws {
        try await cancelWhenGracefulShutdown {
            guard await reader.hasEnded() else { return }
            AgentLog(level: .error).logger().error(
                "The process that identifies clients has ended; authd stops. Until it is restarted, clients get limited access."
            )
            throw Ended()
        }
    }
}
