extension Duration {
    /// Whole milliseconds, rounded up so that nothing ends early, in the range of GLib's timers.
    package var milliseconds: UInt32 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        guard !overflow else { return .max }
        return UInt32(clamping: whole + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
