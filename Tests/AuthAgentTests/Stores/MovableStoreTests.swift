import AuthModel
import AuthWire
import Testing

@testable import AuthAgent

@Suite("The store, while sessions are moved to another one")
struct MovableStoreTests {
    private let old = MemoryStore()
    private let new = MemoryStore()

    private func record(
        _ session: String, at provider: String = "shop", signedIn: Double = 1_800_000_000
    ) throws -> SessionRecord {
        SessionRecord(
            session: try SessionName(session), provider: provider, environment: "production", method: "password",
            tokens: TokenSet(accessToken: Secret("token"), issuedAt: WallTime(unixSeconds: signedIn)), user: nil,
            rawUser: nil, signedInAt: WallTime(unixSeconds: signedIn))
    }

    private func names(_ store: MemoryStore) async throws -> [String] { try await store.names().map(\.session.text) }

    private func copy(_ move: StoreMove) async throws -> [String] { try await move.copy(move.plan().records) }

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

    @Test("a call that is cancelled while sessions are moved ends, and is not made")
    func cancelledCall() async throws {
        let (store, hold) = (MovableStore(old), Hold())
        let late = try record("late")
        async let moved: Void = store.move { [new] _ throws(AgentError) in
            await hold.pass()
            return new
        }
        await hold.isReached()
        let save = Task { try await store.save(late) }
        save.cancel()
        await #expect(throws: StoreError.self) { try await save.value }
        hold.release()
        try await moved
        #expect(try await store.names().isEmpty)
    }

    @Test("a move that is cancelled while it waits for a call ends, and another may begin")
    func cancelledMove() async throws {
        let slow = SlowStore()
        let store = MovableStore(slow)
        let load = Task { try await store.loadAll() }
        await slow.hold.isReached()
        let move = Task { [new] in try await store.move { _ throws(AgentError) in new } }
        move.cancel()
        await #expect(throws: AgentError.callerGone) { try await move.value }
        slow.hold.release()
        _ = try await load.value
        try await store.move { [new] _ throws(AgentError) in new }
        #expect(store.present as? MemoryStore === new)
    }

    @Test("copies everything and the outbox's key, and removes it from the old one only afterwards")
    func copies() async throws {
        for name in ["home", "work"] { try await old.save(record(name)) }
        try await old.save(Secret("key"), for: .outbox)
        try await old.save(Secret("we"), for: .client(provider: "example"))
        _ = try await copy(StoreMove(source: old, target: new))
        #expect(try await names(old) == ["home", "work"])
        #expect(try await names(new) == ["home", "work"])
        #expect(try await new.key(for: .outbox) == Secret("key"))
        #expect(try await new.key(for: .client(provider: "example")) == nil)
    }

    @Test("names registered clients that cannot be read, without the names that a program may not see")
    func damagedClients() async throws {
        let source = DamagedClientStore()
        for name in ["home", "work"] {
            var signedIn = try record(name)
            signedIn.client = try RegisteredClient(
                .object(["client_id": "we"]), issuer: "https://shop.example.org", mayBeInsecure: false)
            try await source.save(signedIn)
        }
        try await source.save(Secret("key"), for: .outbox)
        #expect(try await copy(StoreMove(source: source, target: new)) == ["shop (no end)"])
        #expect(try await names(new) == ["home", "work"])
        #expect(try await new.key(for: .outbox) == Secret("key"))
        #expect(try await new.key(for: .client(provider: "shop")) == nil)
        for (hidden, named) in [(["home"], "shop (no end)"), (["home", "work"], "a provider")] {
            let names = SessionNames(without: { hidden.contains($0.text) })
            let move = StoreMove(source: source, target: new, names: names)
            #expect(try await copy(move) == [named])
        }
        for name in ["forge", "wiki"] {
            var signedIn = try record(name, at: name)
            signedIn.client = try RegisteredClient(
                .object(["client_id": "we"]), issuer: "https://\(name).example.org", mayBeInsecure: false)
            try await source.save(signedIn)
        }
        for (hidden, named) in [
            (["wiki"], ["forge (no end)", "shop (no end)", "another provider"]),
            (["forge", "wiki"], ["shop (no end)", "2 other providers"]),
            (["forge", "home", "wiki", "work"], ["3 providers"]),
        ] {
            let names = SessionNames(without: { hidden.contains($0.text) })
            let move = StoreMove(source: source, target: new, names: names)
            #expect(try await copy(move) == named)
        }
    }

    /// What is left to remove of a move of sessions named `copies`, which both stores hold.
    private func unfinished(_ copies: [String]) async throws -> UnfinishedMove {
        var move = UnfinishedMove(from: .secretService, to: .sealedFile, phase: .removing, copies: [])
        for name in copies {
            let moved = try record(name)
            try await old.save(moved)
            try await new.save(moved)
            move.copies.append(UnfinishedMove.Copy(moved))
        }
        return move
    }

