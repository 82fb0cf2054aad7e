import NIOCore

/// Elements that wait for their turn: in order within a process, and processes take turns. One with many connections delays
/// the others by one element each.
///
/// Invariant: `slots` has each waiting process, `turns` has the slot of each waiting process once, and `free` has the
/// other slots.
struct FairQueue<Element> {
    private struct Waiting {
        var process: Int32
        var elements = CircularBuffer<Element>()
    }

    private var waiting: [Waiting] = []
    private var slots: [Int32: Int] = [:]
    private var turns = CircularBuffer<Int>()
    private var free: [Int] = []

    private(set) var count = 0
    /// The highest count since the memory was last released.
    private var highestCount = 0

    /// If the queue had more elements than this, its memory is released after the last turn.
    private static var keptElements: Int { 64 }

    mutating func add(_ element: Element, of process: Int32) {
        let slot = slots[process] ?? newSlot(for: process)
        waiting[slot].elements.append(element)
        count += 1
        highestCount = max(highestCount, count)
    }

    mutating func next() -> Element? {
        guard let slot = turns.popFirst() else { return nil }
        let element = waiting[slot].elements.removeFirst()
        count -= 1
        if waiting[slot].elements.isEmpty {
            slots[waiting[slot].process] = nil
            free.append(slot)
        } else {
            turns.append(slot)
        }
        if count == 0, highestCount > Self.keptElements { self = FairQueue() }
        return element
    }

    private mutating func newSlot(for process: Int32) -> Int {
        let slot = free.popLast() ?? waiting.count
        if slot == waiting.count {
            waiting.append(Waiting(process: process))
        } else {
            waiting[slot].process = process
        }
        slots[process] = slot
        turns.append(slot)
        return slot
    }
}
