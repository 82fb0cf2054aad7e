/// What happens next first; of two at the same time, what was put in first.
struct SimulationEventQueue<Event> {
    /// The next one is the last.
    private var times: [Duration] = []
    private var events: [Stored] = []

    /// An event is large, and moves in the array with each one that is put in before it.
    private final class Stored {
        let event: Event

        init(_ event: Event) { self.event = event }
    }

    var next: Duration? { times.last }

    /// - Parameter time: rounded up to whole nanoseconds, as instants have them.
    mutating func add(_ event: Event, at time: Duration) {
        let time = time.inWholeNanoseconds
        let index = firstIndex(notAfter: time)
        times.insert(time, at: index)
        events.insert(Stored(event), at: index)
    }

    mutating func pop() -> Event? {
        times.removeLast(times.isEmpty ? 0 : 1)
        return events.popLast()?.event
    }

    /// Nothing happens before that time: what was to happen earlier happens then.
    mutating func delay(until time: Duration) {
        let time = time.inWholeNanoseconds
        for index in times.indices where times[index] < time { times[index] = time }
    }

    private func firstIndex(notAfter time: Duration) -> Int {
        var (low, high) = (0, times.count)
        while low < high {
            let middle = (low + high) / 2
            if times[middle] > time { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension Duration {
    /// Rounded up.
    var inWholeNanoseconds: Duration {
        let (seconds, attoseconds) = components
        guard !attoseconds.isMultiple(of: 1_000_000_000) else { return self }
        let whole = Duration.seconds(seconds) + .nanoseconds(attoseconds / 1_000_000_000)
        return whole < self ? whole + .nanoseconds(1) : whole
    }
}
