import Foundation
import Glibc

/// A program on a separate terminal of a chosen width. A test reads its output and writes its input. The terminal is closed
/// when the test releases it.
package final class Terminal: Sendable {
    private let child: Child
    private let reader: TerminalReader
    private let hasEnded: AsyncStream<Void>
    private let slave: Int32
    /// Its end tells the reader to close the terminal.
    private let closing: Int32

    /// Runs a line of bash, in which `authc` is the program under test.
    package init(
        _ line: String, columns: UInt16 = 80, rows: UInt16 = 24, environment: [String: String]
    ) async throws {
        var (controller, slave): (Int32, Int32) = (-1, -1)
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        guard openpty(&controller, &slave, nil, nil, &size) == 0 else { throw POSIXError(.ENODEV) }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw POSIXError(.EMFILE) }
        for descriptor in [controller, slave] + ends { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        let (ended, end) = AsyncStream<Void>.makeStream()
        (self.slave, closing, hasEnded) = (slave, ends[1], ended)
        let reader = TerminalReader(controller, until: ends[0])
        self.reader = reader
        Thread.detachNewThread { reader.run() }

        let line = "authc() { \"\(Programs.authc)\" \"$@\"; }; \(line)"
        child = try await Child(
            ["setsid", "-c", "-w", "bash", "-c", line],
            environment: ["TERM": "xterm"].merging(environment) { $1 }, input: .terminal(slave))
        child.whenEnded { _ in end.finish() }
    }

    deinit {
        close(closing)
        close(slave)
    }

    /// All that was shown so far.
    package var text: String { reader.text }

    /// The same with one space between two words: where lines end depends on the length of paths.
    package var words: String { text.split { $0.isWhitespace }.joined(separator: " ") }

    /// Waits until `words` were shown, counting from the start or from the last `mark`. A space may be the end of a line.
    package func waits(for words: String) async {
        func areShown() -> Bool {
            let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            return text.contains(words) || lines.map { $0.drop { $0 == " " } }.joined(separator: " ").contains(words)
        }
        if areShown() { return }
        for await _ in reader.changes where areShown() { return }
    }

    /// Forgets what was shown.
    package func mark() {
        reader.forget()
    }

    package func type(_ text: String) {
        reader.withController { controller in
            _ = Array(text.utf8).withUnsafeBytes { Glibc.write(controller, $0.baseAddress, $0.count) }
        }
    }

    /// Whether the terminal shows what is typed.
    package var echoes: Bool {
        settings.c_lflag & tcflag_t(ECHO) != 0
    }

    package func resize(columns: UInt16, rows: UInt16 = 24) {
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        reader.withController { _ = ioctl($0, UInt(TIOCSWINSZ), &size) }
    }

    private var settings: termios {
        var settings = termios()
        reader.withController { _ = tcgetattr($0, &settings) }
        return settings
    }

    /// Whether input comes line by line, as a shell expects.
    package var readsLines: Bool {
        settings.c_lflag & tcflag_t(ICANON) != 0
    }

    /// Closes the terminal, as a window does. Nothing is read from it any more.
    package func hangUp() {
        var byte: UInt8 = 0
        _ = Glibc.write(closing, &byte, 1)
    }

    /// Waits for the line's end, and for all that it has written.
    package func ends() async {
        for await _ in hasEnded {}
        // It comes after the line's output. A terminal that was closed shows nothing more.
        var mark = TerminalReader.endMark
        if Glibc.write(slave, &mark, 1) == 1 { for await _ in reader.isShown {} }
    }
}
