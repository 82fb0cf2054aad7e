import AuthWire
import Testing

@testable import AuthCore

@Suite("The store, while sessions are moved to another one")
struct MovableStoreTests {
    private let old = MemoryStore()
    private let new = MemoryStore()

    private func record(_ session: String, signedIn: Double = 1_800_000_000) throws -> SessionRecord {
        SessionRecord(
            session: try SessionName(session), provider: "shop", environment: "production", method: "password",
            tokens: TokenSet(accessToken: Secret("token"), issuedAt: WallTime(unixSeconds: signedIn)), user: nil,
            rawUser: nil, signedInAt: WallTime(unixSeconds: signedIn))
    }

    private func names(_ store: MemoryStore) async throws -> [String] { try await store.names().map(\.session.text) }

    @Test("a write that comes meanwhile waits, and lands in the new one")
    func waits() async throws {
        let store = MovableStore(old)
        let late = try record("late")
        try await withThrowingTaskGroup(of: Void.self) { group in
            try await store.move { [new] _ throws(AgentError) in
                group.addTask { try await store.save(late) }
                return new
            }
            try await group.waitForAll()
        }
        #expect(try await names(old).isEmpty)
        #expect(try await names(new) == ["late"])
        #expect(try await store.load(late.session) == late)
    }

    @Test("a move that fails leaves everything where it was, and another may begin")
    func fails() async throws {
        let store = MovableStore(old)
        try await store.save(record("work"))
        await #expect(throws: AgentError.stopping) {
            try await store.move { _ throws(AgentError) in throw .stopping }
        }
        try await store.save(record("home"))
        #expect(try await names(old) == ["home", "work"])
        try await store.move { [new] _ throws(AgentError) in new }
        #expect(store.present as? MemoryStore === new)
    }

    @Test("copies everything and the outbox's key, and removes it from the old one only afterwards")
    func copies() async throws {
        for name in ["home", "work"] { try await old.save(record(name)) }
        try await old.keep(Secret("key"), for: .outbox)
        try await old.keep(Secret("we"), for: .client(provider: "example"))
        let move = StoreMove(source: old, target: new)
        let moved = try await move.copy()
        #expect(try await names(old) == ["home", "work"])
        #expect(try await names(new) == ["home", "work"])
        #expect(try await new.key(for: .outbox) == Secret("key"))
        #expect(try await new.key(for: .client(provider: "example")) == nil)
        #expect(await move.clear(moved).isEmpty)
        #expect(try await names(old).isEmpty)
    }

    @Test("stops before anything is written where a name has another sign-in there, and writes over what a kill left")
    func conflicts() async throws {
        for name in ["home", "work"] { try await old.save(record(name)) }
        try await new.save(record("work", signedIn: 1_700_000_000))
        await #expect(throws: AgentError.self) { _ = try await StoreMove(source: old, target: new).copy() }
        #expect(try await names(new) == ["work"])
        var left = try record("work")
        left.revision = 0
        try await new.save(left)
        _ = try await StoreMove(source: old, target: new).copy()
        #expect(try await new.load(left.session) == record("work"))
    }
}
