import AuthConcurrency
import Glibc

/// The signals that end the program, received with sigwait(3) on a separate thread.
final class EndSignals: Sendable {
    private static let numbers = [SIGTERM, SIGINT, SIGHUP]
    private let thread = BlockingThread()

    /// Blocks them in this thread, and in all that it starts.
    init() {
        var wanted = Self.wanted
        unsafe pthread_sigmask(SIG_BLOCK, &wanted, nil)
    }

    /// The next one; `nil` if the task is cancelled first.
    func next() async -> Int32? {
        await thread.run {
            var wanted = Self.wanted
            var number: Int32 = 0
            while unsafe sigwait(&wanted, &number) != 0 {}
            return number
        }
    }

    private static var wanted: sigset_t {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for number in numbers { unsafe sigaddset(&set, number) }
        return set
    }
}
