import AuthWire
import Glibc
import Logging

/// One line for each event on stderr: time, level, message, then `key=value`.
enum StandardError {
    static let output = LogOutput(
        format: { line in
            let isUnicode = TerminalText.isUnicode(environment: Environment.value)
            return LogEntry(fields: [oneLine(TerminalText.shown("\(now) \(text(line))", isUnicode: isUnicode))])
        }, write: { write($0, to: STDERR_FILENO) })

    /// Blocks while nobody reads the pipe or the terminal. Another process that shares it may have set O_NONBLOCK: that flag
    /// belongs to the open file.
    static func write(_ entry: LogEntry, to descriptor: CInt) {
        unsafe entry.bytes.withUnsafeBytes { bytes in
            var rest = unsafe bytes[...]
            // One call if there is room, so that lines of several processes do not mix.
            while unsafe !rest.isEmpty {
                let part = unsafe UnsafeRawBufferPointer(rebasing: rest)
                let count = unsafe Glibc.write(descriptor, part.baseAddress, part.count)
                if count > 0 {
                    unsafe rest = rest.dropFirst(count)
                } else if count == 0 || (errno != EINTR && !(errno == EAGAIN && waitForRoom(descriptor))) {
                    // Nobody will read it. That cannot be logged.
                    return
                }
            }
        }
    }

    /// - Returns: `false` if poll(2) cannot wait for it.
    private static func waitForRoom(_ descriptor: CInt) -> Bool {
        var writable = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return unsafe poll(&writable, 1, -1) > 0 || errno == EINTR
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
