/// The faults of one host of a cluster, as far as they excuse what it does.
struct HostFaults {
    private struct Outage {
        let begin: Duration
        var end: Duration
        /// Otherwise etcd itself did not answer, and no other host could claim the session meanwhile.
        var isOfHost: Bool
    }

    /// How many have begun. What was expected before one of them may be late.
    private(set) var count = 0
    /// When the last one ends.
    private(set) var end = Duration.seconds(-1000)
    /// Times without etcd, or in which the process was paused.
    private var outages: [Outage] = []

    /// A host that reaches etcd for less than this has no time to write.
    private static let shortestContact = Duration.seconds(3)

    mutating func begin(until end: Duration) {
        count += 1
        self.end = max(self.end, end)
    }

    /// No message passes between the host and etcd, or the process is paused.
    mutating func loseEtcd(from begin: Duration, until end: Duration, isOfHost: Bool) {
        guard let last = outages.last, begin <= last.end + Self.shortestContact else {
            return outages.append(Outage(begin: begin, end: end, isOfHost: isOfHost))
        }
        outages[outages.count - 1].end = max(last.end, end)
        if isOfHost { outages[outages.count - 1].isOfHost = true }
    }

    /// Everything works again, sooner than planned.
    mutating func heal(at now: Duration) {
        end = min(end, now)
        for index in outages.indices { outages[index].end = min(outages[index].end, now) }
    }

    /// Whether the host had no time to receive its tokens and write them.
    /// - Parameter received: `nil`: it has not received them yet.
    func wasCutOff(since received: Duration?, at now: Duration) -> Bool {
        outages.contains {
            $0.isOfHost && $0.begin <= (received ?? now) + Self.shortestContact && $0.end >= now - Self.shortestContact
        }
    }
}
