package import AuthModel

/// Who of a provider's sessions is renewed next: all of them together are one good citizen.
///
/// Invariants: at most one begins every ``spacing``, and none before the provider's own `Retry-After` is over.
package struct RenewalQueue: Sendable {
    /// Ten a second, however many sessions there are.
    package static let spacing = Duration.milliseconds(100)

    /// One renewal that waits for its turn.
    package struct Ticket: Sendable, Hashable {
        package let number: UInt64
    }

    package enum Entry: Sendable, Equatable {
        /// Its turn comes with ``next(at:)``, not before that.
        case waiting(Ticket, until: BootInstant)
        /// The provider wants to be left alone for so much longer.
        case held(Duration)
    }

    private var waiting: [(ticket: Ticket, urgency: BootInstant)] = []
    private var lastTicket: UInt64 = 0
    private var nextFree: BootInstant?
    private var heldUntil: BootInstant?

    package init() {}

    /// - Parameter urgency: when the token ends or has ended; the earliest goes first.
    package mutating func enter(urgency: BootInstant, at now: BootInstant) -> Entry {
        if let heldUntil, now < heldUntil { return .held(heldUntil - now) }
        lastTicket += 1
        let ticket = Ticket(number: lastTicket)
        let place = waiting.lastIndex { $0.urgency <= urgency }.map { $0 + 1 } ?? 0
        waiting.insert((ticket, urgency), at: place)
        return .waiting(ticket, until: nextTurn(at: now))
    }

    /// When somebody may begin; `nil` when nobody waits.
    package func turn(at now: BootInstant) -> BootInstant? {
        waiting.isEmpty ? nil : nextTurn(at: now)
    }

    /// Whose turn it is, if anybody's. The rest are the longer held the longer the provider wants.
    package mutating func next(at now: BootInstant) -> Ticket? {
        guard !waiting.isEmpty, nextTurn(at: now) <= now else { return nil }
        nextFree = now + Self.spacing
        return waiting.removeFirst().ticket
    }

    /// A renewal that is not wanted any more gives up its place.
    package mutating func leave(_ ticket: Ticket) {
        waiting.removeAll { $0.ticket == ticket }
    }

    /// The provider asked to be left alone. Who waits is told so.
    package mutating func hold(for wait: Duration, at now: BootInstant) -> [Ticket] {
        let until = now + min(wait, Backoff.longestHold)
        heldUntil = max(heldUntil ?? until, until)
        defer { waiting = [] }
        return waiting.map(\.ticket)
    }

    private func nextTurn(at now: BootInstant) -> BootInstant { max(now, nextFree ?? now) }
}
