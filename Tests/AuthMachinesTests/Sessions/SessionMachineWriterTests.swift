import AuthMachines
import AuthModel
import AuthWire
import Testing

/// What becomes of a session that another program changes at the same store, unseen until ours is written.
@Suite("A session that two programs write")
struct SessionMachineWriterTests {
    private static let life = Duration.seconds(1000)

    private func record(
        _ token: String, generation: UInt64, revision: UInt64 = 1, refresh: String? = nil
    ) -> SessionRecord {
        var record = MachineBench.record(
            token: token, life: Self.life, at: .seconds(100), refresh: refresh ?? "refresh of \(token)")
        record.generation = generation
        record.revision = revision
        return record
    }

    @Test("keeps the tokens that the other has renewed when the user changes here, and writes both")
    func userChanged() throws {
        var bench = MachineBench()
        bench.advance(.seconds(200))
        bench.send(.userReceived(UserSummary(id: "8"), raw: nil))
        try bench.storeRefusesIt()
        bench.send(.passwordSet(Secret("new"), rememberedAs: nil))
        bench.send(.storeReady)
        try bench.storeHolds(record("theirs", generation: 2))
        bench.tokenRequested(1)
        #expect(bench.token(for: 1) == "theirs")
        let written = try #require(bench.saves.last)
        #expect(written.tokens.refreshToken == Secret("refresh of theirs"))
        #expect(written.user?.id == "8" && written.generation == 2 && written.revision == 3)
        try bench.storeTakesIt()
        #expect(bench.snapshot?.status.unsaved == false)
    }

    @Test("keeps what the user has changed there when its tokens are renewed here")
    func changedThere() throws {
        var bench = MachineBench()
        bench.advance(.seconds(900))
        bench.send(.renewalRequested(CallerID(1)))
        try bench.provider(gives: "token-2")
        var theirs = MachineBench.record(token: "token-1", life: Self.life)
        theirs.revision = 5
        theirs.user = UserSummary(id: "8")
        try bench.storeHolds(theirs)
        let written = try #require(bench.saves.last)
        #expect(written.user?.id == "8" && written.revision == 5)
        #expect(written.tokens.accessToken == Secret("token-2") && written.generation == 2)
        #expect(bench.answer(to: 1) == nil)
        try bench.storeTakesIt()
        #expect(bench.snapshot?.token == Secret("token-2"))
        #expect(bench.snapshot?.status.user?.id == "8")
    }

    @Test("keeps what the user has just changed here if another has changed it at the same time")
    func changedTwice() throws {
        var bench = MachineBench()
        bench.send(.userReceived(UserSummary(id: "8"), raw: nil))
        var theirs = MachineBench.record(token: "token-1", life: Self.life)
        theirs.revision = 2
        theirs.needsPassword = true
        try bench.storeHolds(theirs)
        #expect(bench.saves.last?.revision == 3 && bench.saves.last?.user?.id == "8")
        try bench.storeTakesIt()
        // What is written already gives way to what is in the store.
        theirs.revision = 3
        bench.send(.storeChanged)
        bench.send(.compared(.success(theirs)))
        #expect(bench.snapshot?.status.needsPassword == true)
    }

    @Test("writes new tokens of the provider over another renewal of the same tokens")
    func sameGeneration() throws {
        var bench = MachineBench()
        bench.advance(.seconds(900))
        bench.send(.renewalRequested(CallerID(1)))
        try bench.provider(gives: "token-2")
        try bench.storeHolds(record("theirs", generation: 2))
        #expect(bench.saves.last?.tokens.accessToken == Secret("token-2"))
        #expect(bench.saves.last?.generation == 3)
        try bench.storeTakesIt()
        if case .done? = bench.answer(to: 1) {} else { Issue.record("the caller is not answered") }
    }

    @Test("gives its new token to callers if the other has written first twice, and goes on writing")
    func contested() throws {
        var bench = MachineBench()
        bench.advance(.seconds(900))
        bench.send(.renewalRequested(CallerID(1)))
        try bench.provider(gives: "token-2")
        // A refresh token that stays the same: each access token stands for itself.
        try bench.storeHolds(record("theirs", generation: 2, refresh: "refresh-1"))
        #expect(bench.answer(to: 1) == nil)
        try bench.storeHolds(record("theirs again", generation: 3, refresh: "refresh-1"))
        if case .done? = bench.answer(to: 1) {} else { Issue.record("the caller is not answered") }
        #expect(bench.snapshot?.token == Secret("token-2"))
        #expect(bench.saves.count == 3 && bench.saves.last?.generation == 4)
        #expect(bench.saves.last?.tokens.refreshToken == Secret("refresh of token-2"))
    }

