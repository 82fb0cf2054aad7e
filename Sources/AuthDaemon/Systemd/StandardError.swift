import AuthWire
import Glibc
import Logging

/// One line an event on stderr: when, the level, what happened, then `key=value`.
enum StandardError {
    static func write(_ line: LogLine) {
        var text = "\(now) \(line.level): \(line.message)"
        for (key, value) in line.fields.sorted(by: { $0.key < $1.key }) { text += " \(key)=\(value)" }
        let bytes = oneLine(text)
        // One call, so that lines of several threads do not mix.
        _ = unsafe Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }

    /// The machine's own time and zone, as in `2026-01-30T23:17:41+0100`.
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

    /// What a peer or provider wrote may hold control characters: a terminal must not act on them.
    static func oneLine(_ text: String) -> [UInt8] { Array((VisibleText.line(text) + "\n").utf8) }
}
