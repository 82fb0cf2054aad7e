import NIOCore

/// Elements that wait for their turn: in order within a process, and processes take turns. In each round, one with many
/// connections delays the others by one element each.
///
/// A process that begins to wait has its first turn of a round before the later turns of others. So a client that asks once
/// waits for processes that have begun to wait before it, and not for those that ask all the time.
///
/// Invariant: `slots` has the processes of this round, `first` or `turns` has the slot of each of them once, and `free` has the
/// other slots. Each process with elements is among them; after the last element there are none.
struct FairQueue<Element> {
    private struct Waiting {
        var process: Int32
        var elements = CircularBuffer<Element>()
    }

    private var waiting: [Waiting] = []
    private var slots: [Int32: Int] = [:]
    /// Those whose first turn comes next, and the others.
    private var (first, turns) = (CircularBuffer<Int>(), CircularBuffer<Int>())
    private var free: [Int] = []

    private(set) var count = 0
    /// The highest count since the memory was last released.
    private var highestCount = 0

    /// If the queue had more elements or processes than this, its memory is released after the last turn.
    private static var keptElements: Int { 64 }

    mutating func add(_ element: Element, of process: Int32) {
        let slot = slots[process] ?? newSlot(for: process)
        waiting[slot].elements.append(element)
        count += 1
        highestCount = max(highestCount, count)
    }

    mutating func next() -> Element? {
        while let slot = first.popFirst() ?? turns.popFirst() {
            guard let element = waiting[slot].elements.popFirst() else {
                release(slot)
                continue
            }
            count -= 1
            // It stays in the round even without elements: it must not have another first turn at once.
            turns.append(slot)
            if count == 0 { endRound() }
            return element
        }
        return nil
    }

    private mutating func endRound() {
        while let slot = turns.popFirst() { release(slot) }
        if max(highestCount, waiting.count) > Self.keptElements { self = FairQueue() }
    }

    private mutating func release(_ slot: Int) {
        slots[waiting[slot].process] = nil
        free.append(slot)
    }

    private mutating func newSlot(for process: Int32) -> Int {
        let slot = free.popLast() ?? waiting.count
        if slot == waiting.count {
            waiting.append(Waiting(process: process))
        } else {
            waiting[slot].process = process
        }
        slots[process] = slot
        first.append(slot)
        return slot
    }
}
