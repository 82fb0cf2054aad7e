/// The state of the agent's lock that outlives a run.
package struct LockRecord: Sendable, Equatable {
    package enum Reason: String, Sendable, CaseIterable {
        case command, idle
        case loginSessions = "login_sessions"
        case sleep
        /// The file with the state cannot be read.
        case unknown
    }

    package struct Lock: Sendable, Equatable {
        package var since: WallTime
        package var reason: Reason

        package init(since: WallTime, reason: Reason) {
            (self.since, self.reason) = (since, reason)
        }
    }

    /// Three failures within ``window`` pause further attempts for the same time.
    package static let mostFailures = 3
    package static let window = Duration.seconds(300)

    /// `nil`: not locked.
    package var lock: Lock?
    /// The last attempts that failed or did not end, at most ``mostFailures``, the oldest first.
    package var failures: [WallTime]

    package init(lock: Lock? = nil, failures: [WallTime] = []) {
        (self.lock, self.failures) = (lock, failures)
    }

    /// Replaces dates that the clock has not reached with now: the clock was set back. If they were only compared as
    /// now, a pause would last until the clock has reached them.
    /// - Returns: whether there were any.
    package mutating func correctDates(at now: WallTime) -> Bool {
        guard failures.contains(where: { $0 > now }) else { return false }
        failures = failures.map { min($0, now) }
        return true
    }

    /// Counts an attempt as failed.
    package mutating func recordFailure(at now: WallTime) {
        failures = (failures.map { min($0, now) } + [now]).suffix(Self.mostFailures)
    }

    /// How many attempts failed in the last ``window``.
    package func recentFailures(at now: WallTime) -> Int {
        failures.count { now - min($0, now) < Self.window }
    }

    /// The end of the pause of attempts; `nil`: there is none.
    package func pause(at now: WallTime) -> WallTime? {
        let dates = failures.map { min($0, now) }
        guard dates.count >= Self.mostFailures, let first = dates.first, let last = dates.last,
            last - first < Self.window
        else { return nil }
        let end = last + Self.window
        return end > now ? end : nil
    }
}

// MARK: The file

extension LockRecord {
    private static let head = "authd-lock 1"
    private static let end = "end"

    /// Lines: the format, `unlocked` or `locked SINCE WHY`, one `failed AT` for each failure, and `end`.
    package var encoded: [UInt8] {
        let state = lock.map { "locked \(Int64($0.since.unixSeconds)) \($0.reason.rawValue)" } ?? "unlocked"
        let lines = [Self.head, state] + failures.map { "failed \(Int64($0.unixSeconds))" } + [Self.end]
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }

    /// `nil` if authd has not written these bytes.
    package init?(_ bytes: [UInt8]) {
        guard let text = String(validating: bytes, as: UTF8.self), text.hasSuffix("\n") else { return nil }
        let lines = text.dropLast().split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count >= 3, lines[0] == Self.head, lines.last == Self.end[...] else { return nil }
        let state = lines[1].split(separator: " ", omittingEmptySubsequences: false)
        if state.count == 3, state[0] == "locked" {
            guard let since = Self.date(state[1]), let reason = Reason(rawValue: String(state[2])) else { return nil }
            lock = Lock(since: since, reason: reason)
        } else if lines[1] == "unlocked" {
            lock = nil
        } else {
            return nil
        }
        failures = []
        for line in lines.dropFirst(2).dropLast() {
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            guard words.count == 2, words[0] == "failed", let date = Self.date(words[1]) else { return nil }
            failures.append(date)
        }
        guard failures.count <= Self.mostFailures else { return nil }
    }

    private static func date(_ text: Substring) -> WallTime? {
        Int64(text).flatMap { WallTime(stored: Double($0)) }
    }
}

/// When the agent locks itself (`[lock]` in the settings).
package struct LockSettings: Sendable, Equatable {
    /// The agent locks after this time without a request of a class other than `status`.
    package var idle: Duration?
    /// Whether the agent locks when all login sessions of the user are locked.
    package var withLoginSessions = false
    package var beforeSleep = false
    /// A check of the user's presence unlocks it, too. It locks nothing.
    package var presence = false

    package init(
        idle: Duration? = nil, withLoginSessions: Bool = false, beforeSleep: Bool = false, presence: Bool = false
    ) {
        (self.idle, self.withLoginSessions, self.beforeSleep) = (idle, withLoginSessions, beforeSleep)
        self.presence = presence
    }

    package var locksByItself: Bool { idle != nil || withLoginSessions || beforeSleep }
}
