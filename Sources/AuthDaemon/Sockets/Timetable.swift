import NIOCore

/// What is to be done when: the next thing is the last of the list.
struct Timetable {
    struct Entry {
        let deadline: NIODeadline
        /// Of two at the same time the one with the lower number is first.
        let number: UInt64
        let work: () -> Void
        /// In place of the work, when it never comes to that.
        let fail: (any Error) -> Void

        fileprivate func isAfter(_ deadline: NIODeadline, _ number: UInt64) -> Bool {
            (self.deadline, self.number) > (deadline, number)
        }
    }

    private var entries: [Entry] = []

    var next: NIODeadline? { entries.last?.deadline }

    mutating func add(_ entry: Entry) {
        entries.insert(entry, at: place(of: entry.deadline, entry.number))
    }

    mutating func remove(_ number: UInt64, at deadline: NIODeadline) {
        let index = place(of: deadline, number)
        if index < entries.count, entries[index].number == number { entries.remove(at: index) }
    }

    mutating func takeDue(at now: NIODeadline) -> Entry? {
        guard let entry = entries.last, entry.deadline <= now else { return nil }
        return entries.removeLast()
    }

    mutating func takeAll() -> [Entry] {
        defer { entries = [] }
        return entries
    }

    /// The first that is not after it.
    private func place(of deadline: NIODeadline, _ number: UInt64) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].isAfter(deadline, number) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
