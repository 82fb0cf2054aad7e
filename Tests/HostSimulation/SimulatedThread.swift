import Synchronization

/// Runs the tasks of one process, one job after the other, when the simulation calls it.
final class SimulatedThread: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    var isIdle: Bool { jobs.withLock { $0.isEmpty } }

    /// Runs jobs until there are none.
    /// - Returns: `false` if there are still jobs after this many.
    func run(atMost limit: Int) -> Bool {
        for _ in 0..<limit {
            guard let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return true }
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
        return isIdle
    }
}
