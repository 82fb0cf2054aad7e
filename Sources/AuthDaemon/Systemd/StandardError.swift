import Glibc
import Logging

/// One line an event on stderr: the level, what happened, then `key=value`.
enum StandardError {
    static func write(_ line: LogLine) {
        var text = "\(line.level): \(line.message)"
        for (key, value) in line.fields.sorted(by: { $0.key < $1.key }) { text += " \(key)=\(value)" }
        let bytes = oneLine(text)
        // One call, so that lines of several threads do not mix.
        _ = unsafe Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }

    /// What a peer or provider wrote may hold control characters: a terminal must not act on them.
    static func oneLine(_ text: String) -> [UInt8] {
        var line = text.unicodeScalars.reduce(into: "") { line, scalar in
            if scalar.properties.generalCategory == .control {
                line += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                line.unicodeScalars.append(scalar)
            }
        }
        line += "\n"
        return Array(line.utf8)
    }
}
