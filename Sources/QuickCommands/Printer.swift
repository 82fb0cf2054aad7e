import CStart

/// Writes a result to stdout.
enum Printer {
    /// EX_SOFTWARE (sysexits(3head)), as for every result that cannot be written.
    private static let failedStatus: Int32 = 70
    /// As if SIGPIPE had ended the program.
    private static let unreadStatus: Int32 = 128 + SIGPIPE

    /// Whether stdout and stderr are open. A socket or a file must not get the number of a closed one: a token or a
    /// message would be written to it. authc-full opens /dev/null in their place.
    static var canPrint: Bool { start_is_open(STDOUT_FILENO) != 0 && start_is_open(STDERR_FILENO) != 0 }

    /// Prints a text, which a terminal can show, and a line feed.
    ///
    /// - Returns: whether it was written. If only a part was, nothing else can follow, and the program ends.
    static func print(_ text: ByteString) -> Bool {
        var line = text.bytes
        line.append(.lineFeed)
        var sent = 0
        while sent < line.count {
            let written = unsafe line.withUnsafeBytes { bytes in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[sent...])
                return unsafe write(STDOUT_FILENO, rest.baseAddress, rest.count)
            }
            if written > 0 {
                sent += written
                continue
            }
            // A file that takes nothing, such as /proc/self/mem, has no error.
            guard written < 0 else { exit(failedStatus) }
            switch start_errno() {
            case EINTR: continue
            case EAGAIN:
                var waiting = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&waiting, 1, -1)
            case EPIPE: exit(unreadStatus)
            default:
                guard sent > 0 else { return false }
                Message.write("cannot write the result", reason: start_errno())
                exit(failedStatus)
            }
        }
        return true
    }
}

/// What this program itself has to say.
enum Message {
    static func write(_ problem: StaticString, path: ByteString? = nil, reason: Int32? = nil) {
        var line = ByteString()
        line.append("authc: ")
        line.append(problem)
        if let path { unsafe path.bytes.withUnsafeBytes { unsafe line.append(Text($0)) } }
        if let reason, let text = unsafe strerror(reason) {
            line.append(": ")
            unsafe line.append(Text(cString: text))
        }
        line.append(".\n")
        _ = unsafe line.bytes.withUnsafeBytes { unsafe CStart.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

extension UInt8 {
    static var lineFeed: UInt8 { UInt8(ascii: "\n") }
    static var slash: UInt8 { UInt8(ascii: "/") }
    static var quote: UInt8 { UInt8(ascii: "\"") }
}
