import Dispatch
import Synchronization

/// Runs tasks on the thread that waits for them. So a target needs no other thread, and knows when its tasks only wait.
final class CallingThread: TaskExecutor {
    private final class Outcome<Value: Sendable>: Sendable {
        private let value = Mutex<Value?>(nil)

        func set(_ value: Value) { self.value.withLock { $0 = value } }
        func get() -> Value? { value.withLock { $0 } }
    }

    /// Other threads do some work: reading of files, and what must not be cancelled. When none of it has come back for so
    /// long, everything waits for the clock or for somebody.
    private static let pause = DispatchTimeInterval.milliseconds(2)

    private let jobs = Mutex<[UnownedJob]>([])
    private let arrivals = DispatchSemaphore(value: 0)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        arrivals.signal()
    }

    /// Runs a task and its children to the end.
    /// - Parameter whenWaiting: called when everything waits; it returns `false` if nothing can be done about that.
    /// - Returns: `nil` if the task does not end.
    func run<Value: Sendable>(
        _ work: @escaping @Sendable () async -> Value, whenWaiting: () -> Bool
    ) -> Value? {
        let outcome = Outcome<Value>()
        Task(executorPreference: self) { outcome.set(await work()) }
        while true {
            if let value = outcome.get() { return value }
            if arrivals.wait(timeout: .now() + Self.pause) == .success {
                jobs.withLock { $0.removeFirst() }.runSynchronously(on: asUnownedTaskExecutor())
            } else if !whenWaiting() {
                return nil
            }
        }
    }
}
