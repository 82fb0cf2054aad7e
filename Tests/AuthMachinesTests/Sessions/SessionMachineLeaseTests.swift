import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("A session that hosts share")
struct SessionMachineLeaseTests {
    /// Asked for a renewal, with a token that has ended or has not.
    private func renewing(isOver: Bool = true) -> MachineBench {
        var bench = MachineBench()
        bench.send(.shared(true))
        bench.advance(.seconds(isOver ? 1001 : 500))
        bench.send(.renewalRequested(CallerID(1)))
        bench.tokenRequested(2)
        return bench
    }

    @Test("uses what another host has renewed while this one waited, and sends nothing")
    func overtaken() throws {
        var bench = renewing()
        let stored = MachineBench.record(token: "theirs", life: .seconds(1000), at: bench.elapsed, revision: 2)
        bench.send(.overtaken(try #require(bench.requestsInFlight.last), stored))
        #expect(bench.token(for: 2) == "theirs")
        guard case .done = bench.answer(to: 1) else {
            Issue.record("\(String(describing: bench.answer(to: 1)))")
            return
        }
        #expect(bench.requestsInFlight.count == 1 && bench.saves.isEmpty)
    }

    @Test("ends if another host has signed out while this one waited")
    func gone() throws {
        var bench = renewing()
        bench.send(.overtaken(try #require(bench.requestsInFlight.last), nil))
        // Nothing is sent until that is known.
        #expect(bench.comparisons == 1 && bench.requestsInFlight.count == 1)
        bench.send(.compared(.success(nil), absence: .removed))
        #expect(bench.failure(for: 2)?.kind == .notSignedIn && bench.forgotten)
    }

    @Test("ends without a pause if another host has signed out while new tokens were written")
    func removedDuringWrite() throws {
        var bench = renewing()
        try bench.provider(gives: "ours")
        try bench.storeRefusesIt(.cluster(.removed))
        #expect(bench.comparisons == 1)
        bench.send(.compared(.success(nil), absence: .removed))
        #expect(bench.forgotten)
    }

    @Test(
        "reads a change by another host without a pause if a write fails, before the report or after it, and only once",
        arguments: [.heldElsewhere, .unreachable(reason: "no route"), .noQuorum] as [ClusterFault], [true, false])
    func changedDuringPause(fault: ClusterFault, isReportedFirst: Bool) throws {
        var bench = renewing()
        try bench.provider(gives: "ours")
        if isReportedFirst { bench.send(.storeChanged) }
        try bench.storeRefusesIt(.cluster(fault))
        if !isReportedFirst { bench.send(.storeChanged) }
        #expect(bench.comparisons == 1 && bench.saves.count == 1)
        var other = bench
        other.send(.compared(.failure(.cluster(fault))))
        #expect(other.comparisons == 1 && other.saves.count == 1)
        bench.send(.compared(.success(nil), absence: .removed))
        #expect(bench.forgotten)
    }

    @Test("is compared again before it ends if its record was missing, and another change was reported meanwhile")
    func missingMeanwhile() {
        var bench = MachineBench()
        bench.send(.shared(true))
        let record = bench.machine.record
        for comparisons in [1, 3] {
            bench.send(.storeChanged)
            #expect(bench.comparisons == comparisons)
            bench.send(.storeChanged)
            bench.send(.compared(.success(nil), absence: .removed))
            #expect(bench.comparisons == comparisons + 1 && !bench.forgotten)
            bench.send(comparisons == 1 ? .compared(.success(record)) : .compared(.success(nil), absence: .removed))
        }
        #expect(bench.forgotten)
    }

    @Test("sends nothing while it is compared again because its record was missing")
    func missingTwice() throws {
        var bench = renewing()
        bench.send(.overtaken(try #require(bench.requestsInFlight.last), nil))
        bench.send(.storeChanged)
        bench.send(.compared(.success(nil), absence: .removed))
        #expect(bench.comparisons == 2 && bench.requestsInFlight.count == 1 && !bench.forgotten)
        bench.send(.compared(.success(nil), absence: .removed))
        #expect(bench.forgotten)
    }

    @Test("is compared without a pause once everything was read again after etcd went back")
    func afterRestore() {
        var bench = MachineBench()
        bench.send(.shared(true))
        bench.send(.storeChanged)
        for comparisons in 1...4 {
            bench.send(.compared(.failure(.cluster(.wentBack))))
            #expect(bench.comparisons == comparisons)
            bench.send(.storeChanged)
            #expect(bench.comparisons == comparisons + 1)
        }
        // Reported before the response arrives.
        bench.send(.storeChanged)
        #expect(bench.comparisons == 5)
        bench.send(.compared(.failure(.cluster(.wentBack))))
        #expect(bench.comparisons == 6)
        // Any other failure has a pause.
        bench.send(.storeChanged)
        bench.send(.compared(.failure(.cluster(.contended))))
        #expect(bench.comparisons == 6)
    }

    @Test("writes without a pause if everything was read again before a write has failed because etcd went back")
    func writeAcrossRestore() throws {
        var bench = renewing()
        let former = bench.machine.record
        try bench.provider(gives: "ours")
        for writes in 1...4 {
            try bench.storeRefusesIt(.cluster(.unreachable(reason: "no route")))
            bench.advance(.seconds(8))
            bench.send(.wake)
            #expect(bench.saves.count == writes + 1)
        }
        // Reported after everything was read, while the write that began before is in progress.
        bench.send(.storeChanged)
        #expect(bench.comparisons == 0)
        try bench.storeRefusesIt(.cluster(.wentBack))
        #expect(bench.comparisons == 1 && bench.saves.count == 5)
        bench.send(.compared(.success(former)))
        #expect(bench.saves.count == 6 && bench.saves.last?.tokens.accessToken == Secret("ours"))
    }

    @Test("waits for the report after a restore if a write has failed because etcd went back")
    func writeBeforeReport() throws {
        var bench = renewing()
        try bench.provider(gives: "ours")
        try bench.storeRefusesIt(.cluster(.wentBack))
        #expect(bench.comparisons == 0 && bench.saves.count == 1)
        bench.send(.storeChanged)
        #expect(bench.comparisons == 1 && bench.saves.count == 1)
    }

    @Test("begins again if what another host has stored has ended, too")
    func overtakenByOld() throws {
        var bench = renewing()
        bench.send(
            .overtaken(
                try #require(bench.requestsInFlight.last),
                MachineBench.record(token: "theirs", life: .seconds(1000), revision: 2)))
        #expect(bench.requestsInFlight.count == 2 && bench.renewals.last?.generation == 2)
        #expect(bench.token(for: 2) == nil)
    }

    @Test("is stale with the cause if no hold was granted, and tries again when etcd is back")
    func notSent() throws {
        var bench = renewing()
        bench.send(.notSent(try #require(bench.requestsInFlight.last), .cluster(.unreachable(reason: "no"))))
        #expect(bench.failure(for: 2)?.cause == "cluster_unreachable")
        #expect(bench.snapshot?.status.state == .stale && bench.snapshot?.status.cause == "cluster_unreachable")
        // Neither at once nor without end.
        let wake = try #require(bench.wakeAt) - bench.now.boot
        #expect(wake >= .seconds(2) && wake <= .seconds(5))
        bench.send(.storeReady)
        let soon = try #require(bench.wakeAt) - bench.now.boot
        #expect(soon <= .seconds(2))
        _ = try bench.sleepUntilWake()
        #expect(bench.requestsInFlight.count == 2)
    }

    @Test("asks more and more rarely while etcd refuses, and soon again while another host renews")
    func refusedOften() throws {
        var bench = renewing()
        func pause(after error: ClusterFault) throws -> Duration {
            bench.send(.notSent(try #require(bench.requestsInFlight.last), .cluster(error)))
            let pause = try #require(bench.wakeAt) - bench.now.boot
            _ = try bench.sleepUntilWake()
            return pause
        }
        let pauses = try (1...8).map { _ in try pause(after: .denied(reason: "no permission")) }
        #expect(pauses[0] <= .seconds(5) && pauses[5] >= .seconds(30) && pauses.allSatisfy { $0 <= .seconds(60) })
        #expect(try pause(after: .heldElsewhere) <= .seconds(5))
        #expect(try pause(after: .denied(reason: "no permission")) <= .seconds(5))
    }

    @Test("tries again as soon as planned after a refused hold, though another host has corrected the dates")
    func correctedDuringPause() throws {
        var bench = renewing(isOver: false)
        bench.send(.notSent(try #require(bench.requestsInFlight.last), .cluster(.denied(reason: "no permission"))))
        let wake = try #require(bench.wakeAt)
        bench.setClock(by: .seconds(600))
        #expect(bench.wakeAt == wake)
    }

    @Test("keeps a valid token if no hold was granted")
    func notSentYet() throws {
        var bench = renewing(isOver: false)
        bench.send(.notSent(try #require(bench.requestsInFlight.last), .cluster(.noQuorum)))
        bench.tokenRequested(3)
        #expect(bench.token(for: 3) == "token-1" && bench.snapshot?.status.state == .active)
    }

    @Test("drops its own result for that of a later holder, whatever the dates are")
    func saveOvertaken() throws {
        var bench = renewing()
        try bench.provider(gives: "mine")
        let stored = MachineBench.record(token: "theirs", life: .seconds(500), at: bench.elapsed, revision: 2)
        bench.send(.saveOvertaken(try #require(bench.saves.last).version, stored))
        #expect(bench.token(for: 2) == "theirs")
        #expect(bench.machine.record.tokens.refreshToken == stored.tokens.refreshToken)
        #expect(bench.saves.count == 1)
    }

    @Test("drops its own result even if an earlier write, of corrected dates, shows that another host has renewed")
    func earlierWriteOvertaken() throws {
        var bench = renewing()
        bench.setClock(by: .seconds(600))
        let corrected = try #require(bench.saves.last).version
        try bench.provider(gives: "mine")
        var stored = MachineBench.record(token: "theirs", life: .seconds(1500), at: bench.elapsed, revision: 2)
        stored.generation = corrected.generation + 1
        bench.send(.saveOvertaken(corrected, stored))
        #expect(bench.token(for: 2) == "theirs")
        #expect(bench.machine.record.tokens.areSame(as: stored.tokens))
        #expect(bench.saves.allSatisfy { $0.tokens.accessToken != Secret("mine") })
    }

    @Test("ends its renewal if its tokens are stored, and another host has only corrected their dates")
    func storedBefore() throws {
        var bench = renewing()
        try bench.provider(gives: "mine")
        var stored = try #require(bench.saves.last)
        stored.corrections += 1
        stored.tokens.issuedAt = stored.tokens.issuedAt + .seconds(5)
        try bench.storeHolds(stored)
        #expect(bench.token(for: 2) == "mine")
        // A higher generation would look like another renewal.
        #expect(bench.machine.record.version == stored.version && bench.saves.count == 1)
    }

    @Test(
        "keeps the later of two results if a host without etcd has also renewed it, even if a clock was set",
        arguments: [-20, 20], [true, false])
    func renewedTwice(seconds: Int, isSetHere: Bool) throws {
        var bench = renewing()
        try bench.provider(gives: "mine")
        try bench.storeRefusesIt(.cluster(.unreachable(reason: "no route")))
        // The dates of the unwritten tokens are corrected, or those of the stored ones.
        if isSetHere { bench.setClock(by: .seconds(600)) }
        var stored = MachineBench.record(token: "theirs", life: .seconds(1000), at: bench.elapsed, revision: 2)
        stored.tokens.issuedAt = bench.now.wall + .seconds(seconds)
        stored.corrections = isSetHere ? 0 : 1
        bench.send(.storeChanged)
        bench.send(.compared(.success(stored)))
        bench.tokenRequested(3)
        #expect(bench.token(for: 3) == (seconds > 0 ? "theirs" : "mine"))
        let written = bench.saves.last { $0.generation > stored.generation }
        #expect(written?.tokens.accessToken == (seconds > 0 ? nil : Secret("mine")))
    }

    @Test("is renewed later by a host that has read its token than by the one that has renewed it")
    func later() throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            var reader = MachineBench(seed: seed)
            reader.send(.shared(true))
            let due = try reader.sleepUntilWake()
            #expect((.seconds(870)...Duration.seconds(950)).contains(due), "\(due)")
            try reader.provider(gives: "token-2")
            try reader.storeTakesIt()
            let next = try reader.sleepUntilWake() - due
            #expect((.seconds(650)...Duration.seconds(851)).contains(next), "\(next)")
        }
    }

    @Test(
        "lives as long as before on a host that has read its token, however its clock is set", arguments: [-600, 600])
    func clockOfReader(seconds: Int) throws {
        var bench = MachineBench()
        bench.send(.shared(true))
        bench.advance(.seconds(100))
        let wake = bench.wakeAt
        bench.setClock(by: .seconds(seconds))
        #expect(bench.wakeAt == wake && bench.requestsInFlight.isEmpty)
        #expect(bench.snapshot?.status.expiresAt == MachineBench.t0 + Double(seconds) + 1000)
        bench.advance(.seconds(899))
        bench.tokenRequested(1, minValid: .zero)
        #expect(bench.token(for: 1) == "token-1")
    }

    @Test(
        "is written with what is left of its token, if the clock was set since the request",
        arguments: [-600, 600], [true, false])
    func clockBeforeWrite(seconds: Int, isAnswered: Bool) throws {
        var bench = renewing()
        let sentAt = bench.now
        bench.advance(.seconds(10))
        if !isAnswered {
            bench.setClock(by: .seconds(seconds))
            try bench.storeTakesIt()
        }
        try bench.provider(gives: "ours", sentAt: sentAt)
        if isAnswered {
            try bench.storeRefusesIt(.cluster(.unreachable(reason: "no route")))
            bench.setClock(by: .seconds(seconds))
            bench.send(.storeReady)
        }
        let tokens = try #require(bench.saves.last).tokens
        #expect(tokens.issuedAt == sentAt.wall + .seconds(seconds))
        #expect(tokens.expiresAt == bench.now.wall + .seconds(990))
        try bench.storeTakesIt()
        bench.advance(.seconds(989))
        bench.tokenRequested(3, minValid: .zero)
        #expect(bench.token(for: 3) == "ours")
        bench.advance(.seconds(2))
        bench.send(.wake)
        #expect(bench.snapshot?.token == nil)
    }

    @Test("has the dates of the present clock if the write during which it was set failed", arguments: [-600, 600])
    func clockDuringFailedWrite(seconds: Int) throws {
        var bench = renewing()
        try bench.provider(gives: "ours")
        bench.setClock(by: .seconds(seconds))
        try bench.storeRefusesIt(.cluster(.unreachable(reason: "no route")))
        bench.send(.storeReady)
        #expect(bench.saves.map(\.tokens.issuedAt) == [bench.now.wall + .seconds(-seconds), bench.now.wall])
        #expect(bench.saves.last?.tokens.expiresAt == bench.now.wall + .seconds(1000))
    }

    @Test("has the dates of the present clock after a write during which it was set", arguments: [-600, 600])
    func clockDuringWrite(seconds: Int) throws {
        var bench = renewing()
        try bench.provider(gives: "ours")
        bench.setClock(by: .seconds(seconds))
        try bench.storeTakesIt()
        // The corrected dates follow.
        #expect(bench.saves.map(\.tokens.issuedAt) == [bench.now.wall + .seconds(-seconds), bench.now.wall])
        #expect(bench.snapshot?.status.expiresAt == bench.now.wall.unixSeconds + 1000)
        #expect(bench.wakeAt.map { $0 - bench.now.boot > .seconds(600) } == true)
    }

    @Test("sends no refresh token that the others do not have yet")
    func unwrittenRefreshToken() throws {
        var bench = renewing()
        try bench.provider(gives: "ours")
        try bench.storeRefusesIt(.cluster(.unreachable(reason: "no route")))
        bench.send(.renewalRequested(CallerID(3)))
        #expect(bench.requestsInFlight.count == 1 && bench.saves.count == 2)
        try bench.storeTakesIt()
        #expect(bench.requestsInFlight.count == 2)
        #expect(bench.renewals.last?.tokens.refreshToken == Secret("refresh of ours"))
    }

    @Test("sends a refresh token that stays the same, even while etcd cannot be reached")
    func unwrittenAccessToken() throws {
        var bench = renewing()
        let grant = Grant(
            accessToken: Secret("ours"), issuedAt: bench.now.wall, expiresAt: bench.now.wall + .seconds(1000))
        bench.send(.requestEnded(try #require(bench.requestsInFlight.last), .success(grant), sentAt: bench.now))
        try bench.storeRefusesIt(.cluster(.unreachable(reason: "no route")))
        bench.send(.renewalRequested(CallerID(3)))
        #expect(bench.requestsInFlight.count == 2)
    }

    @Test("requests no further hold while the store has an earlier sign-in, until it accepts this one")
    func unwrittenSignIn() throws {
        let tooLarge = StoreError.cluster(.tooLarge(bytes: 2, limit: 1))
        var bench = MachineBench(fresh: true)
        bench.send(.shared(true))
        try bench.storeRefusesIt(tooLarge)
        bench.send(.renewalRequested(CallerID(1)))
        let stored = MachineBench.otherSignIn(token: "theirs", life: .seconds(1000), at: bench.elapsed)
        bench.send(.overtaken(try #require(bench.requestsInFlight.last), stored))
        #expect(bench.failure(for: 1) == AgentError(tooLarge))
        while bench.saves.count == 1 { _ = try bench.sleepUntilWake() }
        #expect(bench.requestsInFlight.count == 1)
    }

    @Test("renews a new sign-in although the record of the former one was missing")
    func replacedWhileMissing() throws {
        var bench = renewing()
        bench.send(.overtaken(try #require(bench.requestsInFlight.last), nil))
        let new = MachineBench.otherSignIn(token: "new", life: .seconds(1000), at: bench.elapsed)
        bench.send(.replaced(new, sentAt: bench.now, revokesFormer: false))
        bench.send(.renewalRequested(CallerID(3)))
        #expect(bench.requestsInFlight.count == 2)
    }
}
