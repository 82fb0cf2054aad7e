import AuthModel

/// When an origin that was not reached is probed again.
enum ProbePolicy {
    /// How long after a resume the network may take to become usable before sessions try by themselves.
    static let wakingTime = Duration.seconds(30)
    /// A user signs in to a portal within a minute or two, and then wants to continue.
    private static let portal = (first: Duration.seconds(5), factor: 1.5, longest: Duration.seconds(60))
    /// A monitor that reports "limited" may be wrong, and only probes can show that.
    private static let limited = (first: Duration.seconds(30), factor: 2.0, longest: Duration.seconds(300))
    /// Addresses and name servers arrive within seconds after waking.
    private static let waking = (first: Duration.seconds(1), factor: 1.5, longest: Duration.seconds(4))
    /// Real calls with strange responses cause probes at most this often.
    static let minInterval = Duration.seconds(5)

    enum Reason {
        case portal, limited, waking
    }

    /// - Parameter tries: probes of this round so far.
    static func pause(_ reason: Reason, tries: Int) -> Duration {
        let (first, factor, longest) =
            switch reason {
            case .portal: portal
            case .limited: limited
            case .waking: waking
            }
        var wait = first
        for _ in 1..<max(1, min(tries, 16)) { wait = min(.seconds(wait.seconds * factor), longest) }
        return wait
    }
}
