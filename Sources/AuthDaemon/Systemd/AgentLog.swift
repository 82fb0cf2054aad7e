package import AuthModel
import AuthSockets
import Glibc
package import Logging
import Synchronization

/// Where the log goes and its level: the journal if stderr is connected to it, else stderr. Logging does not block.
package final class AgentLog: Sendable {
    private let threshold: Atomic<Int>

    package init(level: Logger.Level) {
        threshold = Atomic(Self.rank(level))
    }

    /// Applies at once to every logger of ``logger(_:)``.
    package var level: Logger.Level {
        get { Logger.Level.allCases[threshold.load(ordering: .relaxed)] }
        set { threshold.store(Self.rank(newValue), ordering: .relaxed) }
    }

    package func logger() -> Logger { logger(to: { Self.queue.add($0) }) }

    /// For the lines of the audit log, which are written at any level. They take no room from others, and are not
    /// dropped while the agent runs: ``AuditLog`` limits and counts them.
    func auditLogger() -> Logger { auditLogger(to: { Self.queue.add($0, isLimited: false) }) }

    func logger(to write: @escaping @Sendable (LogLine) -> Void) -> Logger {
        Logger(label: "authd") { _ in AgentLogHandler(log: self, write: write) }
    }

    func auditLogger(to write: @escaping @Sendable (LogLine) -> Void) -> Logger {
        AgentLog(level: .info).logger(to: write)
    }

    private static let queue = LogQueue(to: isJournal ? Journal.output : StandardError.output)

    /// Until this call, lines are kept, and no thread is started.
    package static func start() { queue.start() }

    /// Returns when the lines until now are written, or when the task is cancelled.
    static func flush() async { await queue.flush() }

    /// Returns when all lines are written, or after some seconds if the log does not receive them.
    package static func finish() async { await queue.finish() }

    package static var isJournal: Bool { standardErrorIsJournal(getenv: Environment.value) }

    /// Whether stderr is the stream that systemd connected to the journal (`JOURNAL_STREAM`, systemd.exec(5)).
    static func standardErrorIsJournal(getenv: (String) -> String?) -> Bool {
        guard let stream = getenv("JOURNAL_STREAM"), let identity = FileIdentity(descriptor: STDERR_FILENO) else {
            return false
        }
        return stream == "\(identity.device):\(identity.inode)"
    }

    private static func rank(_ level: Logger.Level) -> Int { Logger.Level.allCases.firstIndex(of: level) ?? 0 }
}

/// Uses the level of its ``AgentLog``, so that a reload changes it everywhere.
private struct AgentLogHandler: LogHandler {
    let log: AgentLog
    let write: @Sendable (LogLine) -> Void
    var metadata: Logger.Metadata = [:]

    var logLevel: Logger.Level {
        get { log.level }
        set { log.level = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var fields = metadata.merging(event.metadata ?? [:], uniquingKeysWith: { $1 })
        if let error = event.error { fields["error"] = "\(error)" }
        write(LogLine(level: event.level, message: "\(event.message)", fields: fields))
    }
}

struct LogLine: Sendable {
    let level: Logger.Level
    let message: String
    let fields: Logger.Metadata
}

extension Settings {
    /// The level of the log; `nil` if it is not set.
    package var level: Logger.Level? { logLevel.flatMap(Logger.Level.init(rawValue:)) }
}
