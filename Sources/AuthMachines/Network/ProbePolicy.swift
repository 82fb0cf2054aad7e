import AuthModel

/// When an origin is asked again that was not reached, or not by itself.
enum ProbePolicy {
    /// How long after a resume the network is given to become usable before sessions try on their own.
    static let wakingTime = Duration.seconds(30)
    /// A person signs in to a portal within a minute or two, and wants to go on then.
    private static let portal = (first: Duration.seconds(5), factor: 1.5, longest: Duration.seconds(60))
    /// A monitor that says "limited" may be wrong, and nobody else would find out.
    private static let limited = (first: Duration.seconds(30), factor: 2.0, longest: Duration.seconds(300))
    /// Addresses and name servers come within seconds of waking.
    private static let waking = (first: Duration.seconds(1), factor: 1.5, longest: Duration.seconds(4))
    /// Real calls whose answers look strange are no reason to probe more often than this.
    static let minInterval = Duration.seconds(5)

    enum Reason {
        case portal, limited, waking
    }

    /// - Parameter tries: probes of this round so far.
    static func pause(_ why: Reason, tries: Int) -> Duration {
        let (first, factor, longest) =
            switch why {
            case .portal: portal
            case .limited: limited
            case .waking: waking
            }
        var wait = first
        for _ in 1..<max(1, min(tries, 16)) { wait = min(.seconds(wait.seconds * factor), longest) }
        return wait
    }
}
