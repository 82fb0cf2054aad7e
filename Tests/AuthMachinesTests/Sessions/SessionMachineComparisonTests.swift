import AuthMachines
import AuthModel
import AuthWire
import Testing

/// A session that the previous run handed over, and one that another program changes in the store.
@Suite("A session and its record in the store")
struct SessionMachineComparisonTests {
    private static let life = Duration.seconds(1000)

    private func record(
        _ token: String, revision: UInt64 = 1, signedIn: Duration = .zero, issued: Duration = .zero
    ) -> SessionRecord {
        var record = MachineBench.record(
            token: token, life: Self.life, at: issued, revision: revision, refresh: "refresh of \(token)")
        record.signedInAt = MachineBench.moment(signedIn).wall
        record.signIn = SignInID(signedInAt: record.signedInAt)
        return record
    }

    private func handedOver(_ record: SessionRecord, isStored: Bool = true, isUnsaved: Bool = false) -> MachineBench {
        MachineBench(handedOver: HandedOverSession(record: record, isStored: isStored, isUnsaved: isUnsaved))
    }

    @Test("is served at once, and the store is asked and not written to")
    func servedAtOnce() {
        var bench = handedOver(record("token-2", revision: 2))
        #expect(bench.snapshot?.status.state == .active)
        bench.tokenRequested(1)
        #expect(bench.token(for: 1) == "token-2")
        #expect(bench.comparisons == 1 && bench.saves.isEmpty)
    }

    @Test("that the store does not answer for is served on, is not called unsaved, and is looked up when it is ready")
    func locked() {
        var bench = handedOver(record("token-2", revision: 2))
        bench.send(.compared(.failure(.locked)))
        bench.tokenRequested(1)
        #expect(bench.token(for: 1) == "token-2")
        #expect(bench.snapshot?.status.unsaved == false)
        #expect(bench.comparisons == 1)
        bench.send(.storeReady)
        #expect(bench.comparisons == 2)
        bench.send(.compared(.success(record("token-2", revision: 2))))
        bench.send(.storeReady)
        #expect(bench.comparisons == 2 && bench.saves.isEmpty)
    }

    @Test("that was not saved before is still called unsaved, and is written once the store has been looked at")
    func unsaved() {
        var bench = handedOver(record("token-2", revision: 2), isUnsaved: true)
        bench.send(.compared(.failure(.locked)))
        #expect(bench.snapshot?.status.unsaved == true)
        bench.send(.storeReady)
        #expect(bench.saves.isEmpty)
        bench.send(.compared(.success(record("token-1", revision: 1))))
        #expect(bench.saves.map(\.generation) == [2])
    }

    @Test("that was not saved before is handed over as unsaved until the store has been read")
    func unsavedAgain() {
        var bench = handedOver(record("token-2", revision: 2), isUnsaved: true)
        #expect(bench.handedOver?.isUnsaved == true)
        bench.send(.compared(.success(record("token-2", revision: 2))))
        #expect(bench.handedOver?.isUnsaved == false)
        #expect(handedOver(record("token-2", revision: 2)).handedOver?.isUnsaved == false)
    }

    @Test("that was renewed equally often here and elsewhere keeps the later token, and stores it over the other")
    func renewedTwice() throws {
        var bench = handedOver(record("token-3", revision: 2, issued: .seconds(-1)))
        bench.send(.compared(.failure(.locked)))
        bench.send(.storeReady)
        bench.send(.compared(.success(record("token-2", revision: 2, issued: .seconds(-2)))))
        #expect(bench.saves.map(\.generation) == [3])
        #expect(bench.saves.last?.tokens.accessToken == Secret("token-3"))
        try bench.storeTakesIt()

        var other = handedOver(record("token-2", revision: 2, issued: .seconds(-2)))
        other.send(.compared(.success(record("token-3", revision: 3, issued: .seconds(-1)))))
        other.tokenRequested(1)
        #expect(other.token(for: 1) == "token-3" && other.saves.isEmpty)
    }

