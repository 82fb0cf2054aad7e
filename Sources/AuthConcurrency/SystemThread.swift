internal import Glibc

/// POSIX threads that receive no signals: other threads handle those.
package enum SystemThread {
    private final class Work: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Runs the work on a new thread, which ends with it.
    /// - Returns: `false` if the system cannot create another thread (pthread_create(3)): the work is not run.
    package static func start(_ run: @escaping @Sendable () -> Void) -> Bool {
        var (all, before) = (sigset_t(), sigset_t())
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { _ = unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        let work = unsafe Unmanaged.passRetained(Work(run))
        var made = pthread_t()
        let failure = unsafe pthread_create(
            &made, nil,
            { work in
                if let work = unsafe work { unsafe Unmanaged<Work>.fromOpaque(work).takeRetainedValue().run() }
                return nil
            }, work.toOpaque())
        guard failure == 0 else {
            unsafe work.release()
            return false
        }
        pthread_detach(made)
        return true
    }
}
