import AuthKeyring
import AuthModel
import AuthWire
import GLibRuntime
import TestSupport
import Testing

/// A Secret Service that misbehaves on command, each time after a session was written: what is reported, and that nothing is
/// lost.
@Suite("When a keyring service", .timeLimit(.minutes(2)))
struct FaultyServiceTests {
    private typealias Body = (SecretServiceStore, PrivateKeyring) async throws -> Void

    /// For tests that wait until the limit passes. Other calls end before it, even on a slow machine.
    private static let reachedLimit = Duration.seconds(3)

    /// - Parameter limit: long, except for tests that wait for its end.
    private func with(
        _ mood: KeyringServices.Behaviour, limit: Duration = PrivateKeyring.timeout, _ body: sending Body
    ) async throws {
        try await PrivateKeyring.with(daemon: false) { keyring in
            try await keyring.startFaulty()
            let thread = try GLibThread()
            defer { thread.stop() }
            let store = SecretServiceStore(on: thread, address: keyring.address, limit: limit)
            #expect(await store.states().reaches(.ready))
            try await store.save(record())
            try await keyring.become(mood)
            try await body(store, keyring)
            // Afterwards everything is there, and writes are accepted.
            try await keyring.become(.well)
            await store.retryPrompts()
            #expect(await store.states().reaches(.ready))
            #expect(try await store.loadAll().records.map(\.session.text) == ["work"])
            let next = try record(token: "access-9", revision: 9)
            try await store.save(next)
            #expect(try await store.load(next.session) == next)
        }
    }

    @Test("locks, and the user unlocks it: callers are notified at once, and calls continue")
    func locked() async throws {
        try await with(.locked) { store, _ in
            let work = try SessionName("work")
            #expect(await store.states().reaches(.locked))
            await #expect(throws: StoreError.locked) { try await store.save(record(token: "access-2", revision: 2)) }
            #expect(await store.states().reaches(.ready))
            #expect(try await store.load(work)?.revision == 1)
        }
    }

    @Test("locks, and the user refuses: they are asked once, and not at every call")
    func dismissing() async throws {
        try await with(.dismissing) { store, keyring in
            let work = try SessionName("work")
            let states = store.states()
            await #expect(throws: StoreError.locked) { try await store.load(work) }
            #expect(await states.reaches(.denied))
            for _ in 1...3 {
                await #expect(throws: StoreError.dismissed) { try await store.load(work) }
            }
            #expect(try await keyring.prompts() == 1)
        }
    }

    @Test("locks, and no user answers: no call waits for that")
    func waiting() async throws {
        try await with(.waiting) { store, keyring in
            let work = try SessionName("work")
            for _ in 1...3 {
                await #expect(throws: StoreError.locked) { try await store.loadAll() }
                await #expect(throws: StoreError.locked) { try await store.delete(work) }
            }
            #expect(try await keyring.prompts() == 1)
        }
    }

    @Test("locks and shows no items: they are locked, not missing")
    func hiding() async throws {
        try await with(.hiding) { store, _ in
            let work = try SessionName("work")
            await #expect(throws: StoreError.locked) { try await store.load(work) }
            await #expect(throws: StoreError.locked) { try await store.loadAll() }
        }
    }

    @Test("locks and does not reply to searches: callers get `locked`, without waiting")
    func deaf() async throws {
        try await with(.deaf) { store, _ in
            let work = try SessionName("work")
            #expect(await store.states().reaches(.locked))
            await #expect(throws: StoreError.locked) { try await store.load(work) }
        }
    }

    @Test("does not reply to searches, reading the names waits for the limit only, and it is not reported as silent")
    func deafNames() async throws {
        try await with(.deaf, limit: .seconds(1)) { store, _ in
            let work = try SessionName("work")
            #expect(await store.states().reaches(.locked))
            await #expect(throws: StoreError.notAnswering(after: .seconds(1))) { try await store.names() }
            await #expect(throws: StoreError.locked) { try await store.load(work) }
        }
    }

    @Test("asks about each write, and the user agrees: items are written and removed")
    func asking() async throws {
        try await with(.asking) { store, keyring in
            let second = try record(token: "access-2", revision: 2)
            try await store.save(second)
            #expect(try await store.load(second.session) == second)
            try await store.save(record("other"))
            try await store.delete(SessionName("other"))
            #expect(try await store.load(SessionName("other")) == nil)
            #expect(try await keyring.prompts() == 3)
        }
    }