    @Test("whose token's dates another agent corrects uses the corrected dates")
    func redatedElsewhere() {
        // Issued under a clock that was set back since: its age is unknown.
        var bench = handedOver(record("token-2", revision: 2, issued: .seconds(7000)))
        bench.tokenRequested(1)
        #expect(bench.token(for: 1) == "token-2")
        var corrected = record("token-2", revision: 2, issued: .seconds(-995))
        corrected.corrections = 1
        bench.send(.compared(.success(corrected)))
        bench.tokenRequested(2)
        #expect(bench.token(for: 2) == "token-2")
        bench.advance(.seconds(6))
        bench.tokenRequested(3)
        #expect(bench.token(for: 3) == nil)
    }

    @Test("whose expired token comes back with the dates from before a change of the clock does not serve it again")
    func uncorrectedElsewhere() {
        var bench = handedOver(record("token-2", revision: 2, issued: .seconds(-5)))
        bench.advance(.seconds(1))
        bench.setClock(by: .seconds(-500))
        bench.advance(.seconds(1000))
        bench.send(.wake)
        #expect(bench.snapshot?.token == nil)
        // A token for a scope has changed the refresh token.
        var stored = record("token-2", revision: 3, issued: .seconds(-5))
        stored.tokens.refreshToken = Secret("another")
        bench.send(.storeChanged)
        bench.send(.compared(.success(stored)))
        #expect(bench.snapshot?.token == nil)
        bench.tokenRequested(1)
        #expect(bench.token(for: 1) == nil)
        // A prolonged one is served.
        stored.generation = 4
        stored.tokens.refreshToken = Secret("a third")
        stored.tokens.issuedAt = bench.now.wall
        stored.tokens.expiresAt = bench.now.wall + Self.life
        bench.send(.storeChanged)
        bench.send(.compared(.success(stored)))
        #expect(bench.token(for: 1) == "token-2")
    }

