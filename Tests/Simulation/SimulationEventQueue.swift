/// What happens next first; of two at the same time, what was put in first.
struct SimulationEventQueue<Event> {
    private var entries: [(at: Duration, event: Event)] = []

    var next: Duration? { entries.last?.at }

    mutating func add(_ event: Event, at time: Duration) {
        let index = entries.lastIndex { $0.at > time }.map { $0 + 1 } ?? 0
        entries.insert((time, event), at: index)
    }

    mutating func pop() -> Event? { entries.popLast()?.event }

    /// Nothing happens before that time: what was to happen earlier happens then.
    mutating func delay(until time: Duration) {
        for index in entries.indices where entries[index].at < time { entries[index].at = time }
    }
}
