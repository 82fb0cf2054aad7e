import AuthMachines
import AuthModel
import AuthWire
import Testing

/// A host has sent the tokens of another host's renewal again, because nobody knew what the provider had done.
@Suite("A session that is refused after an interrupted renewal")
struct InterruptedRenewalTests {
    @Test("names the interruption until tokens of a later renewal are refused")
    func lateResult() throws {
        var bench = MachineBench()
        bench.send(.shared(true))
        bench.advance(.seconds(1001))
        bench.tokenRequested(1)
        var refusals = 0
        // Refusals may be early until the token has certainly ended.
        func refuse(as cause: String, _ stored: SessionRecord) throws {
            for _ in 1...3 where bench.snapshot?.status.state != .signInRequired {
                bench.advance(.seconds(2000))
                while bench.requestsInFlight.count == refusals { _ = try bench.sleepUntilWake() }
                refusals += 1
                try bench.provider(fails: .final(AgentError(.refused, "no", cause: cause)))
                bench.send(.storeReread(try #require(bench.requestsInFlight.last), .success(stored)))
            }
        }
        try refuse(as: "renewal_interrupted", bench.machine.record)
        #expect(bench.snapshot?.status.cause == "renewal_interrupted")
        // The host that was interrupted writes what it had received. The provider has revoked it.
        for (generation, cause) in [(2, "renewal_interrupted"), (3, "revoked")] as [(UInt64, String)] {
            let late = MachineBench.record(
                token: "late-\(generation)", life: .seconds(10), at: bench.elapsed, revision: generation)
            bench.send(.storeChanged)
            bench.send(.compared(.success(late)))
            #expect(bench.snapshot?.status.state == .active)
            try refuse(as: "revoked", late)
            #expect(bench.snapshot?.status.cause == cause)
        }
    }
}
