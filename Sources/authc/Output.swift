import AuthWire
import Glibc

/// Results on stdout, words for people on stderr: one write(2) each, nothing buffered beyond it.
enum Output {
    static func result(_ text: String) throws(Failure) {
        try write(text.utf8 + [UInt8(ascii: "\n")], to: STDOUT_FILENO)
    }

    /// One line; what a terminal would act on is written as JSON's own escapes.
    static func json(_ value: JSON) throws(Failure) {
        try write(Visible.escaped(json: value.serialized()) + [UInt8(ascii: "\n")], to: STDOUT_FILENO)
    }

    /// Parts of a screen, as they are.
    static func raw(_ text: String) throws(Failure) {
        try write(Array(text.utf8), to: STDOUT_FILENO)
    }

    /// As they came.
    static func bytes(_ bytes: [UInt8]) throws(Failure) {
        try write(bytes, to: STDOUT_FILENO)
    }

    static func note(_ text: String) {
        // Nobody is left to be told when stderr fails.
        try? write(text.utf8 + [UInt8(ascii: "\n")], to: STDERR_FILENO)
    }

    /// For a prompt: no line feed.
    static func prompt(_ text: String) {
        try? write(Array(text.utf8), to: STDERR_FILENO)
    }

    /// The reader has what it wants; SIGPIPE, where it is not ignored, ends us the same way.
    static func endUnread() -> Never { exit(128 + SIGPIPE) }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) throws(Failure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written >= 0 {
                rest = rest.dropFirst(written)
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&waiting, 1, -1)
            case EPIPE: endUnread()
            default: throw .internalError("cannot write the result (\(SystemError.text(errno)))")
            }
        }
    }
}
