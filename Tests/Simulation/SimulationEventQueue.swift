/// What happens next first; of two at the same time, what was put in first.
struct SimulationEventQueue<Event> {
    /// The next one is the last.
    private var times: [Duration] = []
    private var events: [Stored] = []

    /// An event is large, and moves in the array with each one that is put in before it.
    private final class Stored {
        let event: Event
        /// How many times in a row it happens.
        var count = 1

        init(_ event: Event) { self.event = event }
    }

    var next: Duration? { times.last }

    /// - Parameters:
    ///   - time: rounded up to whole nanoseconds, as instants have them.
    ///   - isSame: whether it is the same as the event before it. If that is due at the same time, it is only counted.
    mutating func add(_ event: Event, at time: Duration, isSame: (Event) -> Bool = { _ in false }) {
        let time = time.inWholeNanoseconds
        let index = firstIndex(notAfter: time)
        if index < times.count, times[index] == time, isSame(events[index].event) {
            events[index].count += 1
            return
        }
        times.insert(time, at: index)
        events.insert(Stored(event), at: index)
    }

    mutating func pop() -> Event? {
        guard let next = events.last else { return nil }
        next.count -= 1
        if next.count == 0 {
            times.removeLast()
            events.removeLast()
        }
        return next.event
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
