internal import Synchronization

/// Lets the renewals of each provider begin one after the other, as its ``ProviderQueue`` decides.
package final class RenewalGate: Sendable {
    /// A provider is asked at an address: its environments are strangers to each other.
    package struct Provider: Sendable, Hashable {
        let name: String
        let environment: String

        package init(name: String, environment: String) {
            self.name = name
            self.environment = environment
        }
    }

    private struct Line {
        var queue = ProviderQueue()
        var waiting: [ProviderQueue.Ticket: CheckedContinuation<Duration?, Never>] = [:]
        /// Somebody calls those whose turn it is.
        var isAttended = false
    }

    private let lines = Mutex<[Provider: Line]>([:])
    private let clock: any SystemClock
    private let workshop: Workshop

    package init(clock: any SystemClock, workshop: Workshop) {
        self.clock = clock
        self.workshop = workshop
    }

    /// Returns when it is this renewal's turn, or with how long its provider wants to be left alone.
    package func turn(at provider: Provider, urgency: BootInstant) async -> Duration? {
        await withCheckedContinuation { continuation in
            let now = clock.now().boot
            let (held, attend) = lines.withLock { lines -> (Duration?, Bool) in
                switch lines[provider, default: Line()].queue.enter(urgency: urgency, at: now) {
                case .held(let wait): return (wait, false)
                case .waiting(let ticket, _):
                    lines[provider]?.waiting[ticket] = continuation
                    defer { lines[provider]?.isAttended = true }
                    return (nil, lines[provider]?.isAttended == false)
                }
            }
            if let held { continuation.resume(returning: held) }
            if attend { workshop.order { await self.attend(provider) } }
        }
    }

    /// What a provider said about when it wants to be asked again.
    package func hold(_ provider: Provider, for wait: Duration) {
        let now = clock.now().boot
        let sentAway = lines.withLock { lines in
            let tickets = lines[provider, default: Line()].queue.hold(for: wait, at: now)
            return tickets.compactMap { lines[provider]?.waiting.removeValue(forKey: $0) }
        }
        for continuation in sentAway { continuation.resume(returning: wait) }
    }

    /// Calls one after the other until nobody waits.
    private func attend(_ provider: Provider) async {
        while let turn = nextTurn(at: provider) {
            do {
                try await clock.sleep(until: turn)
            } catch {
                // The agent is stopping: nobody begins any more, and nobody is left waiting.
                return sendAllAway(from: provider)
            }
            let now = clock.now().boot
            let next = lines.withLock { lines in
                lines[provider]?.queue.next(at: now).flatMap { lines[provider]?.waiting.removeValue(forKey: $0) }
            }
            next?.resume(returning: nil)
        }
    }

    private func nextTurn(at provider: Provider) -> BootInstant? {
        let now = clock.now().boot
        return lines.withLock { lines in
            let turn = lines[provider]?.queue.turn(at: now)
            if turn == nil { lines[provider]?.isAttended = false }
            return turn
        }
    }

    private func sendAllAway(from provider: Provider) {
        let gone = lines.withLock { lines in lines.removeValue(forKey: provider)?.waiting ?? [:] }
        for continuation in gone.values { continuation.resume(returning: .zero) }
    }
}

extension SessionRecord {
    var asked: RenewalGate.Provider { RenewalGate.Provider(name: provider, environment: environment) }
}
