package import AuthModel

package enum HookEvent: Sendable {
    case requested(HookRun)
    /// The running command has ended.
    case finished(HookOutcome)
    case wake
    /// The agent ends.
    case ended
}

package enum HookAction: Sendable, Equatable {
    case start(HookRun)
    /// Kills the running command.
    case stop
    case report(HookRun, HookReport)
    /// This many runs were refused because too many waited.
    case reportDropped(Int)
}

package enum HookReport: Sendable, Equatable {
    case ended(HookOutcome)
    case timedOut
}

/// Decides when the commands of hooks run.
///
/// Invariants:
/// 1. One command runs at a time; the others run in the order of their events.
/// 2. No command runs longer than ``maxTime``.
/// 3. No more than ``maxWaiting`` wait. Further ones are dropped, and their number is reported.
/// 4. After the agent's end nothing is started.
package struct HookMachine: Machine {
    /// For a command that informs somebody. A longer one can start a separate process.
    package static let maxTime = Duration.seconds(10)
    /// A few events of each of several sessions, after a long sleep for example.
    package static let maxWaiting = 64

    private struct Running {
        let run: HookRun
        let end: BootInstant
        var isLate = false
    }

    private var running: Running?
    private var waiting: [HookRun] = []
    private var dropped = 0
    private var hasEnded = false

    package init() {}

    package static let wake = HookEvent.wake

    package mutating func handle(_ event: HookEvent, in turn: inout Turn<HookAction, Never>) {
        switch event {
        case .requested(let run): add(run)
        case .finished(let outcome):
            if let running {
                turn.act(.report(running.run, running.isLate ? .timedOut : .ended(outcome)))
            }
            running = nil
        case .wake: break
        case .ended:
            (hasEnded, waiting) = (true, [])
            if running != nil { turn.act(.stop) }
        }
        stopIfLate(&turn)
        startNext(&turn)
        turn.wakeUp = running.flatMap { $0.isLate ? nil : $0.end }
    }

    private mutating func add(_ run: HookRun) {
        guard !hasEnded else { return }
        if waiting.count < Self.maxWaiting { waiting.append(run) } else { dropped += 1 }
    }

    private mutating func stopIfLate(_ turn: inout Turn<HookAction, Never>) {
        guard let running, !running.isLate, turn.now.boot >= running.end else { return }
        self.running?.isLate = true
        turn.act(.stop)
    }

    private mutating func startNext(_ turn: inout Turn<HookAction, Never>) {
        guard running == nil else { return }
        if dropped > 0 { turn.act(.reportDropped(dropped)) }
        dropped = 0
        guard !waiting.isEmpty else { return }
        let run = waiting.removeFirst()
        running = Running(run: run, end: turn.now.boot + Self.maxTime)
        turn.act(.start(run))
    }
}
