/// The end of a session that nothing can renew after it, and when the user is warned of it. Times are Unix seconds.
///
/// A warning is given only if it covers at most half of the lifetime: a session with a shorter one is usually renewed in time.
public struct SessionEnd: Sendable, Equatable {
    public enum Warning: Sendable, CaseIterable {
        case week, day

        var seconds: Double { self == .week ? 7 * 86_400 : 86_400 }
    }

    /// Two renewals are compared only if there are this many seconds between them. An end that does not move may look
    /// up to a second earlier or later, because servers report whole seconds, and about one more, because a lifetime
    /// counts from the request. An end that moves with each renewal moves by the time between them. Half of that time
    /// separates the two.
    private static let leastInterval = 4.0

    public let end: Double
    /// The warnings that are given, the earliest first.
    private let warnings: [Warning]

    /// `nil` if there is nothing to warn of: no end is known, or the user has to sign in already.
    public init?(_ status: SessionStatus) {
        guard status.state == .active || status.state == .stale, let end = status.endsAt else { return nil }
        // An end that moves with each renewal counts from the last one.
        guard let start = status.isEndFixed ? status.signedInAt : status.issuedAt else { return nil }
        self.end = end
        warnings = Warning.allCases.filter { $0.seconds <= (end - start) / 2 }
        if warnings.isEmpty { return nil }
    }

    /// The latest that is due; `nil`: none, or the session is over.
    public func warning(at now: Double) -> Warning? {
        now < end ? warnings.last { end - now <= $0.seconds } : nil
    }

    /// When the next warning is due, or the session is over.
    public func nextChange(after now: Double) -> Double? {
        (warnings.map { end - $0.seconds } + [end]).first { $0 > now }
    }

    /// Whether a renewal left the end where it was.
    /// - Returns: `nil` if that is unknown: there was no renewal between the two, or too little time.
    public static func isFixed(from former: SessionStatus, to new: SessionStatus) -> Bool? {
        guard let formerStart = former.issuedAt, let start = new.issuedAt, start - formerStart >= leastInterval,
            let formerEnd = former.endsAt, let end = new.endsAt
        else { return nil }
        return end - formerEnd < (start - formerStart) / 2
    }
}