    @Test("goes on with the other's tokens if they come from a later renewal, whatever its own were raised above")
    func raisedAndLater() throws {
        var bench = MachineBench()
        bench.advance(.seconds(900))
        bench.send(.renewalRequested(CallerID(1)))
        try bench.provider(gives: "token-2")
        try bench.storeHolds(record("theirs", generation: 2))
        #expect(bench.saves.last?.generation == 3)
        try bench.storeHolds(record("theirs again", generation: 3))
        #expect(bench.snapshot?.token == Secret("theirs again"))
        if case .done? = bench.answer(to: 1) {} else { Issue.record("the caller is not answered") }
        #expect(bench.saves.count == 2)
    }

    @Test("goes on with the other's tokens if they come from a later renewal than those that have just come")
    func laterGeneration() throws {
        var bench = MachineBench()
        bench.advance(.seconds(900))
        bench.send(.renewalRequested(CallerID(1)))
        try bench.provider(gives: "token-2")
        try bench.storeHolds(record("theirs", generation: 3))
        #expect(bench.snapshot?.token == Secret("theirs"))
        if case .done? = bench.answer(to: 1) {} else { Issue.record("the caller is not answered") }
        #expect(bench.saves.count == 1)
    }

    @Test("adopts the other's later access token if both have the same refresh token, and delivers a target's token")
    func sameRefreshToken() throws {
        var bench = MachineBench()
        bench.advance(.seconds(200))
        let target = try #require(try TokenTarget(TokenGet(scopes: ["read"])))
        bench.send(.targetedTokenRequested(CallerID(1), target, minValid: nil))
        let grant = Grant(
            accessToken: Secret("read-1"), refreshToken: Secret("refresh-2"), issuedAt: bench.now.wall,
            expiresAt: bench.now.wall + Self.life)
        bench.send(.requestEnded(try #require(bench.targetedRequests.last), .success(grant), sentAt: bench.now))
        #expect(bench.answer(to: 1) == nil)
        try bench.storeHolds(record("theirs", generation: 2, refresh: "refresh-2"))
        #expect(bench.token(for: 1) == "read-1")
        #expect(bench.snapshot?.token == Secret("theirs") && bench.snapshot?.isSuspect == false)
        #expect(bench.saves.count == 1 && bench.targetedRequests.count == 1)
    }

    @Test("ends a caller's wait for a write when that is written, although later tokens are not")
    func writtenAndLater() throws {
        var bench = MachineBench()
        bench.advance(.seconds(900))
        bench.send(.renewalRequested(CallerID(2)))
        bench.send(.userReceived(UserSummary(id: "8"), raw: nil))
        bench.send(.writeRequested(CallerID(1)))
        try bench.provider(gives: "token-2")
        #expect(bench.answer(to: 1) == nil)
        let first = try #require(bench.saves.last)
        #expect(first.user?.id == "8" && first.generation == 1)
        bench.send(.saved(first.version))
        if case .done? = bench.answer(to: 1) {} else { Issue.record("the caller is not answered") }
        #expect(bench.answer(to: 2) == nil && bench.saves.last?.generation == 2)
    }

    @Test("answers a caller that waits for a write when the other has written first three times")
    func contestedWrite() throws {
        var bench = MachineBench()
        bench.send(.userReceived(UserSummary(id: "8"), raw: nil))
        bench.send(.writeRequested(CallerID(1)))
        for generation in UInt64(2)...4 {
            #expect(bench.answer(to: 1) == nil)
            try bench.storeHolds(record("theirs", generation: generation, refresh: "refresh \(generation)"))
        }
        if case .done? = bench.answer(to: 1) {} else { Issue.record("the caller is not answered") }
        #expect(bench.saves.last?.user?.id == "8" && bench.saves.last?.generation == 4)
    }

    @Test("drops the answer to a renewal that was overtaken by two of the other's")
    func overtaken() throws {
        var bench = MachineBench()
        bench.advance(.seconds(400))
        bench.send(.renewalRequested(CallerID(1)))
        bench.send(.storeChanged)
        bench.send(.compared(.success(record("theirs", generation: 3))))
        try bench.provider(gives: "late")
        #expect(bench.saves.isEmpty && bench.snapshot?.token == Secret("theirs"))
    }

    @Test("adopts other tokens of the store if its own are refused, and writes them as the newest")
    func refused() throws {
        var bench = MachineBench()
        bench.advance(.seconds(700))
        bench.send(.renewalRequested(CallerID(1)))
        try bench.provider(gives: "token-2")
        try bench.storeRefusesIt()
        bench.advance(.seconds(500))
        bench.send(.renewalRequested(CallerID(2)))
        try bench.storeRefusesIt()
        try bench.provider(fails: .invalidGrant)
        var theirs = MachineBench.record(
            token: "theirs", life: Self.life, at: .seconds(1100), refresh: "refresh of theirs")
        theirs.generation = 1
        bench.send(.storeReread(try #require(bench.requestsInFlight.last), .success(theirs)))
        #expect(bench.snapshot?.token == Secret("theirs"))
        bench.send(.storeReady)
        #expect(bench.saves.last?.tokens.accessToken == Secret("theirs"))
        #expect(bench.saves.last?.generation == 3)
    }

    enum Way { case compared, saveRefused, reread }

    @Test(
        "does not return a rejected token again if the other writes it with another refresh token, and renews it with that",
        arguments: [.compared, .saveRefused, .reread] as [Way])
    func rejectedThere(way: Way) throws {
        var bench = MachineBench()
        bench.advance(.seconds(100))
        bench.send(.rejected(CallerID(1), Secret("token-1")))
        bench.tokenRequested(2)
        let theirs = record("token-1", generation: 2, refresh: "refresh-2")
        switch way {
        case .compared:
            bench.send(.storeChanged)
            bench.send(.compared(.success(theirs)))
        case .saveRefused:
            bench.send(.defaultChosen())
            try bench.storeHolds(theirs)
            try bench.storeTakesIt()
        case .reread:
            try bench.provider(fails: .invalidGrant)
            bench.send(.storeReread(try #require(bench.requestsInFlight.last), .success(theirs)))
        }
        #expect(bench.answer(to: 1) == nil && bench.answer(to: 2) == nil)
        #expect(bench.snapshot?.token == nil)
        if bench.requestsInFlight.count == 1 { try bench.provider(fails: .invalidGrant) }
        #expect(bench.renewals.last?.tokens.refreshToken == Secret("refresh-2"))
        try bench.provider(gives: "token-2")
        try bench.storeTakesIt()
        #expect(bench.token(for: 2) == "token-2")
    }

    @Test("gives way to another sign-in that has replaced it there")
    func replaced() throws {
        var bench = MachineBench()
        bench.advance(.seconds(10))
        bench.send(.defaultChosen())
        try bench.storeHolds(MachineBench.otherSignIn(token: "theirs", life: Self.life, at: bench.elapsed))
        bench.tokenRequested(1)
        #expect(bench.token(for: 1) == "theirs")
        #expect(bench.saves.count == 1)
    }

    @Test(
        "waits for a renewal in progress if an older write of another program brings back the sign-in that it belongs to",
        arguments: [true, false])
    func broughtBack(isReplacedHere: Bool) throws {
        var bench = MachineBench()
        bench.advance(.seconds(1500))
        bench.tokenRequested(1)
        let former = try #require(bench.renewals.last)
        let other = MachineBench.otherSignIn(token: "other", life: Self.life, at: bench.elapsed)
        if isReplacedHere {
            bench.send(.replaced(other, sentAt: bench.now, revokesFormer: false))
            try bench.storeTakesIt()
        } else {
            bench.send(.storeChanged)
            bench.send(.compared(.success(other)))
        }
        #expect(bench.token(for: 1) == "other")
        bench.send(.storeChanged)
        bench.send(.compared(.success(former)))
        bench.tokenRequested(2)
        #expect(bench.requestsInFlight.count == 1)
        try bench.provider(gives: "token-2")
        try bench.storeTakesIt()
        #expect(bench.token(for: 2) == "token-2")
    }

    @Test("tries the other's tokens if it finds them after its own were refused and before that is final")
    func refusedAndCompared() throws {
        var bench = MachineBench()
        bench.advance(.seconds(1500))
        bench.tokenRequested(1)
        try bench.provider(fails: .invalidGrant)
        let request = try #require(bench.requestsInFlight.last)
        // Written at the same time as the current tokens, which were issued later.
        let theirs = MachineBench.record(
            token: "theirs", life: Self.life, at: .seconds(-100), refresh: "refresh of theirs")
        bench.send(.storeChanged)
        bench.send(.compared(.success(theirs)))
        bench.send(.storeReread(request, .success(theirs)))
        #expect(bench.failure(for: 1) == nil)
        #expect(bench.renewals.last?.tokens.refreshToken == Secret("refresh of theirs"))
        try bench.storeTakesIt()
        try bench.provider(gives: "token-2")
        try bench.storeTakesIt()
        #expect(bench.token(for: 1) == "token-2")
    }

    @Test("that is signed out while its write is refused is removed all the same")
    func signedOut() throws {
        var bench = MachineBench()
        bench.send(.defaultChosen())
        bench.send(.signOutRequested(CallerID(1)))
        try bench.storeHolds(record("theirs", generation: 2))
        #expect(bench.deletes == 1)
    }

    @Test("repeats a write once without a pause if it fails after the store has become ready")
    func readyDuringWrite() throws {
        var bench = MachineBench()
        bench.send(.userReceived(UserSummary(id: "8"), raw: nil))
        bench.send(.storeReady)
        try bench.storeRefusesIt(.notAnswering(after: .seconds(5)))
        #expect(bench.saves.count == 2)
        try bench.storeRefusesIt(.notAnswering(after: .seconds(5)))
        #expect(bench.saves.count == 2)
    }
}
