/// The result of `agent.reload`.
public struct ReloadResult: WireObject {
    /// The whole result as a text for the user.
    public var message: String?
    /// What the reload changes, or would change.
    public var changes: [String] = []
    /// The settings that have changed and take effect only after a restart.
    public var restartNeeded: [String] = []

    /// The message of a reload that changes nothing.
    public static let unchanged = "Nothing has changed: the agent has the current settings and profiles."

    /// How ``changes`` reports a profile that was not there before.
    package static func added(profile name: String) -> String { "provider \(name) is new" }

    /// How ``changes`` reports a profile that differs from the one of that name before.
    package static func changed(profile name: String) -> String { "provider \(name) is changed" }

    public init(blank: Blank) {}
    public init(message: String? = nil, changes: [String] = [], restartNeeded: [String] = []) {
        (self.message, self.changes, self.restartNeeded) = (message, changes, restartNeeded)
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("message", &message, .string)
        try visitor.optional("changes", &changes, .strings, default: [])
        try visitor.optional("restart_needed", &restartNeeded, .strings, default: [])
    }
}
