import AuthModel

/// Questions that wait for the user, and the callers of each question, including the one being asked.
///
/// Invariants: callers with the same key share a question; no question is asked before its delay is over; at most `limit`
/// questions wait.
struct QuestionQueue<Question: Sendable, Key: Hashable & Sendable>: Sendable {
    private struct Waiting {
        let question: Question
        let key: Key
        let due: BootInstant
    }

    private let delay: Duration
    private let limit: Int
    /// In order of arrival, without the one being asked.
    private var waiting: [Waiting] = []
    private var callers: [Key: [CallerID]] = [:]
    private var lastNumber: UInt64 = 0

    /// - Parameter delay: how long a question waits before it is asked.
    init(delay: Duration, limit: Int) {
        (self.delay, self.limit) = (delay, limit)
    }

    /// When the next question may be asked.
    var nextDue: BootInstant? { waiting.map(\.due).min() }

    /// - Returns: `false` if too many questions wait.
    mutating func add(_ question: Question, _ key: Key, for caller: CallerID, at now: BootInstant) -> Bool {
        if callers[key] == nil {
            guard waiting.count < limit else { return false }
            waiting.append(Waiting(question: question, key: key, due: now + delay))
        }
        callers[key, default: []].append(caller)
        return true
    }

    /// The next question, if one may be asked, and its number. Its callers still wait for it.
    mutating func next(at now: BootInstant) -> (question: Question, number: UInt64)? {
        guard let next = waiting.firstIndex(where: { $0.due <= now }) else { return nil }
        lastNumber += 1
        return (waiting.remove(at: next).question, lastNumber)
    }

    /// Removes the caller, and its question from the queue if no other caller waits for it.
    /// - Returns: the key of a question that nobody waits for any more. It may be the one being asked.
    mutating func callerGone(_ caller: CallerID) -> Key? {
        guard let (key, list) = callers.first(where: { $0.value.contains(caller) }) else { return nil }
        let others = list.filter { $0 != caller }
        guard others.isEmpty else {
            callers[key] = others
            return nil
        }
        callers[key] = nil
        waiting.removeAll { $0.key == key }
        return key
    }

    /// Replies to all who wait for the question.
    mutating func reply<Action, Reply>(_ reply: Reply, to key: Key, _ turn: inout Turn<Action, Reply>) {
        for caller in callers.removeValue(forKey: key) ?? [] { turn.reply(reply, to: caller) }
    }

    /// Removes questions that have not been asked, with a reply to those who wait for them.
    mutating func drop<Action, Reply>(
        replying reply: Reply, _ turn: inout Turn<Action, Reply>, where isDropped: (Question) -> Bool
    ) {
        for entry in waiting where isDropped(entry.question) { self.reply(reply, to: entry.key, &turn) }
        waiting.removeAll { isDropped($0.question) }
    }
}
