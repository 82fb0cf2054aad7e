import AgentTestSupport
import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("The last steps of sign-ins that have ended")
struct EndedSignInsTests {
    private let now = ManualClock.moment(.zero).boot

    private func last(_ id: String) -> Step { Step(login: id, kind: .done, message: id) }

    @Test("a step is returned for each request until its time has ended, and nothing for other IDs")
    func lifetime() {
        var ended = EndedSignIns()
        ended.add(last("l1"), at: now)
        let end = now + EndedSignIns.lifetime
        for _ in 1...2 { #expect(ended.step("l1", at: end - .milliseconds(1)) == last("l1")) }
        #expect(ended.step("l2", at: now) == nil)
        #expect(ended.step("l1", at: end) == nil)
        #expect(ended.count == 0)
    }

    @Test("only the latest are kept")
    func most() {
        var ended = EndedSignIns()
        for number in 0...EndedSignIns.most { ended.add(last("l\(number)"), at: now) }
        #expect(ended.count == EndedSignIns.most)
        #expect(ended.step("l0", at: now) == nil)
        for number in 1...EndedSignIns.most { #expect(ended.step("l\(number)", at: now) != nil) }
    }
}