    @Test("asks about each write, and the user refuses: they are not asked again until they are present")
    func refusing() async throws {
        try await with(.refusing) { store, keyring in
            let work = try SessionName("work")
            for _ in 1...3 {
                await #expect {
                    try await store.save(record(token: "access-2", revision: 2))
                } throws: { error in
                    if case .denied = error as? StoreError { true } else { false }
                }
            }
            #expect(try await keyring.prompts() == 1)
            #expect(try await store.load(work)?.revision == 1)
        }
    }

    @Test(
        "asks about each write, and the user takes time: there is one prompt, and its write is not repeated")
    func slowPerson() async throws {
        try await with(.silentWrites, limit: Self.reachedLimit) { store, keyring in
            let second = try record(token: "access-2", revision: 2)
            for _ in 1...3 {
                await #expect(throws: StoreError.waiting) { try await store.save(second) }
            }
            #expect(await store.states().reaches(.waiting))
            #expect(try await keyring.prompts() == 1)
            let states = store.states()
            try await keyring.become(.agreeing)
            #expect(await states.reaches(.ready))
            try await store.save(second)
            #expect(try await keyring.prompts() == 1)
            #expect(try await store.load(second.session) == second)
        }
    }

    @Test("asks about a write, and locks before the user answers: it says so, and the user is asked again")
    func locksWhileItAsks() async throws {
        try await with(.silentWrites, limit: Self.reachedLimit) { store, keyring in
            let second = try record(token: "access-2", revision: 2)
            await #expect(throws: StoreError.waiting) { try await store.save(second) }
            #expect(await store.states().reaches(.waiting))
            let states = store.states()
            try await keyring.become(.waiting)
            #expect(await states.reaches(.locked))
            try await keyring.become(.asking)
            #expect(await states.reaches(.ready))
            try await store.save(second)
            #expect(try await store.load(second.session) == second)
            #expect(try await keyring.prompts() == 2)
        }
    }

    @Test("asks about the first write of a session that is signed out of before the user agrees: it is removed then")
    func signedOutBeforeAgreement() async throws {
        try await with(.silentWrites, limit: Self.reachedLimit) { store, keyring in
            let new = try record("new")
            await #expect(throws: StoreError.waiting) { try await store.save(new) }
            await #expect(throws: StoreError.waiting) { try await store.delete(new.session) }
            #expect(await store.states().reaches(.waiting))
            let states = store.states()
            try await keyring.become(.agreeing)
            #expect(await states.reaches(.ready))
            try await store.delete(new.session)
            #expect(try await store.load(new.session) == nil)
        }
    }

    @Test("returns an error for every call: it is reported, and items are not missing")
    func failing() async throws {
        try await with(.failing) { store, _ in
            let work = try SessionName("work")
            let isFailure = { (error: any Error) in
                if case .failed(let reason) = error as? StoreError { reason.contains("out of order") } else { false }
            }
            await #expect { try await store.load(work) } throws: { isFailure($0) }
            await #expect { try await store.save(record(revision: 2)) } throws: { isFailure($0) }
            await #expect { try await store.delete(work) } throws: { isFailure($0) }
        }
    }

    @Test("fails one call in twenty: callers do not notice")
    func flaky() async throws {
        try await with(.flaky) { store, _ in
            for revision in 2...40 as ClosedRange<UInt64> {
                let next = try record(token: "access-\(revision)", revision: revision)
                try await store.save(next)
                #expect(try await store.load(next.session) == next)
            }
        }
    }

    @Test("exits during a write: the write is missing, and the former item is intact afterwards")
    func dying() async throws {
        try await with(.well) { store, keyring in
            let work = try SessionName("work")
            let states = store.states()
            try await keyring.become(.dying)
            await #expect {
                try await store.save(record(token: "access-2", revision: 2))
            } throws: { error in
                if case .missing = error as? StoreError { true } else { false }
            }
            #expect(await states.reaches(.missing))
            try await keyring.startFaulty()
            #expect(await states.reaches(.ready))
            #expect(try await store.load(work) == record())
        }
    }
}
