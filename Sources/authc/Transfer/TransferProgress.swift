import AuthConnection
import CLinux
import Glibc

/// Draws a ``TransferBar`` on stderr, if that is a terminal.
struct TransferProgress {
    /// A shorter transfer needs no bar.
    private static let delay: Int64 = 300_000_000
    private static let interval: Int64 = 100_000_000
    /// The weight of the newest interval in the rate.
    private static let weight = 0.2

    private let isShown: Bool
    private let start = Self.now
    private var bar = TransferBar(done: 0)
    private var drawnAt: Int64 = 0
    private var drawnBytes = 0
    private var isDrawn = false

    init(_ options: Options) {
        let terminal = environmentValue("TERM") ?? ""
        isShown = !options.json && isatty(STDERR_FILENO) == 1 && !["", "dumb"].contains(terminal)
    }

    /// - Parameter done: less than before if the transfer starts again.
    mutating func moved(to done: Int, of total: Int?) {
        if done < bar.done { (drawnBytes, bar.rate) = (done, nil) }
        bar.done = done
        bar.total = total
        let now = Self.now
        guard isShown, now - start >= Self.delay, now - drawnAt >= Self.interval else { return }
        if drawnAt > 0 {
            let rate = Double(done - drawnBytes) / (Double(now - drawnAt) / 1e9)
            bar.rate = bar.rate.map { $0 + (rate - $0) * Self.weight } ?? rate
        } else {
            bar.rate = Double(done) / (Double(now - start) / 1e9)
        }
        (drawnAt, drawnBytes, isDrawn) = (now, done, true)
        let screen = Screen.of(STDERR_FILENO)
        Output.prompt("\r" + bar.text(columns: screen.width, isUnicode: screen.isUnicode) + "\u{1B}[K")
    }

    mutating func clear() {
        guard isDrawn else { return }
        isDrawn = false
        Output.prompt("\r\u{1B}[K")
    }

    private static var now: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
