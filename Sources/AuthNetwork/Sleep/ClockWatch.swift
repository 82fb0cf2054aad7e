import CLinux
import GLibRuntime
import Glibc

/// Hears from the kernel when the wall clock is set, which it also is when the machine wakes: a timer that never runs
/// out, and is cancelled then (timerfd_create(2), TFD_TIMER_CANCEL_ON_SET). Used on its GLib thread only.
final class ClockWatch {
    private let descriptor: Int32
    private var subscription: GLibSubscription?
    private var last = ClockReading.now()

    /// Far enough for the timer never to run out; the kernel takes no more than about 290 years.
    private static let never = 100 * 365 * 86400

    /// - Parameter changed: with what came of comparing the clocks; either may be zero.
    init(on thread: GLibThread, changed: @escaping (_ slept: Duration, _ shift: Duration) -> Void) {
        descriptor = timerfd_create(CLOCK_REALTIME, Int32(TFD_NONBLOCK) | Int32(TFD_CLOEXEC))
        guard descriptor >= 0 else { return }
        arm()
        subscription = thread.watch(readable: descriptor) { [weak self] in
            guard let self else { return }
            drain()
            let now = ClockReading.now()
            let (slept, shift) = (now.sleep(since: last), now.shift(since: last))
            last = now
            changed(slept, shift)
        }
    }

    deinit {
        // Before the descriptor is closed; from whatever thread lets go last.
        subscription = nil
        if descriptor >= 0 { close(descriptor) }
    }

    private func arm() {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        var timer = itimerspec()
        timer.it_value.tv_sec = now.tv_sec + Self.never
        timerfd_settime(descriptor, Int32(TFD_TIMER_ABSTIME) | Int32(TFD_TIMER_CANCEL_ON_SET), &timer, nil)
    }

    /// ECANCELED is what it says; it stays armed.
    private func drain() {
        var expirations: UInt64 = 0
        _ = read(descriptor, &expirations, MemoryLayout<UInt64>.size)
    }
}
