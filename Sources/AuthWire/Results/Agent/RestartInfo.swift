/// How the agent is restarted.
public struct RestartInfo: WireObject {
    /// Why an agent never restarts by itself after an upgrade.
    public enum Obstacle: String, Sendable, CaseIterable {
        case noManager = "no_manager"
        /// The sessions end with the agent.
        case memory
        /// The store needs the user's passphrase.
        case passphrase
    }

    /// The agent's unit in the user's service manager; `nil`: no service manager has started it.
    public var unit: String?
    /// The command for a shell that starts it again; only without a unit.
    public var command: String?
    /// `nil`: after an upgrade it restarts when it is idle.
    public var obstacle: Obstacle?

    public init(blank: Blank) {}
    public init(unit: String? = nil, command: String? = nil, obstacle: Obstacle? = nil) {
        (self.unit, self.command, self.obstacle) = (unit, command, obstacle)
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("unit", &unit, .string)
        try visitor.optional("command", &command, .string)
        try visitor.optional("obstacle", &obstacle, .word)
    }
}
