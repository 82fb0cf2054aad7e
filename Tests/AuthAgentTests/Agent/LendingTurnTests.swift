import AuthAgent
import Synchronization
import Testing

@Suite("The turn of a sign-in that uses the browser")
struct LendingTurnTests {
    private final class Counter: Sendable {
        private let value = Mutex(0)
        var count: Int { value.withLock { $0 } }
        func add() { value.withLock { $0 += 1 } }
    }

    @Test("it ends once, even if it is still referred to")
    func once() {
        let ends = Counter()
        do {
            let turn = LendingTurn { ends.add() }
            turn.end()
            #expect(ends.count == 1)
            turn.end()
            withExtendedLifetime(turn) {}
        }
        #expect(ends.count == 1)
    }

    @Test("the turn of a request that is not carried out ends with the request")
    func dropped() {
        let ends = Counter()
        var work: (() -> Void)?
        do {
            let turn = LendingTurn { ends.add() }
            work = { turn.end() }
        }
        #expect(ends.count == 0 && work != nil)
        work = nil
        #expect(ends.count == 1)
    }
}
