/// Whether the kernel limits the agent to the files that it needs (landlock(7)).
public enum LandlockState: String, Sendable, CaseIterable {
    case on
    /// `AUTHD_LANDLOCK` switches it off.
    case off
    /// Without a service manager, what the agent starts would be limited, too.
    case noManager = "no_manager"
    /// The kernel does not have it.
    case unsupported
    /// The journal has the reason.
    case failed
}
