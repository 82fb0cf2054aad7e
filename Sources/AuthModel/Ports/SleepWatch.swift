/// Reports the machine's sleep and changes of its wall clock.
package protocol SleepWatch: Sendable {
    func events() -> AsyncStream<SleepEvent>
}

package enum SleepEvent: Sendable {
    /// The machine is about to sleep, and waits a little until the hold ends.
    case preparing(SleepHold)
    /// It is awake again, or did not sleep.
    case resumed
    case clockSet
}

/// Delays the machine's sleep while work is finished; the system allows some seconds.
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

/// For a machine without sleep notifications.
package struct NeverSleeps: SleepWatch {
    package init() {}

    package func events() -> AsyncStream<SleepEvent> {
        AsyncStream { $0.finish() }
    }
}
