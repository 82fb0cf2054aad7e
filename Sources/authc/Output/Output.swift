import AuthWire
import Glibc

/// Writes results to stdout and messages to stderr, each with one write(2) and without a buffer.
enum Output {
    /// Writes a value, or text that was laid out. It is changed only for a terminal that cannot show all its
    /// characters.
    static func result(_ text: String) throws(Failure) {
        let screen = Screen.current
        try write((screen.isTerminal ? screen.shown(text) : text).utf8 + [UInt8(ascii: "\n")], to: STDOUT_FILENO)
    }

    /// Writes text that people read: lines fit the terminal.
    static func text(_ text: String) throws(Failure) {
        try result(Layout.fitted(text, on: .current))
    }

    /// Writes one line. Characters that a terminal acts on are escaped.
    static func json(_ value: JSON) throws(Failure) {
        try write(Visible.escaped(json: value.serialized()) + [UInt8(ascii: "\n")], to: STDOUT_FILENO)
    }

    /// Writes the only result of a command.
    static func jsonResult(_ value: JSON) throws(Failure) -> ExitStatus {
        try json(value)
        return .done
    }

    /// Writes parts of a screen unchanged.
    static func raw(_ text: String) throws(Failure) {
        try write(Array(text.utf8), to: STDOUT_FILENO)
    }

    /// Writes bytes unchanged.
    static func bytes(_ bytes: ArraySlice<UInt8>) throws(Failure) {
        try write(rest: bytes, to: STDOUT_FILENO)
    }

    static func note(_ text: String) {
        let text = Layout.fitted(AdvisedCommands.text(text), on: .of(STDERR_FILENO))
        message(text + "\n")
    }

    /// Writes a command for the user to copy: on one line, however long it is.
    static func command(_ text: String) {
        message(text + "\n")
    }

    /// Writes without a line feed.
    static func prompt(_ text: String) { message(text) }

    /// If stderr fails, there is nowhere to report that. If its reader is gone, the command still has its work to do.
    private static func message(_ text: String) {
        let former = signal(SIGPIPE, SIG_IGN)
        defer { signal(SIGPIPE, former) }
        try? write(Array(text.utf8), to: STDERR_FILENO)
    }

    /// A question, after which the user types.
    static func question(_ text: String) {
        prompt(fitted(question: text, on: .of(STDERR_FILENO)))
    }

    /// Removes a question, and the answer typed after it, from the terminal, as far as they are still on the screen.
    static func erase(_ question: String, answer: String) {
        let screen = Screen.of(STDERR_FILENO)
        guard screen.movesCursor else { return }
        let lines = fitted(question: question, on: screen).split(separator: "\n")
        // The terminal shows a control character as two (ECHOCTL, termios(3)).
        let controls = answer.unicodeScalars.count { $0.value < 0x20 || $0.value == 0x7F }
        let columns = Layout.width(String(lines.last ?? "") + answer) + controls
        let rows = max(0, lines.count - 1) + max(1, (columns + screen.width - 1) / screen.width)
        prompt(String(repeating: "\u{1B}[A\u{1B}[K", count: min(rows, screen.height - 1)))
    }

    private static func fitted(question: String, on screen: Screen) -> String {
        let end = question.reversed().prefix { $0 == " " }.count
        // The spaces fit on the last line, too.
        var screen = screen
        screen.width -= end
        return Layout.fitted(String(question.dropLast(end)), on: screen) + String(repeating: " ", count: end)
    }

    /// The reader of stdout has closed the pipe. SIGPIPE would end the program the same way.
    static func endUnread() -> Never { exit(128 + SIGPIPE) }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) throws(Failure) {
        try write(rest: bytes[...], to: descriptor)
    }

    private static func write(rest bytes: ArraySlice<UInt8>, to descriptor: Int32) throws(Failure) {
        var rest = bytes
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
            case EPIPE where descriptor == STDOUT_FILENO: endUnread()
            default: throw .internalError("cannot write the result (\(SystemError.text(errno)))")
            }
        }
    }
}
