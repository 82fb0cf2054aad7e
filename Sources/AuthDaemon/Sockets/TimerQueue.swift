/// Identifies a timer of the ``SocketExecutor``.
struct TimerID {
    fileprivate let deadline: ExecutorInstant
    /// If two have the same deadline, the one with the lower number is first.
    fileprivate let number: UInt64

    init(deadline: ExecutorInstant, number: UInt64) {
        self.deadline = deadline
        self.number = number
    }

    fileprivate static func > (one: TimerID, other: TimerID) -> Bool {
        (one.deadline, one.number) > (other.deadline, other.number)
    }
}

/// The timers of the executor, sorted: the last one of the list is next.
struct TimerQueue {
    private var timers: [(id: TimerID, work: () -> Void)] = []

    var next: ExecutorInstant? { timers.last?.id.deadline }

    mutating func add(_ id: TimerID, _ work: @escaping () -> Void) {
        timers.insert((id, work), at: index(of: id))
    }

    mutating func remove(_ id: TimerID) {
        let position = index(of: id)
        if position < timers.count, timers[position].id.number == id.number { timers.remove(at: position) }
    }

    mutating func popDue(at now: ExecutorInstant) -> (() -> Void)? {
        guard let timer = timers.last, timer.id.deadline <= now else { return nil }
        timers.removeLast()
        return timer.work
    }

    /// The index of the first timer that is not later.
    private func index(of id: TimerID) -> Int {
        var (low, high) = (0, timers.count)
        while low < high {
            let middle = (low + high) / 2
            if timers[middle].id > id { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
