import AuthModel

/// Decides when a host shows that it is connected. Everything is requested through it, so nothing is requested more often.
struct HostPresence: Sendable, Equatable {
    enum Step: Sendable, Equatable {
        /// A lease, and a report attached to it.
        case connect
        case keepAlive(Int64)
        case report
    }

    let times: PresenceTimes
    private var lease: Int64?
    private var triedAt: BootInstant?
    private var reportedAt: BootInstant?

    init(_ times: PresenceTimes) { self.times = times }

    /// The clock includes sleep, because leases expire then, too.
    /// - Returns: `nil`: nothing is due.
    mutating func next(at now: BootInstant) -> Step? {
        if let triedAt, now - triedAt < times.sign { return nil }
        triedAt = now
        guard let lease else { return .connect }
        return .keepAlive(lease)
    }

    /// etcd has answered a sign of life.
    /// - Returns: what is due now.
    mutating func answered(isAlive: Bool, at now: BootInstant) -> Step? {
        guard isAlive else {
            lease = nil
            return .connect
        }
        guard let reportedAt, now - reportedAt < times.report else { return .report }
        return nil
    }

    /// The report was written.
    /// - Parameter lease: a new one.
    mutating func reported(under lease: Int64? = nil, at now: BootInstant) {
        if let lease { self.lease = lease }
        reportedAt = now
    }

    /// The host is not a member any more.
    mutating func left() { self = HostPresence(times) }
}

/// How often a host shows that it is connected.
package struct PresenceTimes: Sendable, Equatable {
    /// How long a host that is gone still counts as connected.
    package var lease = Duration.seconds(150)
    /// Between two signs of life. They change nothing in etcd, and reach no other host.
    package var sign = Duration.seconds(60)
    /// Between two reports, which are writes.
    package var report = Duration.seconds(900)

    package init() {}
}
