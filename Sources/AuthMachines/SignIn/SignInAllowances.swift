package import AuthModel

/// How many sign-ins the programs of a unit, and all of a user, may begin: each may send an e-mail, or count as a
/// failed attempt.
///
/// Invariant: in any hour there are no more than are allowed. Each sign-in counts for an hour.
package struct SignInAllowances: Sendable {
    package enum Group: Sendable, Hashable {
        case unit(String, user: UInt32)
        case user(UInt32)
    }

    /// Sign-ins that began within one step. They count until the last of them is an hour old.
    private struct Batch {
        let first: BootInstant
        var last: BootInstant
        var count = 1
    }

    package static let window = Duration.seconds(3600)
    /// Sign-ins within it are kept as one, so that a group has at most 61 of them, whatever the limit is.
    private static let step = window / 60
    /// A user has as many as this number of units.
    package static let unitsPerUser = 4

    /// Oldest first. A group that is not here has used nothing.
    private var used: [Group: [Batch]] = [:]

    package init() {}

    /// For tests: groups with a sign-in that counts.
    package var count: Int { used.count }

    /// Takes one sign-in of each group, or none.
    /// - Parameter perHour: of a unit, above 0.
    /// - Returns: after which time another try is allowed; `nil`: this one is.
    package mutating func spend(_ unit: String?, of user: UInt32, perHour: Int, at now: BootInstant) -> Duration? {
        // A user's groups are few, because each has a share of the user's allowance.
        used = used.compactMapValues { batches in
            let kept = batches.drop { now - $0.last >= Self.window }
            return kept.isEmpty ? nil : Array(kept)
        }
        var groups: [(Group, limit: Int)] = [(.user(user), perHour * Self.unitsPerUser)]
        if let unit { groups.append((.unit(unit, user: user), perHour)) }
        let ends = groups.compactMap { group, limit in fullUntil(group, limit) }
        if let end = ends.max() { return end - now }
        for (group, _) in groups { add(to: group, at: now) }
        return nil
    }

    /// - Returns: `nil` if the group may begin another one.
    private func fullUntil(_ group: Group, _ limit: Int) -> BootInstant? {
        let batches = used[group, default: []]
        guard let oldest = batches.first, batches.reduce(0, { $0 + $1.count }) >= limit else { return nil }
        return oldest.last + Self.window
    }

    private mutating func add(to group: Group, at now: BootInstant) {
        var batches = used[group, default: []]
        if let newest = batches.indices.last, now - batches[newest].first < Self.step {
            batches[newest].last = now
            batches[newest].count += 1
        } else {
            batches.append(Batch(first: now, last: now))
        }
        used[group] = batches
    }
}
