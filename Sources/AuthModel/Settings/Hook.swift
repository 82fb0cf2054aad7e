package import AuthWire

/// A command that runs after an event: `[[hook]]` of authd.toml(5).
package struct Hook: Sendable, Equatable {
    package enum Event: String, Sendable, CaseIterable {
        case added = "session.added"
        case active = "session.active"
        case renewed = "session.renewed"
        case ending = "session.ending"
        case signInRequired = "session.sign_in_required"
        case signedOut = "session.signed_out"

        /// `nil` for events that have no hooks.
        package init?(_ event: AgentEvent) {
            guard event.topic == .session else { return nil }
            switch (event.name, event.status?.state) {
            case ("state", .active?): self = .active
            case ("state", .signInRequired?): self = .signInRequired
            // Shown until the sign-in is complete, or the session can be read; it is added again then.
            case ("added", .signingIn?), ("added", .keyringLocked?): return nil
            case ("added", _): self = .added
            case ("renewed", _): self = .renewed
            case ("ending", _): self = .ending
            case ("signed_out", _): self = .signedOut
            default: return nil
            }
        }
    }

    package var event: Event
    /// The absolute path of a program, and its arguments.
    package var command: [String]

    package init(on event: Event, command: [String]) {
        self.event = event
        self.command = command
    }
}

/// A hook's command with the event that it runs for.
package struct HookRun: Sendable, Equatable {
    package let hook: Hook
    /// The event as JSON, as clients that subscribe get it. It contains no token.
    package let input: [UInt8]

    package init(_ hook: Hook, input: [UInt8]) {
        self.hook = hook
        self.input = input
    }

    /// In the order of the settings.
    package static func all(for event: AgentEvent, of hooks: [Hook]) -> [HookRun] {
        guard !hooks.isEmpty, let name = Hook.Event(event) else { return [] }
        let fitting = hooks.filter { $0.event == name }
        guard !fitting.isEmpty else { return [] }
        let input = event.json.serialized() + [UInt8(ascii: "\n")]
        return fitting.map { HookRun($0, input: input) }
    }
}

/// How a hook's command ended.
package enum HookOutcome: Sendable, Equatable {
    case exited(Int32)
    case killed(signal: Int32)
    /// It could not be started; the reason.
    case notStarted(String)
}
