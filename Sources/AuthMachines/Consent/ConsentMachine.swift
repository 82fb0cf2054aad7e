package import AuthModel
package import AuthWire

package enum ConsentEvent: Sendable {
    case asked(CallerID, ConsentQuestion)
    case callerGone(CallerID)
    case listRequested(CallerID)
    /// An answer from a terminal.
    /// - Parameter by: the process that answers.
    case answered(CallerID, question: UInt64, ConsentAnswer, by: PresenceSubject)
    /// The agent was locked.
    case locked
    /// The result of the machine's own action.
    case shown(UInt64, ConsentReply)
    case wake
}

package enum ConsentAction: Sendable, Equatable {
    case show(ConsentQuestion, UInt64)
    case withdraw(UInt64)
}

package enum ConsentResult: Sendable, Equatable {
    /// To a request: it is allowed. To an answer: it is recorded.
    case done
    case questions([ConsentItem])
    case failure(AgentError)
}

/// Decides when the user is asked about a program, and what an answer counts for.
///
/// Invariants:
/// 1. One question at a time. Requests with the same key share it.
/// 2. A request passes only with the answer to its question, or with a remembered one for the same key.
/// 3. The user is not asked again about a refused program for ``coolDown``, even after the program restarts. No answer
///    in time is a refusal. If nobody can answer, the request fails at once, and that is not a refusal.
package struct ConsentMachine: Machine {
    package typealias ConsentTurn = Turn<ConsentAction, ConsentResult>

    /// How long a question waits for an answer.
    package static let longestQuestion = Duration.seconds(60)
    /// How long a program is not asked about after a refusal.
    package static let coolDown = Duration.seconds(300)
    /// The longest time for which an answer counts.
    package static let longestMemory = Duration.seconds(30 * 86_400)
    /// Questions that wait for the one that is asked.
    package static let mostWaiting = 16
    /// The delay before a question is asked, as for ``PresenceMachine/usualDelay``.
    package static let usualDelay = PresenceMachine.usualDelay
    /// Remembered answers, and refusals.
    private static let mostRemembered = 512

    /// The programs that a refusal applies to.
    private enum Refusal: Hashable {
        case program(ConsentQuestion.Key.Program)
        case path(String)
        case unit(String)

        /// A program that is known only as a process counts as a new one after a restart, so a refusal also applies to
        /// its path and its unit, for programs of this kind. Both may be false, so no allowance applies to them.
        static func all(of question: ConsentQuestion) -> [Refusal] {
            let (key, program) = (question.key.program, question.program)
            switch key {
            case .identity(.running), .process: break
            case .identity, .listener: return [.program(key)]
            }
            return [.program(key)] + [program.subject.executable.map(path), program.unit.map(unit)].compactMap(\.self)
        }
    }

    private struct Open {
        let question: ConsentQuestion
        let number: UInt64
        let asked: Moment
        var end: BootInstant { asked.boot + ConsentMachine.longestQuestion }
    }

    private var current: Open?
    private var queue: QuestionQueue<ConsentQuestion, ConsentQuestion.Key>
    private var remembered = RememberedKeys<ConsentQuestion.Key>(limit: mostRemembered)
    private var refused = RememberedKeys<Refusal>(limit: mostRemembered)

    /// - Parameter delay: how long a question waits before it is asked.
    package init(delay: Duration = usualDelay) { queue = QuestionQueue(delay: delay, limit: Self.mostWaiting) }

    package static let wake = ConsentEvent.wake
    package static func callerGone(_ caller: CallerID) -> ConsentEvent { .callerGone(caller) }

    package mutating func handle(_ event: ConsentEvent, in turn: inout ConsentTurn) {
        switch event {
        case .asked(let caller, let question): ask(question, for: caller, &turn)
        case .callerGone(let caller): callerGone(caller, &turn)
        case .listRequested(let caller): turn.reply(.questions(current.map { [Self.item($0)] } ?? []), to: caller)
        case .answered(let caller, let number, let answer, let subject):
            answered(number, answer, by: subject, for: caller, &turn)
        case .locked:
            remembered.removeAll()
            refused.removeAll()
        case .shown(let number, .answered(let answer)):
            if current?.number == number { end(with: answer, isInTime: true, &turn) }
        // It can still be answered on a terminal.
        case .shown(_, .notShown): break
        case .shown(let number, .unanswerable):
            if let open = current, open.number == number {
                current = nil
                queue.reply(.failure(.consentUnavailable), to: open.question.key, &turn)
            }
        case .wake:
            if let current, current.end <= turn.now.boot {
                turn.act(.withdraw(current.number))
                end(with: .refused, isInTime: false, &turn)
            }
        }
        askNext(&turn)
        turn.wakeUp = current?.end ?? queue.nextDue
    }

    private mutating func ask(_ question: ConsentQuestion, for caller: CallerID, _ turn: inout ConsentTurn) {
        let now = turn.now.boot
        if remembered.remaining(question.key, at: now) != nil { return turn.reply(.done, to: caller) }
        if let pause = Refusal.all(of: question).compactMap({ refused.remaining($0, at: now) }).max() {
            return turn.reply(.failure(.consentPaused(for: pause)), to: caller)
        }
        if !queue.add(question, question.key, for: caller, at: now) {
            turn.reply(.failure(.tooManyQuestions), to: caller)
        }
    }

    private mutating func askNext(_ turn: inout ConsentTurn) {
        guard current == nil, let (question, number) = queue.next(at: turn.now.boot) else { return }
        current = Open(question: question, number: number, asked: turn.now)
        turn.act(.show(question, number))
    }

    private mutating func callerGone(_ caller: CallerID, _ turn: inout ConsentTurn) {
        guard let key = queue.callerGone(caller), let open = current, open.question.key == key else { return }
        // A program must not ask over and over.
        turn.act(.withdraw(open.number))
        end(with: .refused, isInTime: false, &turn)
    }

    private mutating func answered(
        _ number: UInt64, _ answer: ConsentAnswer, by subject: PresenceSubject, for caller: CallerID,
        _ turn: inout ConsentTurn
    ) {
        guard let open = current, open.number == number else {
            return turn.reply(.failure(.unknownQuestion), to: caller)
        }
        guard open.question.program.subject.processID != subject.processID else {
            return turn.reply(.failure(.ownQuestion), to: caller)
        }
        turn.act(.withdraw(number))
        end(with: answer, isInTime: true, &turn)
        turn.reply(.done, to: caller)
    }

    private mutating func end(with answer: ConsentAnswer, isInTime: Bool, _ turn: inout ConsentTurn) {
        guard let question = current?.question else { return }
        let key = question.key
        current = nil
        let now = turn.now.boot
        let reply: ConsentResult
        switch answer {
        case .allowed(let time):
            if let time, case .identity = key.program {
                remembered.remember(key, for: min(time, Self.longestMemory), at: now)
            }
            reply = .done
        case .refused:
            let refusals = Refusal.all(of: question)
            for refusal in refusals { refused.remember(refusal, for: Self.coolDown, at: now) }
            reply = .failure(isInTime ? .consentRefused : .consentUnanswered)
            // Other questions about the program are not asked either.
            queue.drop(replying: .failure(.consentPaused(for: Self.coolDown)), &turn) { other in
                Refusal.all(of: other).contains(where: refusals.contains)
            }
        }
        queue.reply(reply, to: key, &turn)
    }

    private static func item(_ open: Open) -> ConsentItem {
        let (question, program) = (open.question, open.question.program)
        var item = ConsentItem(
            number: Int(clamping: open.number), at: open.asked.wall.unixSeconds,
            endsAt: open.asked.date(of: open.end).unixSeconds, method: question.method,
            listener: question.key.listener.rawValue, lines: question.lines)
        (item.session, item.purpose) = (question.key.session, question.purpose)
        (item.exe, item.unit) = (program.subject.executable, program.unit)
        item.exeUncertain = program.subject.isExecutableUncertain ? true : nil
        item.pid = Int(program.subject.processID)
        return item
    }
}
