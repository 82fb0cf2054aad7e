package import AuthModel

/// Decides which renewal of a provider begins next, for all providers.
///
/// Invariants: at each provider at most one renewal begins every ``spacing``, the most urgent first, and none before the
/// provider's own `Retry-After` is over.
package struct RenewalQueue: Machine {
    /// Ten a second, however many sessions there are.
    package static let spacing = Duration.milliseconds(100)

    /// A provider at one address: its environments are independent of each other.
    package struct Provider: Sendable, Hashable {
        let name: String
        let environment: String

        package init(name: String, environment: String) {
            self.name = name
            self.environment = environment
        }
    }

    package enum Event: Sendable {
        /// - Parameter urgency: when the token ends or has ended.
        case entered(CallerID, Provider, urgency: BootInstant)
        /// The provider asked clients to wait for so long.
        case held(Provider, for: Duration)
        case callerGone(CallerID)
        case wake
    }

    package typealias Action = Never

    package enum Reply: Sendable, Equatable {
        /// The renewal may begin.
        case begin
        /// The provider asked clients to wait for so long.
        case held(Duration)
    }

    private struct Line {
        /// The most urgent one first.
        var waiting: [(caller: CallerID, urgency: BootInstant)] = []
        var nextFree: BootInstant?
        var heldUntil: BootInstant?
    }

    package static let wake = Event.wake
    package static func callerGone(_ caller: CallerID) -> Event { .callerGone(caller) }

    private var lines: [Provider: Line] = [:]

    package init() {}

    package mutating func handle(_ event: Event, in turn: inout Turn<Never, Reply>) {
        let now = turn.now.boot
        switch event {
        case .entered(let caller, let provider, let urgency):
            var line = lines[provider] ?? Line()
            if let end = line.heldUntil, now < end {
                turn.reply(.held(end - now), to: caller)
            } else {
                let place = line.waiting.lastIndex { $0.urgency <= urgency }.map { $0 + 1 } ?? 0
                line.waiting.insert((caller, urgency), at: place)
            }
            lines[provider] = line
        case .held(let provider, let wait):
            let end = now + min(wait, Backoff.longestHold)
            lines[provider, default: Line()].heldUntil = max(lines[provider]?.heldUntil ?? end, end)
            for (caller, _) in lines[provider]?.waiting ?? [] { turn.reply(.held(wait), to: caller) }
            lines[provider]?.waiting = []
        case .callerGone(let caller):
            for provider in lines.keys { lines[provider]?.waiting.removeAll { $0.caller == caller } }
        case .wake: break
        }
        for (provider, line) in lines where !line.waiting.isEmpty && line.nextFree ?? now <= now {
            turn.reply(.begin, to: line.waiting[0].caller)
            lines[provider]?.waiting.removeFirst()
            lines[provider]?.nextFree = now + Self.spacing
        }
        turn.wakeUp = lines.values.filter { !$0.waiting.isEmpty }.compactMap(\.nextFree).min()
    }
}
