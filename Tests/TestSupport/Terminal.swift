import Foundation
import Glibc
import Synchronization

/// A program on a separate terminal of a chosen width. A test reads its output and writes its input.
package final class Terminal: Sendable {
    private let controller: Int32
    private let child: Child
    private let screen = Mutex(Screen())
    private let hasEnded: AsyncStream<Void>
    private let changes: AsyncStream<Void>
    private let slave: Int32

    private struct Screen {
        var text = ""
    }

    /// Runs a line of bash, in which `authc` is the program under test.
    package init(_ line: String, columns: UInt16 = 80, environment: [String: String]) async throws {
        var (controller, slave): (Int32, Int32) = (-1, -1)
        var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        guard openpty(&controller, &slave, nil, nil, &size) == 0 else { throw POSIXError(.ENODEV) }
        _ = fcntl(controller, F_SETFD, FD_CLOEXEC)
        _ = fcntl(slave, F_SETFD, FD_CLOEXEC)
        (self.controller, self.slave) = (controller, slave)
        let (changes, tell) = AsyncStream<Void>.makeStream()
        let (ended, end) = AsyncStream<Void>.makeStream()
        (self.changes, hasEnded) = (changes, ended)

        let line = "authc() { \"\(Programs.authc)\" \"$@\"; }; \(line)"
        child = try await Child(
            ["setsid", "-c", "-w", "bash", "-c", line],
            environment: ["TERM": "xterm"].merging(environment) { $1 }, input: .terminal(slave))
        child.whenEnded { _ in end.finish() }
        Thread.detachNewThread { self.read(tell) }
    }

    deinit {
        close(controller)
        close(slave)
    }

    /// All that was shown so far.
    package var text: String { screen.withLock { $0.text } }

    /// Waits until `words` were shown, counting from the start or from the last `mark`.
    package func waits(for words: String) async {
        if text.contains(words) { return }
        for await _ in changes where text.contains(words) { return }
    }

    /// Forgets what was shown.
    package func mark() {
        screen.withLock { $0.text = "" }
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

    package func resize(columns: UInt16) {
        var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(controller, UInt(TIOCSWINSZ), &size)
    }

    /// Waits for the line's end.
    package func ends() async {
        for await _ in hasEnded {}
    }

    private func read(_ tell: AsyncStream<Void>.Continuation) {
        var part = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Glibc.read(controller, &part, part.count)
            guard count > 0 else { return tell.finish() }
            screen.withLock { $0.text += String(decoding: part[..<count], as: UTF8.self) }
            tell.yield()
        }
    }
}
