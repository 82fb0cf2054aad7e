import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("When a request is tried again")
struct RetryPlanTests {
    private func pauses(_ failures: RetryPlan.Failure..., mayRepeat: Bool = true, seed: UInt64 = 1) -> [Duration?] {
        var plan = RetryPlan(mayRepeat: mayRepeat)
        var random = SeededRandom(seed: seed)
        return failures.map { plan.pause(after: $0, using: &random) }
    }

    @Test("three tries in all, a second and two between them, spread by a quarter")
    func tries() throws {
        for seed in 1...50 as ClosedRange<UInt64> {
            let found = pauses(
                .status(503, retryAfter: nil), .transport(.connectionRefused(host: "h")), .status(500, retryAfter: nil),
                seed: seed)
            let first = try #require(found[0])
            let second = try #require(found[1])
            #expect((Duration.milliseconds(750)...Duration.milliseconds(1250)).contains(first))
            #expect((Duration.milliseconds(1500)...Duration.milliseconds(2500)).contains(second))
            #expect(found[2] == nil)
        }
    }

    @Test("a Retry-After is waited for, never less, and one that is too long is reported instead")
    func retryAfter() throws {
        for seed in 1...50 as ClosedRange<UInt64> {
            let pause = try #require(pauses(.status(429, retryAfter: .seconds(7)), seed: seed)[0])
            #expect((Duration.seconds(7)...Duration.milliseconds(7500)).contains(pause))
        }
        #expect(pauses(.status(429, retryAfter: .seconds(31)))[0] == nil)
        #expect(pauses(.status(429, retryAfter: nil))[0] != nil)
    }

    @Test(
        "what cannot change within seconds is not tried again",
        arguments: [400, 401, 403, 404, 409, 422, 200, 304].map { RetryPlan.Failure.status($0, retryAfter: nil) } + [
            .transport(.tls(host: "h", reason: "r")), .transport(.tooLarge(limit: 1)), .transport(.badURL(reason: "r")),
            .transport(.redirected(toOrigin: "o")), .transport(.cancelled),
        ])
    func notAgain(failure: RetryPlan.Failure) {
        #expect(pauses(failure)[0] == nil)
    }

    @Test("a request that may be carried out twice by it is not tried again")
    func mayNotRepeat() {
        #expect(pauses(.transport(.timedOut(host: "h", after: .seconds(1))), mayRepeat: false)[0] == nil)
        for method in ["GET", "HEAD", "OPTIONS", "PUT", "DELETE"] {
            #expect(RequestTemplate.mayRepeat(method: method, headers: []))
        }
        for method in ["POST", "PATCH", "get"] {
            #expect(!RequestTemplate.mayRepeat(method: method, headers: ["Accept"]))
        }
        #expect(RequestTemplate.mayRepeat(method: "POST", headers: ["idempotency-KEY"]))
    }
}
