package import AuthWire

/// A line that would block the loop for too long: it is parsed on another thread, one at a time.
package struct LongLine: Sendable {
    package typealias Parse = @Sendable (_ line: [UInt8], _ values: Int) async -> Result<JSON, JSONError>

    let bytes: [UInt8]
    /// How many values it may have.
    let values: Int

    package static let parseJSON: Parse = { line, values in
        Result { () throws(JSONError) in try JSON(parsing: line, values: values) }
    }
}

/// Elements that wait for their turn: in order within a process, and processes take turns. One with many connections delays
/// the others by one line each.
struct FairQueue<Element> {
    private var waiting: [Int32: [Element]] = [:]
    private var processes: [Int32] = []

    mutating func add(_ element: Element, of process: Int32) {
        if waiting[process] == nil { processes.append(process) }
        waiting[process, default: []].append(element)
    }

    mutating func next() -> Element? {
        guard !processes.isEmpty else { return nil }
        let process = processes.removeFirst()
        guard var elements = waiting.removeValue(forKey: process), !elements.isEmpty else { return nil }
        let element = elements.removeFirst()
        if !elements.isEmpty {
            waiting[process] = elements
            processes.append(process)
        }
        return element
    }
}
