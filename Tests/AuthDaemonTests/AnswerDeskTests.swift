import AuthWire
import Testing

@testable import AuthDaemon

@Suite("Answers find their place")
struct AnswerDeskTests {
    @Test("a batch is whole when its last answer is there")
    func batch() {
        var desk = AnswerDesk(limit: 2)
        let batch = desk.openBatch(of: 3)
        let first = desk.put(.success(1), at: .batch(batch, .integer(1)))
        let second = desk.put(.success(2), at: .silentInBatch(batch))
        #expect(first == nil && second == nil)
        #expect(!desk.isIdle)
        let whole = desk.put(.failure(.parseError("x")), at: .batch(batch, .integer(3)))
        #expect(whole?.arrayValue?.count == 2)
        #expect(desk.isIdle)
    }

    @Test("a ticket is out until it is given back, answered or not")
    func tickets() throws {
        var desk = AnswerDesk(limit: 1)
        let taken = desk.takeTicket(for: .line(.integer(1)))
        let ticket = try #require(taken)
        let (place, again) = (desk.takePlace(of: ticket), desk.takePlace(of: ticket))
        #expect(place == .line(.integer(1)))
        #expect(again == nil)
        #expect(desk.isIdle)
        let refused = desk.takeTicket(for: .nobody)
        #expect(refused == nil)
        desk.giveBack(ticket)
        let next = desk.takeTicket(for: .nobody)
        #expect(next != nil)
    }
}
