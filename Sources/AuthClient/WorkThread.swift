import AuthConnection
import Glibc

/// A separate thread for poll(2), so that it does not block Swift's thread pool.
///
/// It is not the agent's `BlockingThread`: this library is part of other programs and imports only AuthConnection and
/// AuthWire, and a call must fail if no thread can be started; `BlockingThread` then works on the caller's thread.
enum WorkThread {
    /// Runs `body` on a new detached thread, which receives no signals.
    static func start(_ body: @escaping @Sendable () -> Void) throws(ClientError) {
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        defer { _ = unsafe pthread_attr_destroy(&attributes) }

        var all = sigset_t()
        var before = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { _ = unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }

        let work = unsafe Unmanaged.passRetained(Work(body))
        var thread = pthread_t()
        let code = unsafe pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, work.toOpaque())
        guard code == 0 else {
            unsafe work.release()
            throw .system(systemText("pthread_create", code))
        }
    }

    private final class Work: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) {
            self.body = body
        }
    }
}
