import CSystemd
import Glibc
package import Logging

/// Writes to the journal with fields of their own: `session` in the metadata becomes `AUTHD_SESSION`
/// (systemd.journal-fields(7)).
package struct JournalLogHandler: LogHandler {
    package var logLevel: Logger.Level
    package var metadata: Logger.Metadata = [:]

    package init(level: Logger.Level) {
        logLevel = level
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var fields = [
            "MESSAGE=\(event.message)", "PRIORITY=\(event.level.syslogPriority)", "SYSLOG_IDENTIFIER=authd",
        ]
        for (key, value) in metadata.merging(event.metadata ?? [:], uniquingKeysWith: { $1 }) {
            fields.append("AUTHD_\(Self.fieldName(key))=\(value)")
        }
        if let error = event.error { fields.append("AUTHD_ERROR=\(error)") }
        Self.send(fields)
    }

    /// Capital letters, digits and underscores are all that the journal takes.
    static func fieldName(_ key: String) -> String {
        String(key.uppercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    }

    private static func send(_ fields: [String]) {
        var bytes: [UInt8] = []
        var ends: [Int] = []
        for field in fields {
            bytes.append(contentsOf: field.utf8)
            ends.append(bytes.count)
        }
        unsafe bytes.withUnsafeMutableBytes { all in
            var start = 0
            let vectors = unsafe ends.map { end in
                defer { start = end }
                return unsafe iovec(iov_base: all.baseAddress.map { unsafe $0 + start }, iov_len: end - start)
            }
            // A journal that does not take it is nothing that a log line could tell anybody.
            _ = unsafe sd_journal_sendv(vectors, Int32(vectors.count))
        }
    }
}

extension Logger.Level {
    /// syslog(3)
    var syslogPriority: Int {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}