    @Test("that was prolonged here, and elsewhere with the same token, is written over that, and so is the next one")
    func prolongedTwice() throws {
        var bench = handedOver(record("token-1", revision: 1))
        bench.send(.compared(.success(record("token-1", revision: 1))))
        for (caller, foreign) in [(UInt64(1), UInt64(3)), (2, 7)] {
            bench.send(.renewalRequested(CallerID(caller)))
            bench.send(.storeChanged)
            let grant = Grant(issuedAt: bench.now.wall, expiresAt: bench.now.wall + .seconds(1000))
            bench.send(.requestEnded(try #require(bench.requestsInFlight.last), .success(grant), sentAt: bench.now))
            bench.send(.compared(.success(record("token-1", revision: foreign))))
            #expect(bench.saves.last?.generation == foreign + 1)
            try bench.storeTakesIt()
            if case .done? = bench.answer(to: caller) {} else { Issue.record("caller \(caller) waits") }
            bench.advance(.seconds(300))
        }
        bench.send(.renewalRequested(CallerID(3)))
        try bench.provider(gives: "token-2")
        try bench.storeTakesIt()
        #expect(bench.snapshot?.token == Secret("token-2"))
    }

    @Test("is looked up again when a failing store is ready, if it could neither be read nor written before")
    func readAfterFailure() throws {
        var bench = handedOver(record("token-2", revision: 2))
        bench.acceptsRewrites = false
        bench.send(.compared(.failure(.failed(reason: "disk full"))))
        bench.advance(.seconds(300))
        bench.send(.renewalRequested(CallerID(1)))
        bench.send(.compared(.failure(.failed(reason: "disk full"))))
        try bench.storeRefusesRewrite(.failed(reason: "disk full"))
        let comparisons = bench.comparisons
        bench.send(.storeReady)
        #expect(bench.comparisons == comparisons + 1 && bench.saves.isEmpty)
        bench.send(.compared(.success(record("token-1", revision: 1))))
        #expect(bench.saves.map(\.generation) == [2])
    }

    @Test("is served and not renewed while the store is locked, which holds the refresh token")
    func keptWhileLocked() throws {
        var bench = handedOver(record("token-2", revision: 2))
        bench.send(.compared(.failure(.locked)))
        bench.advance(.seconds(300))
        bench.send(.renewalRequested(CallerID(1)))
        bench.send(.compared(.failure(.locked)))
        #expect(bench.requestsInFlight.isEmpty && bench.rewrites.isEmpty)
        #expect(bench.failure(for: 1)?.kind == .keyringLocked)
        bench.tokenRequested(2)
        #expect(bench.token(for: 2) == "token-2")
        bench.send(.storeReady)
        bench.send(.compared(.success(record("token-2", revision: 2))))
        bench.send(.renewalRequested(CallerID(3)))
        #expect(bench.rewrites.count == 1 && bench.requestsInFlight.count == 1)
    }

    @Test("that the store never held is renewed while it is locked, and what that brings is handed over")
    func renewedWhileLocked() throws {
        var bench = handedOver(record("token-2", revision: 2), isStored: false)
        bench.send(.compared(.failure(.locked)))
        bench.advance(.seconds(300))
        bench.send(.renewalRequested(CallerID(1)))
        try bench.provider(gives: "token-3")
        #expect(bench.handedOver?.record.tokens.accessToken == Secret("token-3"))
        bench.send(.compared(.failure(.locked)))
        #expect(bench.saves.isEmpty)
        bench.tokenRequested(2)
        #expect(bench.token(for: 2) == "token-3")
        #expect(bench.handedOver?.isUnsaved == true)
    }

    @Test("ends when it is not in the store any more, at the second look and not before")
    func removed() throws {
        var bench = handedOver(record("token-2", revision: 2))
        bench.send(.compared(.success(nil)))
        bench.tokenRequested(1)
        #expect(bench.token(for: 1) == "token-2")
        #expect(try bench.sleepUntilWake() == .seconds(2))
        #expect(bench.comparisons == 2)
        bench.send(.renewalRequested(CallerID(2)))
        bench.send(.compared(.success(nil)))
        #expect(bench.forgotten && bench.deletes == 0 && bench.saves.isEmpty)
        #expect(bench.failure(for: 2)?.kind == .notSignedIn)
        #expect(bench.handedOver == nil)
    }

    @Test("goes on when it was not there for a moment only")
    func hidden() throws {
        var bench = handedOver(record("token-2", revision: 2))
        bench.send(.compared(.success(nil)))
        _ = try bench.sleepUntilWake()
        bench.send(.compared(.success(record("token-2", revision: 2))))
        #expect(!bench.forgotten && bench.snapshot?.status.state == .active)
    }

    @Test("that no store ever held is written, and not ended")
    func neverKept() {
        var bench = handedOver(record("token-1"), isStored: false)
        bench.send(.compared(.success(nil)))
        #expect(bench.saves.map(\.revision) == [1])
        #expect(!bench.forgotten)
    }

    @Test("gives way to the record of another program")
    func newerInStore() {
        var bench = handedOver(record("token-2", revision: 2))
        bench.send(.compared(.success(record("token-3", revision: 3))))
        bench.tokenRequested(1)
        #expect(bench.token(for: 1) == "token-3")
        #expect(bench.saves.isEmpty)
        bench.send(.defaultChosen())
        #expect(bench.saves.map(\.revision) == [4])
    }

    @Test("gives way to a sign-in that is there in its place, and not to one that was there before it was written")
    func otherSignIn() {
        var bench = handedOver(record("token-2", revision: 9, signedIn: .seconds(50)))
        bench.send(.compared(.success(record("theirs", revision: 1, signedIn: .seconds(40)))))
        bench.tokenRequested(1)
        #expect(bench.token(for: 1) == "theirs")
        bench.send(.defaultChosen())
        #expect(bench.saves.map(\.revision) == [2])

        var other = handedOver(record("token-2", revision: 2, signedIn: .seconds(50)), isStored: false)
        other.send(.compared(.success(record("old", revision: 7, signedIn: .seconds(60)))))
        other.tokenRequested(1)
        #expect(other.token(for: 1) == "token-2")
        #expect(other.saves.map(\.revision) == [8])
    }

    @Test(
        "that is changed by another program while a renewal is in progress continues with theirs, and has one renewal at a time"
    )
    func changedMeanwhile() throws {
        var bench = MachineBench()
        bench.advance(.seconds(400))
        bench.send(.renewalRequested(CallerID(1)))
        bench.send(.storeChanged)
        #expect(bench.comparisons == 1)
        bench.send(.compared(.success(record("theirs", revision: 2, issued: .seconds(399)))))
        if case .done = bench.answer(to: 1) {} else { Issue.record("no reply about the renewal") }
        bench.advance(.seconds(100))
        bench.send(.renewalRequested(CallerID(3)))
        #expect(bench.requestsInFlight.count == 1)
        try bench.provider(fails: .invalidGrant)
        #expect(bench.snapshot?.status.state == .active && bench.rereads == 0)
        if case .done = bench.answer(to: 3) {} else { Issue.record("the second caller gets no reply") }
        bench.tokenRequested(2)
        #expect(bench.token(for: 2) == "theirs")
    }

    @Test(
        "that is changed to an ended token during a renewal is renewed at once after a refusal, and not without a response"
    )
    func endedMeanwhile() throws {
        var bench = handedOver(record("token-2", revision: 2))
        bench.send(.compared(.success(record("token-2", revision: 2))))
        bench.advance(.seconds(2000))
        bench.tokenRequested(1)
        bench.send(.storeChanged)
        bench.send(.compared(.success(record("theirs", revision: 3, issued: .seconds(900)))))
        var other = bench
        try bench.provider(fails: .invalidGrant)
        #expect(bench.requestsInFlight.count == 2 && bench.failure(for: 1) == nil)

        try other.provider(fails: .temporary(AgentError(.timeout, "no answer"), retryAfter: .seconds(7)))
        #expect(other.requestsInFlight.count == 1)
        #expect(other.failure(for: 1)?.kind == .timeout)
        other.tokenRequested(2)
        #expect(other.failure(for: 2)?.retryAfter == .seconds(7))
    }

    @Test("is looked up once more when it changes during a look, and after a write rather than beside it")
    func oneCallAtATime() throws {
        var bench = MachineBench()
        bench.send(.storeChanged)
        bench.send(.storeChanged)
        #expect(bench.comparisons == 1)
        bench.send(.defaultChosen())
        #expect(bench.saves.isEmpty)
        bench.send(.compared(.success(MachineBench.record(token: "token-1", life: Self.life))))
        #expect(bench.comparisons == 2)
        bench.send(.compared(.success(MachineBench.record(token: "token-1", life: Self.life))))
        #expect(bench.saves.count == 1)
        bench.send(.storeChanged)
        #expect(bench.comparisons == 2)
        try bench.storeTakesIt()
        #expect(bench.comparisons == 3)
    }

    @Test("that is damaged in the store is still served, and the next write repairs it")
    func spoilt() {
        var bench = MachineBench()
        bench.send(.storeChanged)
        bench.send(.compared(.failure(.failed(reason: "no JSON"))))
        bench.tokenRequested(1)
        #expect(bench.token(for: 1) == "token-1")
        bench.send(.defaultChosen())
        bench.send(.compared(.failure(.failed(reason: "no JSON"))))
        #expect(bench.saves.map(\.revision) == [2])
    }

    @Test("that is signed out is removed from the handover before it is removed from the store")
    func signedOut() throws {
        var bench = MachineBench()
        #expect(bench.handedOver?.record.tokens.accessToken == Secret("token-1"))
        bench.forgetActions()
        bench.send(.signOutRequested(CallerID(1)))
        let order = bench.actions.compactMap { action in
            switch action {
            case .handOver(nil): "nothing handed over"
            case .delete: "removed"
            default: nil
            }
        }
        #expect(order == ["nothing handed over", "removed"])
    }

    @Test("that replaced one whose write was in progress does not count as stored when that write ends")
    func replacedWhileWriting() throws {
        var bench = MachineBench(fresh: true)
        let former = try #require(bench.saves.first)
        bench.send(.replaced(record("token-2", signedIn: .seconds(5)), sentAt: bench.now))
        bench.send(.saved(former.version))
        #expect(bench.handedOver?.isStored == false)
        try bench.storeTakesIt()
        #expect(bench.handedOver?.isStored == true)
    }

    @Test("is handed over at each change of tokens, and not for less")
    func handedOverWhen() throws {
        var bench = MachineBench(fresh: true)
        #expect(bench.handovers == 1)
        try bench.storeTakesIt()
        // The store has it: that is worth knowing when it is gone from there.
        #expect(bench.handovers == 2)
        bench.tokenRequested(1)
        bench.send(.networkChanged(.offline))
        bench.send(.networkChanged(.online))
        bench.advance(.seconds(400))
        bench.send(.renewalRequested(CallerID(2)))
        #expect(bench.handovers == 2)
        try bench.provider(gives: "token-2")
        #expect(bench.handovers == 3)
        try bench.storeTakesIt()
        #expect(bench.handovers == 3)
    }
}
