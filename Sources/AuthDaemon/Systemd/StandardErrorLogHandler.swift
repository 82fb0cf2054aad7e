import Glibc
package import Logging

/// One line an event on stderr: the level, what happened, then `key=value`.
package struct StandardErrorLogHandler: LogHandler {
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
        var line = "\(event.level): \(event.message)"
        let all = metadata.merging(event.metadata ?? [:], uniquingKeysWith: { $1 })
        for (key, value) in all.sorted(by: { $0.key < $1.key }) { line += " \(key)=\(value)" }
        if let error = event.error { line += " error=\(error)" }
        let bytes = Self.oneLine(line)
        // One call, so that lines of several threads do not mix.
        _ = unsafe write(STDERR_FILENO, bytes, bytes.count)
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
