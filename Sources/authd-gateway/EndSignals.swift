import AuthConcurrency
import Glibc
import Synchronization

/// The signals that end the program, received with sigwait(3) on a separate thread.
///
/// Until ``handle()`` a signal ends the program at once: it may wait for the agent. So does a second one.
final class EndSignals: Sendable {
    private static let numbers = [SIGTERM, SIGINT, SIGHUP]
    private let first = OneShot<Int32>()
    private let isHandled = Atomic(false)
    private let thread = BlockingThread()

    /// Blocks them in this thread, and in all that it starts.
    init() {
        var wanted = Self.wanted
        unsafe pthread_sigmask(SIG_BLOCK, &wanted, nil)
        thread.submit { [self] in
            while true {
                let number = Self.received()
                if isHandled.load(ordering: .acquiring), first.send(number) { continue }
                Self.end(by: number)
            }
        }
    }

    /// From now on, the first one is for ``next()``.
    func handle() { isHandled.store(true, ordering: .releasing) }

    /// The first one; `nil` if the task is cancelled first.
    func next() async -> Int32? {
        handle()
        return await first.value()
    }

    private static func received() -> Int32 {
        var wanted = wanted
        var number: Int32 = 0
        while unsafe sigwait(&wanted, &number) != 0 {}
        return number
    }

    /// As if it had never been blocked.
    private static func end(by number: Int32) {
        signal(number, SIG_DFL)
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, number)
        unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
        raise(number)
    }

    private static var wanted: sigset_t {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for number in numbers { unsafe sigaddset(&set, number) }
        return set
    }
}
