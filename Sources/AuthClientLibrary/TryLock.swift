import Glibc

/// A lock that nobody waits for. What another thread held at fork(2) stays locked in the child for ever, and does no
/// harm there.
///
/// Not `Mutex`: it remembers the thread by its number, which is another one in a child, and ends the process then.
///
/// Sendable, because pthread_mutex_trylock(3) may be called by any thread.
@safe final class TryLock: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe pthread_mutex_init(mutex, nil)
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// - Returns: `nil` if another thread has the lock.
    @discardableResult
    func attempt<Result>(_ work: () -> Result) -> Result? {
        guard unsafe pthread_mutex_trylock(mutex) == 0 else { return nil }
        defer { unsafe pthread_mutex_unlock(mutex) }
        return work()
    }
}
