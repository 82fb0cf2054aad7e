/// Names a timer of the ``SocketLoop``.
struct TimerID {
    fileprivate let deadline: SuspendingClock.Instant
    /// Of two with the same deadline the one with the lower number is first.
    fileprivate let number: UInt64

    init(deadline: SuspendingClock.Instant, number: UInt64) {
        self.deadline = deadline
        self.number = number
    }

    fileprivate static func > (one: TimerID, other: TimerID) -> Bool {
        (one.deadline, one.number) > (other.deadline, other.number)
    }
}

/// The timers of the loop, sorted: the next one is the last of the list.
struct Timetable {
    struct Entry {
        let id: TimerID
        let work: () -> Void
        /// Called in place of the work if the loop ends first.
        let fail: (any Error) -> Void
    }

    private var entries: [Entry] = []

    var next: SuspendingClock.Instant? { entries.last?.id.deadline }

    mutating func add(_ entry: Entry) {
        entries.insert(entry, at: place(of: entry.id))
    }

    mutating func remove(_ id: TimerID) {
        let index = place(of: id)
        if index < entries.count, entries[index].id.number == id.number { entries.remove(at: index) }
    }

    mutating func takeDue(at now: SuspendingClock.Instant) -> Entry? {
        guard let entry = entries.last, entry.id.deadline <= now else { return nil }
        return entries.removeLast()
    }

    mutating func takeAll() -> [Entry] {
        defer { entries = [] }
        return entries
    }

    /// The index of the first entry that is not after it.
    private func place(of id: TimerID) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].id > id { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
