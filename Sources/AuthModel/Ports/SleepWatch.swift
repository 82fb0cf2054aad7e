/// The machine's sleep, and its wall clock being set.
package protocol SleepWatch: Sendable {
    func events() -> AsyncStream<SleepEvent>
}

package enum SleepEvent: Sendable {
    /// The machine is about to sleep, and waits a little until the hold is let go of.
    case preparing(SleepHold)
    /// It is awake again, or did not sleep after all.
    case resumed
    /// The wall clock was set.
    case clockSet
}

/// What keeps the machine awake for as long as something has to be finished; the system gives it some seconds.
package final class SleepHold: Sendable {
    private let release: @Sendable () -> Void

    package init(release: @escaping @Sendable () -> Void) {
        self.release = release
    }

    package func end() {
        release()
    }

    deinit {
        release()
    }
}

/// A machine of which nobody tells that it sleeps.
package struct NeverSleeps: SleepWatch {
    package init() {}

    package func events() -> AsyncStream<SleepEvent> {
        AsyncStream { $0.finish() }
    }
}
