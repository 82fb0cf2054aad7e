package import AuthModel

/// Decides what is done, and which caller gets which reply. It never waits, logs or reads a clock.
///
/// A runner passes it one event at a time, performs the actions in their order, and then sends the replies.
package protocol Machine: Sendable {
    associatedtype Event: Sendable
    associatedtype Action: Sendable
    /// `Never`: no caller waits for this machine.
    associatedtype Reply: Sendable

    /// The event at ``Turn/wakeUp``.
    static var wake: Event { get }
    /// The event if a caller no longer waits.
    static func callerGone(_ caller: CallerID) -> Event

    mutating func handle(_ event: Event, in turn: inout Turn<Action, Reply>)
}

extension Machine {
    /// For tests and the simulation.
    @inlinable @discardableResult
    package mutating func handle(_ event: Event, at now: Moment) -> Turn<Action, Reply> {
        var turn = Turn<Action, Reply>(at: now)
        handle(event, in: &turn)
        return turn
    }
}

extension Machine where Reply == Never {
    package static func callerGone(_ caller: CallerID) -> Event { wake }
}

/// A caller that waits for the reply of one machine.
package struct CallerID: Sendable, Hashable {
    package let number: UInt64

    package init(_ number: UInt64) {
        self.number = number
    }
}

/// The decisions for one event.
package struct Turn<Action: Sendable, Reply: Sendable>: Sendable {
    package let now: Moment
    package var actions: [Action] = []
    package var replies: [(caller: CallerID, reply: Reply)] = []
    /// The next deadline, which replaces the former one; `nil`: none. A machine sets it in each turn.
    package var wakeUp: BootInstant?

    @inlinable
    package init(at now: Moment) {
        self.now = now
    }

    package mutating func act(_ action: Action) {
        actions.append(action)
    }

    package mutating func reply(_ reply: Reply, to caller: CallerID) {
        replies.append((caller, reply))
    }
}
