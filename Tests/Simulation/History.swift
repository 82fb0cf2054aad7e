package import AuthWire

/// The history of one session.
package struct History: Sendable {
    /// When its provider was called.
    package internal(set) var calls: [Duration] = []
    /// When one of its timers woke the agent.
    package internal(set) var wakes: [Duration] = []
    /// Each change of its state.
    package private(set) var states: [(at: Duration, state: SessionState)] = []

    mutating func note(_ state: SessionState, at now: Duration) {
        if states.last?.state != state { states.append((now, state)) }
    }
}
