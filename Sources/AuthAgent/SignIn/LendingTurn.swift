import Synchronization

/// The use of the browser through a listener, which one sign-in has at a time.
///
/// Invariant: it ends once: with ``end()``, or when nothing refers to it because its request was never carried out.
package final class LendingTurn: Sendable {
    private let release: Mutex<(@Sendable () -> Void)?>

    /// - Parameter release: makes room for the next one.
    package init(release: @escaping @Sendable () -> Void) {
        self.release = Mutex(release)
    }

    deinit { end() }

    package func end() {
        let release = release.withLock { release in
            defer { release = nil }
            return release
        }
        release?()
    }
}
