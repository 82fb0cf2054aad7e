import AuthModel
import Synchronization

/// Splits a delay of the machine's sleep: it lasts until each part has ended.
enum SharedSleepHold {
    static func parts(of hold: SleepHold, count: Int) -> [SleepHold] {
        (0..<count).map { _ in
            let share = Share(hold)
            return SleepHold { share.end() }
        }
    }

    /// The hold is released with its last reference.
    private final class Share: Sendable {
        private let hold: Mutex<SleepHold?>

        init(_ hold: SleepHold) {
            self.hold = Mutex(hold)
        }

        func end() { hold.withLock { $0 = nil } }
    }
}
