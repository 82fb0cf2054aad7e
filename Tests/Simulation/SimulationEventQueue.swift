/// What happens next first; of two at the same time, what was put in first.
struct SimulationEventQueue<Event> {
    private var entries: [(at: Duration, event: Event)] = []

    var next: Duration? { entries.last?.at }

    /// - Parameter time: rounded up to whole nanoseconds, as instants have them.
    mutating func add(_ event: Event, at time: Duration) {
        let time = time.inWholeNanoseconds
        let index = entries.lastIndex { $0.at > time }.map { $0 + 1 } ?? 0
        entries.insert((time, event), at: index)
    }

    mutating func pop() -> Event? { entries.popLast()?.event }

    /// Nothing happens before that time: what was to happen earlier happens then.
    mutating func delay(until time: Duration) {
        let time = time.inWholeNanoseconds
        for index in entries.indices where entries[index].at < time { entries[index].at = time }
    }
}

extension Duration {
    /// Rounded up.
    var inWholeNanoseconds: Duration {
        let (seconds, attoseconds) = components
        let whole = Duration.seconds(seconds) + .nanoseconds(attoseconds / 1_000_000_000)
        return whole < self ? whole + .nanoseconds(1) : whole
    }
}
