import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("A session whose profile leads elsewhere")
struct SessionMachineOriginTests {
    @Test("the result of a renewal in flight is kept, although the profile names another origin meanwhile")
    func inFlight() throws {
        var bench = MachineBench()
        bench.advance(.seconds(990))
        bench.tokenRequested(1, minValid: .seconds(500))
        let error = AgentError(.signInRequired, "elsewhere", cause: "origin_changed")
        bench.send(.originsChecked(error))
        #expect(bench.failure(for: 1)?.cause == "origin_changed")
        try bench.provider(gives: "token-2")
        try bench.storeTakesIt()
        #expect(bench.saves.last?.tokens.accessToken == Secret("token-2"))
        #expect(bench.snapshot?.status.state == .signInRequired && bench.snapshot?.token == nil)
        bench.tokenRequested(2)
        #expect(bench.failure(for: 2)?.cause == "origin_changed")
        bench.send(.originsChecked(nil))
        #expect(bench.snapshot?.status.state == .active)
        bench.tokenRequested(3)
        #expect(bench.token(for: 3) == "token-2")
    }

    @Test("is blocked when it is restored, whatever its first event is")
    func restored() {
        let record = MachineBench.record(token: "token-1", life: .seconds(1000))
        let error = AgentError(.signInRequired, "elsewhere", cause: "origin_changed")
        let now = MachineBench.moment(.zero)
        var machine = SessionMachine(stored: record, means: .lasting, now: now, seed: 1).restored(after: error)
        var turn = SessionTurn(at: now)
        machine.handle(.tokenRequested(CallerID(1), minValid: nil), in: &turn)
        guard case .failure(let refusal)? = turn.replies.first?.reply else {
            Issue.record("The token was returned.")
            return
        }
        #expect(refusal.cause == "origin_changed")
        for case .publish(let snapshot) in turn.actions {
            #expect(snapshot.token == nil && snapshot.status.state == .signInRequired)
        }
    }

    @Test("is used again after its user has trusted the other place on another host")
    func trustedElsewhere() {
        var record = MachineBench.record(token: "token-1", life: .seconds(1000), refresh: "refresh")
        record.origins = TokenOrigins(issuer: "https://former.example")
        var bench = MachineBench(handedOver: HandedOverSession(record: record, isStored: true, isUnsaved: false))
        bench.send(.compared(.success(record)))
        bench.send(.originsChecked(AgentError(.signInRequired, "elsewhere", cause: "origin_changed")))
        // Other changes of that host do not matter.
        record.revision += 1
        bench.send(.storeChanged)
        bench.send(.compared(.success(record)))
        #expect(bench.snapshot?.status.state == .signInRequired)
        record.revision += 1
        record.origins = TokenOrigins(issuer: "https://other.example")
        bench.send(.storeChanged)
        bench.send(.compared(.success(record)))
        #expect(bench.snapshot?.status.state == .active)
        bench.tokenRequested(1)
        #expect(bench.token(for: 1) == "token-1")
    }
}
