import AuthDaemon

extension ConnectionLimits {
    /// The usual limits, with a change.
    static func with(_ change: (inout ConnectionLimits) -> Void) -> ConnectionLimits {
        var limits = ConnectionLimits()
        change(&limits)
        return limits
    }
}
