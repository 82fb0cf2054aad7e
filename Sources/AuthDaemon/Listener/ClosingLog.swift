import AuthWire
import Logging

/// Logs the connections that the agent closes, and the sockets for bodies that it does not create: at most one line a
/// minute for each reason.
final class ClosingLog {
    private enum Reason: CaseIterable {
        case refused
        /// The client does not read its responses.
        case unread
        /// A client requested a socket for a body.
        case bodySocket
    }

    private let executor: SocketExecutor
    private let logger: Logger
    private var logs: [Reason: RefusalLog] = [:]

    init(executor: SocketExecutor, logger: Logger) {
        self.executor = executor
        self.logger = logger
    }

    func refused(_ peer: PeerCredentials, _ error: AgentError) {
        guard isLogged(.refused) else { return }
        logger.info(
            "Closed a connection: \(error.message)",
            metadata: ["peer_pid": "\(peer.processID)", "peer_uid": "\(peer.userID)"])
    }

    func unread(_ peer: PeerCredentials) {
        guard isLogged(.unread) else { return }
        logger.warning(
            "Closed a connection: its client does not read responses.", metadata: ["peer_pid": "\(peer.processID)"])
    }

    func noBodySocket(_ peer: PeerCredentials, _ reason: String) {
        guard isLogged(.bodySocket) else { return }
        logger.warning(
            "A client got no socket for a body: \(reason)", metadata: ["peer_pid": "\(peer.processID)"])
    }

    /// Logs what was counted but not logged yet.
    func finish() {
        for reason in Reason.allCases { logCount(reason) }
    }

    private func isLogged(_ reason: Reason) -> Bool {
        switch logs[reason, default: RefusalLog()].refused(at: executor.now) {
        case .log: return true
        case .count(let due):
            if let due { executor.schedule(at: due) { [weak self] in self?.logCount(reason) } }
            return false
        }
    }

    private func logCount(_ reason: Reason) {
        let count = logs[reason, default: RefusalLog()].resetCount(at: executor.now)
        guard count > 0 else { return }
        switch reason {
        case .refused: logger.info("\(count) more connections were closed within a minute.")
        case .unread: logger.warning("\(count) more clients did not read their responses within a minute.")
        case .bodySocket: logger.warning("\(count) more requests for a socket for a body were refused within a minute.")
        }
    }
}
