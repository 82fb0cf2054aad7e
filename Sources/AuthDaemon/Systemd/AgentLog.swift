import Glibc
package import Logging
import Synchronization

/// Where the log goes and how much of it: the journal when stderr is it, else stderr.
package final class AgentLog: Sendable {
    private let threshold: Atomic<Int>

    package init(level: Logger.Level) {
        threshold = Atomic(Self.rank(level))
    }

    /// Taken over at once by every logger of ``logger(_:)``.
    package var level: Logger.Level {
        get { Logger.Level.allCases[threshold.load(ordering: .relaxed)] }
        set { threshold.store(Self.rank(newValue), ordering: .relaxed) }
    }

    package func logger(_ label: String = "authd") -> Logger {
        let sink: any LogHandler =
            Self.standardErrorIsJournal(getenv: { name in unsafe getenv(name).map { unsafe String(cString: $0) } })
            ? JournalLogHandler(level: .trace) : StandardErrorLogHandler(level: .trace)
        return Logger(label: label) { _ in AdjustableLogHandler(sink: sink, log: self) }
    }

    /// Whether stderr is the very stream that systemd connected to the journal (`JOURNAL_STREAM`, systemd.exec(5)).
    static func standardErrorIsJournal(getenv: (String) -> String?) -> Bool {
        guard let stream = getenv("JOURNAL_STREAM"), let identity = FileIdentity(descriptor: STDERR_FILENO) else {
            return false
        }
        return stream == "\(identity.device):\(identity.inode)"
    }

    private static func rank(_ level: Logger.Level) -> Int { Logger.Level.allCases.firstIndex(of: level) ?? 0 }
}

/// A handler whose level is the one of its ``AgentLog``, so that a reload changes it everywhere.
private struct AdjustableLogHandler: LogHandler {
    var sink: any LogHandler
    let log: AgentLog

    var logLevel: Logger.Level {
        get { log.level }
        set { log.level = newValue }
    }

    var metadata: Logger.Metadata {
        get { sink.metadata }
        set { sink.metadata = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { sink[metadataKey: key] }
        set { sink[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) { sink.log(event: event) }
}
