package import AuthModel

/// How many entries of the audit log become lines of the system's log.
///
/// journald drops everything of a service that logs too much (RateLimitBurst= in journald.conf(5): 10,000 lines in 30
/// s). So the agent drops lines first, and confined clients have a small share.
package struct LineBudget: Sendable {
    package static let window = Duration.seconds(30)
    package static let (limit, confinedLimit) = (3000, 300)

    private var start: BootInstant?
    private var used = 0
    private var confinedUsed = 0

    package init() {}

    /// - Returns: whether this entry is written.
    package mutating func allows(_ entry: AuditEntry, at now: BootInstant) -> Bool {
        if start.map({ now - $0 >= Self.window }) ?? true { (start, used, confinedUsed) = (now, 0, 0) }
        let isConfined = entry.isConfined
        guard used < Self.limit, !isConfined || confinedUsed < Self.confinedLimit else { return false }
        used += 1
        if isConfined { confinedUsed += 1 }
        return true
    }
}
