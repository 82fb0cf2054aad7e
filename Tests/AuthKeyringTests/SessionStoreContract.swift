import AuthAgent
import AuthKeyring
import AuthModel
import AuthSealedFile
import AuthWire
import EtcdTestSupport
import GLibRuntime
import TestSupport
import Testing

/// The promises of every store.
@Suite("A session store", .timeLimit(.minutes(2)))
struct SessionStoreContract {
    /// A store on real parts, created for each test.
    enum Kind: String, CaseIterable, CustomTestStringConvertible {
        case memory, gnomeKeyring, kwallet, sealedFile, etcd, etcd35

        var testDescription: String { rawValue }

        func with(_ body: sending (any SessionStore) async throws -> Void) async throws {
            switch self {
            case .memory: try await body(MemoryStore())
            case .sealedFile:
                let folder = try TemporaryFolder()
                try await body(
                    SealedFileStore(
                        folder: DurableFolder(path: folder.path + "/sessions"),
                        source: .given(name: "a key", read: { Secret("0123456789abcdef0123456789abcdef") }),
                        limit: PrivateKeyring.timeout))
            case .etcd, .etcd35:
                var options = EtcdMembers.Options()
                if self == .etcd35 { options.programs = try .pypi() }
                try await EtcdMembers.running(options) { members in
                    try await EtcdHost().start(at: members.endpoints) { store in try await body(store) }
                }
            case .gnomeKeyring:
                try await PrivateKeyring.with { keyring in
                    let thread = try GLibThread()
                    defer { thread.stop() }
                    try await body(
                        SecretServiceStore(on: thread, address: keyring.address, limit: PrivateKeyring.timeout))
                }
            case .kwallet:
                try await PrivateKeyring.with(daemon: false) { keyring in
                    try await keyring.startKWallet()
                    let thread = try GLibThread()
                    defer { thread.stop() }
                    try await body(try await openedKWallet(keyring, on: thread))
                }
            }
        }
    }

    @Test("returns every member of a saved record", arguments: Kind.allCases)
    func keepsAll(in kind: Kind) async throws {
        try await kind.with { store in
            let saved = try record()
            try await store.save(saved)
            #expect(try await store.load(saved.session) == saved)
            #expect(try await store.loadAll().records == [saved])
        }
    }

    @Test("reports a missing record when it is open", arguments: Kind.allCases)
    func absence(in kind: Kind) async throws {
        try await kind.with { store in
            let found = try await store.load(SessionName("nobody"))
            let all = try await store.loadAll()
            #expect(found == nil)
            #expect(all.isEmpty)
        }
    }

    @Test("has only the newest of several writes of a session", arguments: Kind.allCases)
    func replaces(in kind: Kind) async throws {
        try await kind.with { store in
            for revision in 1...5 as ClosedRange<UInt64> {
                try await store.save(record(token: "access-\(revision)", revision: revision))
            }
            let last = try record(token: "access-5", revision: 5)
            #expect(try await store.loadAll().records == [last])
        }
    }

    @Test("updates a record only with newer tokens of the same sign-in", arguments: Kind.allCases)
    func updates(in kind: Kind) async throws {
        try await kind.with { store in
            var former = try record(token: "access-1")
            former.generation = 1
            var newer = try record(token: "access-2")
            newer.generation = 2
            var other = try record(token: "access-3")
            other.signIn = .random()
            #expect(try await store.update(newer, replacesOther: false).stored == nil)
            #expect(try await store.update(former, replacesOther: false) == .refused(by: newer))
            #expect(try await store.update(other, replacesOther: false) == .refused(by: newer))
            #expect(try await store.loadAll().records == [newer])
            newer.generation = 3
            #expect(try await store.update(newer, replacesOther: false).stored == nil)
            #expect(try await store.loadAll().records == [newer])
            #expect(try await store.update(other, replacesOther: true).stored == nil)
            #expect(try await store.loadAll().records == [other])
        }
    }

    @Test("has one record of a session that moved to another provider", arguments: Kind.allCases)
    func changesProvider(in kind: Kind) async throws {
        try await kind.with { store in
            try await store.save(record(provider: "envelope"))
            let moved = try record(provider: "app-template", revision: 2)
            try await store.save(moved)
            #expect(try await store.loadAll().records == [moved])
            try await store.delete(moved.session)
            #expect(try await store.loadAll().isEmpty)
        }
    }

    @Test("removes only the named session", arguments: Kind.allCases)
    func deletes(in kind: Kind) async throws {
        try await kind.with { store in
            let kept = try record("kept")
            try await store.save(kept)
            try await store.save(record("gone"))
            try await store.delete(SessionName("gone"))
            #expect(try await store.load(SessionName("gone")) == nil)
            #expect(try await store.loadAll().records == [kept])
        }
    }

    @Test("accepts the removal of a missing record", arguments: Kind.allCases)
    func deletesNothing(in kind: Kind) async throws {
        try await kind.with { store in
            try await store.delete(SessionName("nobody"))
        }
    }

    @Test("accepts a hundred sessions at once", arguments: Kind.allCases)
    func manyAtOnce(in kind: Kind) async throws {
        try await kind.with { store in
            let records = try (100..<200).map { try record("s\($0)", token: "access-\($0)") }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for record in records { group.addTask { try await store.save(record) } }
                try await group.waitForAll()
            }
            #expect(try await store.loadAll().records == records)
        }
    }

    @Test("lists the names of its sessions", arguments: Kind.allCases)
    func names(in kind: Kind) async throws {
        try await kind.with { store in
            try await store.save(record("work", provider: "envelope"))
            try await store.save(record("home", provider: "app-template"))
            let expected = [
                StoredName(session: try SessionName("home"), provider: "app-template"),
                StoredName(session: try SessionName("work"), provider: "envelope"),
            ]
            #expect(try await store.names() == expected)
        }
    }

    @Test("reports that it is ready", arguments: Kind.allCases)
    func ready(in kind: Kind) async throws {
        try await kind.with { store in
            #expect(await store.states().reaches(.ready))
        }
    }
}
