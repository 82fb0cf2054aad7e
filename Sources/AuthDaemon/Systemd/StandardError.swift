import AuthWire
import Glibc
import Logging

/// One line for each event on stderr: time, level, message, then `key=value`.
enum StandardError {
    static let output = LogOutput(
        format: { line in
            let isUnicode = TerminalText.isUnicode(environment: Environment.value)
            return LogEntry(fields: [oneLine(TerminalText.shown("\(now) \(text(line))", isUnicode: isUnicode))])
        }, write: write)

    /// Blocks while nobody reads the pipe. O_NONBLOCK would affect every process that shares this pipe or terminal.
    private static func write(_ entry: LogEntry) {
        // One call, so that lines of several processes do not mix.
        _ = unsafe Glibc.write(STDERR_FILENO, entry.bytes, entry.bytes.count)
    }

    /// A value is quoted as in JSON if it could pass for other fields.
    static func text(_ line: LogLine) -> String {
        var text = "\(line.level): \(line.message)"
        for (key, value) in line.fields.sorted(by: { $0.key < $1.key }) where key != CatalogMessage.key {
            let value = "\(value)"
            text += " \(key)=\(value.utf8.contains(where: isQuoted) ? JSON.string(value).text() : value)"
        }
        return text
    }

    private static func isQuoted(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "=") || byte == UInt8(ascii: "\"")
    }

    /// Local time with its zone, such as `2026-01-30T23:17:41+0100`.
    private static var now: String {
        var seconds = time(nil)
        var parts = unsafe tm()
        return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { text in
            guard unsafe localtime_r(&seconds, &parts) != nil,
                unsafe strftime(text.baseAddress, text.count, "%Y-%m-%dT%H:%M:%S%z", &parts) > 0,
                let start = text.baseAddress
            else { return "-" }
            return unsafe String(cString: start)
        }
    }

    /// Text of peers or providers may contain control characters: a terminal must not interpret them.
    static func oneLine(_ text: String) -> [UInt8] { Array((VisibleText.line(text) + "\n").utf8) }
}
