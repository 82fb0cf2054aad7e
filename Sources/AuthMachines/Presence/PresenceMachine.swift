package import AuthModel
package import AuthWire

package enum PresenceEvent: Sendable {
    case configured(PresenceSettings)
    case asked(CallerID, PresenceQuestion)
    case callerGone(CallerID)
    /// The agent was locked.
    case locked
    /// The result of the machine's own action.
    case answered(UInt64, PresenceAnswer)
    case wake
}

package enum PresenceMachineAction: Sendable, Equatable {
    case ask(PresenceQuestion, UInt64)
    case withdraw(UInt64)
}

package enum PresenceReply: Sendable, Equatable {
    case passed
    case failure(AgentError)
}

/// Decides when the user's presence is checked.
///
/// Invariants:
/// 1. One check at a time. Requests with the same question share it.
/// 2. A request passes only with the answer to its question, or with one that is remembered for the same program.
/// 3. Three failures in five minutes pause checks for five minutes. What could not be asked is not a failure.
package struct PresenceMachine: Machine {
    package typealias PresenceTurn = Turn<PresenceMachineAction, PresenceReply>

    /// How long one check may take. A dialog that nobody answers ends then.
    package static let longestCheck = Duration.seconds(60)
    /// Questions that wait for the one that is asked. More would take the user an hour.
    package static let mostWaiting = 16
    /// The delay before a question is asked. `authc token` makes its request with the small program first, for a
    /// quarter of a second, and then again with the full one; nobody sees a dialog of the first.
    package static let usualDelay = Duration.milliseconds(600)
    /// Remembered answers.
    private static let mostRemembered = 128

    private struct Check {
        let question: PresenceQuestion
        let number: UInt64
        let end: BootInstant
        /// Nobody waits for it, or it has taken too long.
        var isWithdrawn = false
    }

    private var settings = PresenceSettings()
    private var current: Check?
    private var queue: QuestionQueue<PresenceQuestion, PresenceQuestion>
    private var remembered = RememberedKeys<PresenceQuestion>(limit: mostRemembered)
    private var failures = RecentFailures()

    /// - Parameter delay: how long a question waits before it is asked.
    package init(delay: Duration = usualDelay) { queue = QuestionQueue(delay: delay, limit: Self.mostWaiting) }

    package static let wake = PresenceEvent.wake
    package static func callerGone(_ caller: CallerID) -> PresenceEvent { .callerGone(caller) }

    package mutating func handle(_ event: PresenceEvent, in turn: inout PresenceTurn) {
        switch event {
        case .configured(let new):
            if new != settings { remembered.removeAll() }
            settings = new
        case .asked(let caller, let question): ask(question, for: caller, &turn)
        case .callerGone(let caller): callerGone(caller, &turn)
        case .locked: remembered.removeAll()
        case .answered(let number, let answer):
            if current?.number == number { answered(answer, &turn) }
        case .wake:
            if let current, current.end <= turn.now.boot { withdraw(&turn) }
        }
        askNext(&turn)
        turn.wakeUp = current.map { $0.isWithdrawn ? nil : $0.end } ?? queue.nextDue
    }

    private mutating func ask(_ question: PresenceQuestion, for caller: CallerID, _ turn: inout PresenceTurn) {
        let now = turn.now.boot
        if remembered.remaining(question, at: now) != nil { return turn.reply(.passed, to: caller) }
        if let pause = failures.pause(at: now) {
            return turn.reply(.failure(.presencePaused(for: pause)), to: caller)
        }
        if !queue.add(question, question, for: caller, at: now) {
            turn.reply(.failure(.tooManyPresenceChecks), to: caller)
        }
    }

    private mutating func askNext(_ turn: inout PresenceTurn) {
        guard current == nil, let (question, number) = queue.next(at: turn.now.boot) else { return }
        current = Check(question: question, number: number, end: turn.now.boot + Self.longestCheck)
        turn.act(.ask(question, number))
    }

    private mutating func callerGone(_ caller: CallerID, _ turn: inout PresenceTurn) {
        if let question = queue.callerGone(caller), current?.question == question { withdraw(&turn) }
    }

    /// A question that was not answered counts as refused: a program must not ask over and over.
    private mutating func withdraw(_ turn: inout PresenceTurn) {
        guard let check = current, !check.isWithdrawn else { return }
        turn.act(.withdraw(check.number))
        // The next question is asked when the dialog has gone.
        current?.isWithdrawn = true
        failures.record(at: turn.now.boot)
        reply(.failure(failures.pause(at: turn.now.boot).map(AgentError.presencePaused) ?? .presenceUnanswered), &turn)
        endIfPaused(&turn)
    }

    private mutating func answered(_ answer: PresenceAnswer, _ turn: inout PresenceTurn) {
        guard let check = current else { return }
        let now = turn.now.boot
        defer { current = nil }
        // An answer that came too late does not count, and its callers have their replies.
        guard !check.isWithdrawn else { return }
        switch answer {
        case .passed:
            failures = RecentFailures()
            if let time = settings.remember, check.question.action == .release {
                remembered.remember(check.question, for: time, at: now)
            }
            reply(.passed, &turn)
        case .refused, .withdrawn:
            failures.record(at: now)
            reply(.failure(failures.pause(at: now).map(AgentError.presencePaused) ?? .presenceRefused), &turn)
            endIfPaused(&turn)
        case .noAgent: reply(.failure(.noPresenceAgent), &turn)
        case .unavailable(let reason): reply(.failure(.presenceUnavailable(reason)), &turn)
        }
    }

    /// To those who wait for the current question.
    private mutating func reply(_ reply: PresenceReply, _ turn: inout PresenceTurn) {
        if let question = current?.question { queue.reply(reply, to: question, &turn) }
    }

    private mutating func endIfPaused(_ turn: inout PresenceTurn) {
        guard let pause = failures.pause(at: turn.now.boot) else { return }
        queue.drop(replying: .failure(.presencePaused(for: pause)), &turn) { _ in true }
    }
}

/// Failures of the last minutes, in memory.
struct RecentFailures: Sendable, Equatable {
    private var dates: [BootInstant] = []

    mutating func record(at now: BootInstant) {
        dates = (dates + [now]).suffix(LockRecord.mostFailures)
    }

    /// How long nothing is asked from now on; `nil`: no pause.
    func pause(at now: BootInstant) -> Duration? {
        guard dates.count >= LockRecord.mostFailures, let first = dates.first, let last = dates.last,
            last - first < LockRecord.window, now < last + LockRecord.window
        else { return nil }
        return last + LockRecord.window - now
    }
}
