/// Elements that wait for their turn: in order within a process, and processes take turns. One with many connections delays
/// the others by one element each.
struct FairQueue<Element> {
    private var waiting: [Int32: [Element]] = [:]
    private var processes: [Int32] = []

    private(set) var count = 0

    mutating func add(_ element: Element, of process: Int32) {
        if waiting[process] == nil { processes.append(process) }
        waiting[process, default: []].append(element)
        count += 1
    }

    mutating func next() -> Element? {
        guard !processes.isEmpty else { return nil }
        let process = processes.removeFirst()
        guard var elements = waiting.removeValue(forKey: process), !elements.isEmpty else { return nil }
        let element = elements.removeFirst()
        count -= 1
        if !elements.isEmpty {
            waiting[process] = elements
            processes.append(process)
        }
        return element
    }
}
