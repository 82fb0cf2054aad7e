import CStart

/// Writes a result to stdout.
enum Printer {
    /// Prints the text and a line feed, if it has only printable characters.
    ///
    /// - Returns: whether it was written. If only a part was, nothing else can follow, and the program ends.
    static func print(_ text: Text) -> Bool {
        guard text.isPrintable else { return false }
        var line = unsafe [UInt8](text.bytes)
        line.append(.lineFeed)
        let written = unsafe line.withUnsafeBytes { unsafe write(STDOUT_FILENO, $0.baseAddress, $0.count) }
        if written > 0, written < line.count { exit(failedStatus) }
        return written == line.count
    }

    /// EX_SOFTWARE (sysexits(3head)), as for every result that cannot be written.
    private static let failedStatus: Int32 = 70
}

extension UInt8 {
    static var lineFeed: UInt8 { UInt8(ascii: "\n") }
    static var slash: UInt8 { UInt8(ascii: "/") }
    static var quote: UInt8 { UInt8(ascii: "\"") }
}