    @Test("a move finished later removes its copies, even of sessions renewed or signed out since, and no more")
    func finishes() async throws {
        let move = try await unfinished(["home", "out", "renewed"])
        var renewed = try record("renewed")
        renewed.revision += 1
        try await new.save(renewed)
        try await new.delete(SessionName("out"))
        try await old.save(record("another"))
        #expect(await StoreMove.removeCopies(of: move, from: old, sessionsIn: new).isEmpty)
        #expect(try await names(old) == ["another"])
        #expect(try await names(new) == ["home", "renewed"])
    }

    @Test("a sign-in or renewal in the old store since the move is not a copy, and stays")
    func keepsChanged() async throws {
        let move = try await unfinished(["again", "renewed"])
        try await old.save(record("again", signedIn: 1_900_000_000))
        var renewed = try record("renewed")
        renewed.revision += 1
        try await old.save(renewed)
        #expect(await StoreMove.removeCopies(of: move, from: old, sessionsIn: new).isEmpty)
        #expect(try await names(old) == ["again", "renewed"])
    }

    @Test("nothing is removed while one of the stores cannot be read; it is done later")
    func keepsUnasked() async throws {
        let move = try await unfinished(["home"])
        #expect(await StoreMove.removeCopies(of: move, from: old, sessionsIn: LockedStore()) == move.copies)
        #expect(await StoreMove.removeCopies(of: move, from: LockedStore(), sessionsIn: new) == move.copies)
        #expect(try await names(old) == ["home"])
    }

    @Test("stops before anything is written if a name has another sign-in there, and replaces what a kill left")
    func conflicts() async throws {
        for name in ["home", "work"] { try await old.save(record(name)) }
        try await new.save(record("work", signedIn: 1_700_000_000))
        let refusal = await #expect(throws: AgentError.self) {
            _ = try await copy(StoreMove(source: old, target: new))
        }
        #expect(refusal?.message.contains("session work") == true)
        #expect(try await names(new) == ["work"])
        // For a program that may not see it.
        let hidden = await #expect(throws: AgentError.self) {
            let names = SessionNames(without: { $0.text == "work" })
            _ = try await copy(StoreMove(source: old, target: new, names: names))
        }
        #expect(hidden?.kind == .conflict && hidden?.message.contains("work") == false)
        var left = try record("work")
        left.revision = 0
        try await new.save(left)
        _ = try await copy(StoreMove(source: old, target: new))
        #expect(try await new.load(left.session) == record("work"))
    }
}

private struct LockedStore: SessionStore {
    var kind: StoreKind { .secretService }

    func loadAll() async throws(StoreError) -> [StoredSession] { throw .locked }
    func names() async throws(StoreError) -> [StoredName] { throw .locked }
    func retryPrompts() async {}
    func load(_ session: SessionName) async throws(StoreError) -> SessionRecord? { throw .locked }
    func save(_ record: SessionRecord) async throws(StoreError) { throw .locked }
    func delete(_ session: SessionName) async throws(StoreError) { throw .locked }
    func states() -> AsyncStream<StoreState> { AsyncStream { $0.finish() } }
}

/// A store whose registered clients cannot be read.
private final class DamagedClientStore: SessionStore, KeyStore {
    private let inside = MemoryStore()
    var kind: StoreKind { .etcd }

    func loadAll() async throws(StoreError) -> [StoredSession] { try await inside.loadAll() }
    func names() async throws(StoreError) -> [StoredName] { try await inside.names() }
    func retryPrompts() async {}
    func load(_ session: SessionName) async throws(StoreError) -> SessionRecord? { try await inside.load(session) }
    func save(_ record: SessionRecord) async throws(StoreError) { try await inside.save(record) }
    func delete(_ session: SessionName) async throws(StoreError) { try await inside.delete(session) }
    func states() -> AsyncStream<StoreState> { inside.states() }
    func key(for purpose: KeyPurpose) async throws(StoreError) -> Secret? { try await inside.key(for: purpose) }
    func save(_ key: Secret, for purpose: KeyPurpose) async throws(StoreError) {
        try await inside.save(key, for: purpose)
    }
    func damage(ofKeyFor purpose: KeyPurpose) async throws(StoreError) -> String? {
        if case .client = purpose { "no end" } else { nil }
    }
}

/// A store that answers when the test lets it.
private final class SlowStore: SessionStore, KeyStore {
    let hold = Hold()
    var kind: StoreKind { .secretService }

    func loadAll() async throws(StoreError) -> [StoredSession] {
        await hold.pass()
        return []
    }
    func names() async throws(StoreError) -> [StoredName] { [] }
    func retryPrompts() async {}
    func load(_ session: SessionName) async throws(StoreError) -> SessionRecord? { nil }
    func save(_ record: SessionRecord) async throws(StoreError) {}
    func delete(_ session: SessionName) async throws(StoreError) {}
    func states() -> AsyncStream<StoreState> { AsyncStream { $0.yield(.ready) } }
    func key(for purpose: KeyPurpose) async throws(StoreError) -> Secret? { nil }
    func save(_ key: Secret, for purpose: KeyPurpose) async throws(StoreError) {}
}
