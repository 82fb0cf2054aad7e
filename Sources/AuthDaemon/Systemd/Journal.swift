import AuthWire
import CSystemd
import Glibc
import Logging

/// Writes to the journal with fields for each event: `session` in the metadata becomes `AUTHD_SESSION`
/// (systemd.journal-fields(7)).
enum Journal {
    static let output = LogOutput(format: { LogEntry(fields: fields(of: $0).map { Array($0.utf8) }) }, write: send)

    static func fields(of line: LogLine) -> [String] {
        var fields = [
            "MESSAGE=\(VisibleText.line(line.message))", "PRIORITY=\(line.level.syslogPriority)",
            "SYSLOG_IDENTIFIER=\(identifier)",
        ]
        if let unit { fields.append("USER_UNIT=\(unit)") }
        for (key, value) in line.fields {
            let name = key == CatalogMessage.key ? "MESSAGE_ID" : "AUTHD_\(fieldName(key))"
            fields.append("\(name)=\(VisibleText.line("\(value)"))")
        }
        return fields
    }

    /// This process's unit in its user's manager (sd_pid_get_user_unit(3)). The journal looks up a sender's unit only when it
    /// reads the message: what a process says just before it ends would be missing from `journalctl --user -u authd`.
    static let unit: String? = {
        var name: UnsafeMutablePointer<CChar>?
        guard unsafe sd_pid_get_user_unit(0, &name) >= 0, let found = unsafe name else { return nil }
        defer { unsafe free(found) }
        return unsafe String(cString: found)
    }()

    /// As in `SyslogIdentifier=` of the units: with the name of the agent if that has one.
    private static let identifier: String = {
        let ending = ".service"
        guard let unit, unit.hasPrefix("authd@"), unit.hasSuffix(ending) else { return "authd" }
        return String(unit.dropLast(ending.count))
    }()

    /// The journal accepts only capital letters, digits and underscores.
    static func fieldName(_ key: String) -> String {
        String(key.uppercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    }

    /// Blocks in sendmsg(2) while the queue of journald's socket is full.
    private static func send(_ entry: LogEntry) {
        var bytes = entry.bytes
        unsafe bytes.withUnsafeMutableBytes { all in
            var start = 0
            let vectors = unsafe entry.ends.map { end in
                defer { start = end }
                return unsafe iovec(iov_base: all.baseAddress.map { unsafe $0 + start }, iov_len: end - start)
            }
            // A failure cannot be logged.
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
