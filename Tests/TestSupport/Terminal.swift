import Foundation
import Glibc
import Synchronization

/// A program on a separate terminal of a chosen width. A test reads its output and writes its input.
package final class Terminal: Sendable {
    private let controller: Int32
    private let child: Child
    private let screen = Mutex(Screen())
    private let hasEnded: AsyncStream<Void>
    /// All output of the line was read.
    private let isShown: AsyncStream<Void>
    private let changes: AsyncStream<Void>
    private let slave: Int32
    /// Tells the reader to close the terminal.
    private let closing: (reading: Int32, writing: Int32)
    private let isClosed = Mutex(false)

    private struct Screen {
        var bytes: [UInt8] = []
    }

    /// Runs a line of bash, in which `authc` is the program under test.
    package init(
        _ line: String, columns: UInt16 = 80, rows: UInt16 = 24, environment: [String: String]
    ) async throws {
        var (controller, slave): (Int32, Int32) = (-1, -1)
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        guard openpty(&controller, &slave, nil, nil, &size) == 0 else { throw POSIXError(.ENODEV) }
        _ = fcntl(controller, F_SETFD, FD_CLOEXEC)
        _ = fcntl(slave, F_SETFD, FD_CLOEXEC)
        (self.controller, self.slave) = (controller, slave)
        let (changes, tell) = AsyncStream<Void>.makeStream()
        let (ended, end) = AsyncStream<Void>.makeStream()
        (self.changes, hasEnded) = (changes, ended)
        let (shown, show) = AsyncStream<Void>.makeStream()
        isShown = shown
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw POSIXError(.EMFILE) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        closing = (ends[0], ends[1])

        let line = "authc() { \"\(Programs.authc)\" \"$@\"; }; \(line)"
        child = try await Child(
            ["setsid", "-c", "-w", "bash", "-c", line],
            environment: ["TERM": "xterm"].merging(environment) { $1 }, input: .terminal(slave))
        child.whenEnded { _ in end.finish() }
        Thread.detachNewThread {
            self.read(tell, atEnd: show)
            show.finish()
        }
    }

    deinit {
        closeController()
        close(slave)
        close(closing.reading)
        close(closing.writing)
    }

    private func closeController() {
        isClosed.withLock { isClosed in
            if !isClosed { close(controller) }
            isClosed = true
        }
    }

    /// All that was shown so far.
    package var text: String { screen.withLock { String(decoding: $0.bytes, as: UTF8.self) } }

    /// The same with one space between two words: where lines end depends on the length of paths.
    package var words: String { text.split { $0.isWhitespace }.joined(separator: " ") }

    /// Waits until `words` were shown, counting from the start or from the last `mark`. A space may be the end of a line.
    package func waits(for words: String) async {
        func areShown() -> Bool {
            let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            return text.contains(words) || lines.map { $0.drop { $0 == " " } }.joined(separator: " ").contains(words)
        }
        if areShown() { return }
        for await _ in changes where areShown() { return }
    }

    /// Forgets what was shown.
    package func mark() {
        screen.withLock { $0.bytes = [] }
    }

    package func type(_ text: String) {
        _ = Array(text.utf8).withUnsafeBytes { Glibc.write(controller, $0.baseAddress, $0.count) }
    }

    /// Whether the terminal shows what is typed.
    package var echoes: Bool {
        var settings = termios()
        tcgetattr(controller, &settings)
        return settings.c_lflag & tcflag_t(ECHO) != 0
    }

    package func resize(columns: UInt16, rows: UInt16 = 24) {
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(controller, UInt(TIOCSWINSZ), &size)
    }

    /// Whether input comes line by line, as a shell expects.
    package var readsLines: Bool {
        var settings = termios()
        tcgetattr(controller, &settings)
        return settings.c_lflag & tcflag_t(ICANON) != 0
    }

    /// Closes the terminal, as a window does. Nothing is read from it any more.
    package func hangUp() {
        var byte: UInt8 = 0
        _ = Glibc.write(closing.writing, &byte, 1)
    }

    /// Waits for the line's end, and for all that it has written.
    package func ends() async {
        for await _ in hasEnded {}
        // It comes after the line's output. A terminal that was closed shows nothing more.
        var mark = Self.endMark
        if Glibc.write(slave, &mark, 1) == 1 { for await _ in isShown {} }
    }

    /// No program writes it.
    private static let endMark: UInt8 = 0

    private func read(_ tell: AsyncStream<Void>.Continuation, atEnd show: AsyncStream<Void>.Continuation) {
        var part = [UInt8](repeating: 0, count: 4096)
        while true {
            var waiting = [
                pollfd(fd: controller, events: Int16(POLLIN), revents: 0),
                pollfd(fd: closing.reading, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&waiting, 2, -1) >= 0 || errno == EINTR else { return tell.finish() }
            if waiting[1].revents != 0 {
                closeController()
                return tell.finish()
            }
            guard waiting[0].revents != 0 else { continue }
            let count = Glibc.read(controller, &part, part.count)
            guard count > 0 else { return tell.finish() }
            let bytes = part[..<count].filter { $0 != Self.endMark }
            screen.withLock { $0.bytes += bytes }
            tell.yield()
            if bytes.count < count { show.finish() }
        }
    }
}
