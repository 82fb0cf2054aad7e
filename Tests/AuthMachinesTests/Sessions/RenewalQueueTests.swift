import AuthMachines
import AuthModel
import Testing

@Suite("The renewals of one provider")
struct RenewalQueueTests {
    private let start = BootInstant(sinceBoot: .seconds(100))

    @Test("of two hundred at once ten begin in any second, the most urgent first")
    func spread() {
        var queue = RenewalQueue()
        var urgencies: [RenewalQueue.Ticket: Int] = [:]
        for number in (0..<200).map({ ($0 * 37) % 200 }) {
            let entry = queue.enter(urgency: start + .seconds(number), at: start)
            if case .waiting(let ticket, _) = entry { urgencies[ticket] = number }
        }
        var begun: [(at: BootInstant, urgency: Int?)] = []
        while let turn = queue.turn(at: begun.last?.at ?? start) {
            if let ticket = queue.next(at: turn) { begun.append((turn, urgencies[ticket])) }
        }
        #expect(begun.compactMap(\.urgency) == Array(0..<200))
        for (first, eleventh) in zip(begun, begun.dropFirst(10)) { #expect(eleventh.at - first.at >= .seconds(1)) }
        #expect((begun.last?.at ?? start) - start < .seconds(20))
    }

    @Test("a single one begins at once")
    func alone() {
        var queue = RenewalQueue()
        guard case .waiting(let ticket, let turn) = queue.enter(urgency: start, at: start) else {
            Issue.record("it is held")
            return
        }
        #expect(turn == start)
        #expect(queue.next(at: start) == ticket)
        #expect(queue.turn(at: start) == nil)
    }

    @Test("while the provider wants to be left alone nobody begins, and who waits is told")
    func held() {
        var queue = RenewalQueue()
        for _ in 0..<3 { _ = queue.enter(urgency: start, at: start) }
        #expect(queue.hold(for: .seconds(120), at: start).count == 3)
        #expect(queue.enter(urgency: start, at: start + .seconds(20)) == .held(.seconds(100)))
        guard case .waiting = queue.enter(urgency: start, at: start + .seconds(120)) else {
            Issue.record("held too long")
            return
        }
    }

    @Test("a provider that wants a day gets an hour")
    func holdIsBounded() {
        var queue = RenewalQueue()
        _ = queue.hold(for: .seconds(86_400), at: start)
        #expect(queue.enter(urgency: start, at: start) == .held(Backoff.longestHold))
    }
}
