import CLinux
import GLibRuntime
import Glibc

/// Notices when the wall clock is set, which also happens when the machine wakes: a timer that never expires is cancelled then
/// (timerfd_create(2), TFD_TIMER_CANCEL_ON_SET). Used on its GLib thread only.
final class ClockWatch {
    private let descriptor: Int32
    private var subscription: GLibSubscription?
    private var last = ClockReading.now()

    /// So far ahead that the timer never expires; the kernel accepts about 290 years at most.
    private static let never = 100 * 365 * 86400

    /// - Parameter changed: receives the difference of the clocks; either may be zero.
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
        // Before the descriptor is closed, on the thread that releases this object.
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

    /// It fails with ECANCELED and stays armed.
    private func drain() {
        var expirations: UInt64 = 0
        _ = read(descriptor, &expirations, MemoryLayout<UInt64>.size)
    }
}
