internal import AuthConcurrency
internal import AuthMachines
package import AuthModel
internal import Synchronization

/// Lets the renewals of each provider begin one after the other, as its ``RenewalQueue`` decides.
package final class RenewalTurns: Sendable {
    /// A provider is asked at an address: its environments are strangers to each other.
    package struct Provider: Sendable, Hashable {
        let name: String
        let environment: String

        package init(name: String, environment: String) {
            self.name = name
            self.environment = environment
        }
    }

    /// What comes of waiting for one's turn.
    package enum Admission: Sendable, Equatable {
        /// The renewal may begin.
        case begin
        /// The provider asked clients to wait for so long.
        case held(Duration)
        /// The agent is stopping, or the waiting task was cancelled.
        case stopping
    }

    private struct ProviderLine {
        var queue = RenewalQueue()
        var waiting: [RenewalQueue.Ticket: OneShot<Admission>] = [:]
        /// Somebody calls those whose turn it is.
        var isAttended = false
    }

    private struct State {
        var lines: [Provider: ProviderLine] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())
    private let clock: any SystemClock
    private let workshop: TaskPool

    package init(clock: any SystemClock, workshop: TaskPool) {
        self.clock = clock
        self.workshop = workshop
    }

    /// Returns when it is this renewal's turn, or when it is known that it has none.
    package func turn(at provider: Provider, urgency: BootInstant) async -> Admission {
        let now = clock.now().boot
        let turn = OneShot<Admission>()
        let (ticket, attends) = state.withLock { state -> (RenewalQueue.Ticket?, Bool) in
            guard !state.isClosed else {
                turn.send(.stopping)
                return (nil, false)
            }
            switch state.lines[provider, default: ProviderLine()].queue.enter(urgency: urgency, at: now) {
            case .held(let wait):
                turn.send(.held(wait))
                return (nil, false)
            case .waiting(let ticket, _):
                state.lines[provider]?.waiting[ticket] = turn
                defer { state.lines[provider]?.isAttended = true }
                return (ticket, state.lines[provider]?.isAttended == false)
            }
        }
        if attends, !workshop.order({ await self.serveQueue(provider) }) { rejectAll(from: provider) }
        if let turn = await turn.value() { return turn }
        if let ticket { leave(ticket, at: provider) }
        return .stopping
    }

    /// What a provider said about when it wants to be asked again.
    package func hold(_ provider: Provider, for wait: Duration) {
        let now = clock.now().boot
        let sentAway = state.withLock { state in
            let tickets = state.lines[provider, default: ProviderLine()].queue.hold(for: wait, at: now)
            return tickets.compactMap { state.lines[provider]?.waiting.removeValue(forKey: $0) }
        }
        for turn in sentAway { turn.send(.held(wait)) }
    }

    /// From now on no renewal begins: the agent is stopping.
    package func close() {
        let waiting = state.withLock { state in
            state.isClosed = true
            defer { state.lines = [:] }
            return state.lines.values.flatMap(\.waiting.values)
        }
        for turn in waiting { turn.send(.stopping) }
    }

    private func leave(_ ticket: RenewalQueue.Ticket, at provider: Provider) {
        state.withLock { state in
            state.lines[provider]?.queue.leave(ticket)
            state.lines[provider]?.waiting[ticket] = nil
        }
    }

    /// Calls one after the other until nobody waits.
    private func serveQueue(_ provider: Provider) async {
        while let turn = nextTurn(at: provider) {
            do {
                try await clock.sleep(until: turn)
            } catch {
                // The agent is stopping: no renewal begins any more, and none is left waiting.
                return rejectAll(from: provider)
            }
            let now = clock.now().boot
            let next = state.withLock { state in
                state.lines[provider]?.queue.next(at: now).flatMap {
                    state.lines[provider]?.waiting.removeValue(forKey: $0)
                }
            }
            next?.send(.begin)
        }
    }

    private func nextTurn(at provider: Provider) -> BootInstant? {
        let now = clock.now().boot
        return state.withLock { state in
            let turn = state.lines[provider]?.queue.turn(at: now)
            if turn == nil { state.lines[provider]?.isAttended = false }
            return turn
        }
    }

    private func rejectAll(from provider: Provider) {
        let gone = state.withLock { state in state.lines.removeValue(forKey: provider)?.waiting ?? [:] }
        for turn in gone.values { turn.send(.stopping) }
    }
}

extension SessionRecord {
    var asked: RenewalTurns.Provider { RenewalTurns.Provider(name: provider, environment: environment) }
}
