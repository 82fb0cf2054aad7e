import AuthWire
import Testing

@testable import AuthDaemon

@Suite("The requests in progress of all clients")
struct RequestBudgetTests {
    private static let (first, second, other) = (peer(1, 1000), peer(2, 1000), peer(3, 1001))

    private static func peer(_ process: Int32, _ user: UInt32) -> PeerCredentials {
        PeerCredentials(processID: process, userID: user)
    }

    private static func budget() -> RequestBudget {
        var limits = ConnectionLimits()
        (limits.requestsPerProcess, limits.requestsPerUser, limits.confinedRequests) = (2, 3, 1)
        (limits.longRequestsPerProcess, limits.longRequestsInAll, limits.confinedLongRequests) = (10, 15, 20)
        return RequestBudget(limits)
    }

    /// `nil`: it begins.
    private static func refusal(
        _ budget: inout RequestBudget, _ peer: PeerCredentials, _ longBytes: Int = 0, isConfined: Bool = false
    ) -> AgentError? {
        do throws(AgentError) {
            try budget.begin(longBytes: longBytes, of: peer, isConfined: isConfined)
            return nil
        } catch {
            return error
        }
    }

    @Test("a process, a user and all confined clients have separate limits")
    func separate() {
        var budget = Self.budget()
        for _ in 1...2 { #expect(Self.refusal(&budget, Self.first) == nil) }
        #expect(Self.refusal(&budget, Self.first)?.message.hasPrefix("Process 1 has 2 requests") == true)
        #expect(Self.refusal(&budget, Self.second) == nil)
        let ofUser = Self.refusal(&budget, Self.second)
        #expect(ofUser?.message.hasPrefix("User 1000 has 3 requests") == true)
        #expect(ofUser?.kind == .busy && ofUser?.retryable == true && ofUser?.retryAfter != nil)
        // Requests of confined clients do not count for the user.
        #expect(Self.refusal(&budget, Self.first, isConfined: true) == nil)
        #expect(Self.refusal(&budget, Self.other, isConfined: true)?.kind == .busy)
        for _ in 1...2 { #expect(Self.refusal(&budget, Self.other) == nil) }
    }

    @Test("one confined process may have a quarter of the requests of all confined clients")
    func confinedProcess() {
        var limits = ConnectionLimits()
        limits.confinedRequests = 8
        var budget = RequestBudget(limits)
        for _ in 1...2 {
            for _ in 1...2 { #expect(Self.refusal(&budget, Self.first, isConfined: true) == nil) }
            let refused = Self.refusal(&budget, Self.first, isConfined: true)
            #expect(refused?.kind == .busy && refused?.message.hasPrefix("This process has 2 requests") == true)
            for _ in 1...2 { #expect(Self.refusal(&budget, Self.second, isConfined: true) == nil) }
            for peer in [Self.first, Self.second, Self.first, Self.second] {
                budget.end(longBytes: 0, of: peer, isConfined: true)
            }
        }
    }

    @Test("one confined process may have a quarter of the bytes of all their long requests")
    func confinedLongRequests() {
        var limits = ConnectionLimits()
        limits.confinedLongRequests = 16
        var budget = RequestBudget(limits)
        for _ in 1...2 {
            for peer in [Self.first, Self.second, Self.other] {
                #expect(Self.refusal(&budget, peer, 5, isConfined: true)?.kind == .busy)
                for bytes in [3, 1, 0] { #expect(Self.refusal(&budget, peer, bytes, isConfined: true) == nil) }
                #expect(Self.refusal(&budget, peer, 1, isConfined: true)?.kind == .busy)
            }
            for peer in [Self.first, Self.second, Self.other] {
                for bytes in [3, 1, 0] { budget.end(longBytes: bytes, of: peer, isConfined: true) }
            }
        }
    }

    @Test("what has ended makes room for the same number of requests again, and a refused one needs no end")
    func ended() {
        var budget = Self.budget()
        for _ in 1...3 {
            for _ in 1...2 { #expect(Self.refusal(&budget, Self.first, 5) == nil) }
            #expect(Self.refusal(&budget, Self.first) != nil)
            #expect(Self.refusal(&budget, Self.second, 5) == nil)
            #expect(Self.refusal(&budget, Self.other, 1) != nil)
            #expect(Self.refusal(&budget, Self.first, 5, isConfined: true) == nil)
            #expect(Self.refusal(&budget, Self.second, isConfined: true) != nil)
            for peer in [Self.first, Self.first, Self.second] {
                budget.end(longBytes: 5, of: peer, isConfined: false)
            }
            budget.end(longBytes: 5, of: Self.first, isConfined: true)
        }
    }

    @Test("one user cannot use the room for all long requests")
    func longRequestsOfUser() {
        var limits = ConnectionLimits()
        (limits.longRequestsPerProcess, limits.longRequestsPerUser, limits.longRequestsInAll) = (10, 12, 20)
        var budget = RequestBudget(limits)
        for _ in 1...2 {
            #expect(Self.refusal(&budget, Self.first, 8) == nil)
            #expect(Self.refusal(&budget, Self.second, 5)?.kind == .busy)
            #expect(Self.refusal(&budget, Self.second, 4) == nil)
            #expect(Self.refusal(&budget, Self.other, 8) == nil)
            for (peer, bytes) in [(Self.first, 8), (Self.second, 4), (Self.other, 8)] {
                budget.end(longBytes: bytes, of: peer, isConfined: false)
            }
        }
    }

    @Test("long requests are limited by their bytes, and a refused one does not count")
    func longRequests() {
        var budget = Self.budget()
        #expect(Self.refusal(&budget, Self.first, 8) == nil)
        #expect(Self.refusal(&budget, Self.first, 3)?.kind == .busy)
        #expect(Self.refusal(&budget, Self.first, 2) == nil)
        #expect(Self.refusal(&budget, Self.other, 6)?.kind == .busy)
        #expect(Self.refusal(&budget, Self.other, 5) == nil)
        #expect(Self.refusal(&budget, Self.second, 6, isConfined: true)?.kind == .busy)
        #expect(Self.refusal(&budget, Self.second, 5, isConfined: true) == nil)
    }
}
