import AuthModel

/// What every simulation has: its time, the rule that was broken, and the trace.
class SimulationBase {
    final var now = Duration.zero {
        didSet { if now != oldValue { date = WallTime(unixSeconds: Self.begin) + now } }
    }
    /// The same by a clock that is right. Stored, as it is read more often than it changes.
    private(set) final var date = WallTime(unixSeconds: begin)
    private(set) var eventCount = 0
    private(set) var violation: Violation?
    /// What happened, in words, if it is traced.
    private(set) var trace: [String]?
    private var lastNumber = 0
    private let endlessRule: Rule

    /// - Parameter endlessRule: the rule that a schedule without an end breaks.
    init(endlessRule: Rule, traced: Bool) {
        self.endlessRule = endlessRule
        if traced { trace = [] }
    }

    /// The date of the beginning.
    static let begin = 1_800_000_000.0
    /// Later than everything that can happen.
    static let never = Duration.seconds(1 << 40)

    // MARK: Time

    /// Lets the next event happen, if it is due by then.
    func happen(before end: Duration) -> Bool { false }

    /// Whether something that is due at `next` happens before the end. Then its time has come.
    final func comes(_ next: Duration, before end: Duration) -> Bool {
        guard next <= end else { return false }
        now = max(now, next)
        eventCount += 1
        guard eventCount < InvariantChecker.maxEvents else {
            report(endlessRule, "\(eventCount) events in one schedule: something repeats without end")
            return false
        }
        return true
    }

    final func wait(_ pause: Pause) {
        switch pause {
        case .time(let duration): go(until: now + duration.inWholeNanoseconds)
        case .events(let count):
            for _ in 0..<count {
                guard violation == nil, happen(before: .seconds(1_000_000)) else { return }
            }
        }
    }

    /// Lets everything happen that is due until then.
    final func go(until end: Duration) {
        while violation == nil, happen(before: end) {}
        now = max(now, end)
    }

    /// Carries each step out after its pause.
    ///
    /// - Returns: whether no rule was broken before the last step.
    final func carryOut<Operation>(
        _ steps: [SimulationStep<Operation>], _ perform: (Operation) -> Void
    ) -> Bool {
        for step in steps {
            wait(step.pause)
            guard violation == nil else { return false }
            note("· \(step.operation)")
            perform(step.operation)
        }
        return true
    }

    // MARK: Words

    final func report(_ rule: Rule, _ what: @autoclosure () -> String) {
        guard violation == nil else { return }
        let violation = Violation(rule: rule, at: now, what: what())
        self.violation = violation
        note("✗ \(violation)")
    }

    final func note(_ line: @autoclosure () -> String) {
        guard trace != nil else { return }
        trace?.append("\(now)  \(line())")
    }

    final func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }
}
