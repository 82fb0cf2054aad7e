import AuthKeyring
import AuthModel
import AuthWire
import GLibRuntime
import Testing

/// What other programs see of a session in the keyring.
@Suite("A session in the keyring", .timeLimit(.minutes(2)))
struct SecretServiceItemTests {
    private func withStore(
        _ body: sending (SecretServiceStore, PrivateKeyring) async throws -> Void
    ) async throws {
        try await PrivateKeyring.with { keyring in
            let thread = try GLibThread()
            defer { thread.stop() }
            let store = SecretServiceStore(on: thread, address: keyring.address, limit: PrivateKeyring.timeout) {
                $0 == "app-template" ? "App template" : nil
            }
            try await body(store, keyring)
        }
    }

    @Test("has a label for the user, and attributes for programs")
    func looks() async throws {
        try await withStore { store, keyring in
            try await store.save(record())
            let seen = try await keyring.search()
            #expect(seen.contains("label = authd: ada@example.org at App template (work)"))
            #expect(seen.contains("attribute.application = authd"))
            #expect(seen.contains("attribute.session = work"))
            #expect(seen.contains("attribute.provider = app-template"))
            #expect(seen.contains("schema = authd.Session"))
        }
    }

    @Test("stays one item through a hundred rotations")
    func rotates() async throws {
        try await withStore { store, keyring in
            for revision in 1...100 as ClosedRange<UInt64> {
                try await store.save(record(token: "access-\(revision)", revision: revision))
            }
            let seen = try await keyring.search()
            #expect(seen.filter { $0.hasPrefix("label = ") }.count == 1)
            #expect(seen.contains { $0.contains("access-100") })
        }
    }

    @Test("is reported by name if its value is damaged, without the value, and is not removed")
    func damaged() async throws {
        try await withStore { store, keyring in
            let whole = try record("whole")
            try await store.save(whole)
            try await keyring.damage(session: "broken")
            let all = try await store.loadAll()
            #expect(all.records == [whole])
            #expect(all.damaged.map(\.session) == ["broken"])
            #expect(all.damaged.allSatisfy { !$0.reason.contains("tell-nobody") })
            let error = await #expect(throws: StoreError.self) { try await store.load(SessionName("broken")) }
            #expect(!String(reflecting: error).contains("tell-nobody"))
            #expect(try await keyring.search().contains("attribute.session = broken"))
        }
    }

    @Test("that another program changes or removes is reported by name")
    func changes() async throws {
        try await withStore { store, keyring in
            try await store.save(record())
            var changes = store.changes().makeAsyncIterator()
            let work = try SessionName("work")
            let thread = try GLibThread()
            defer { thread.stop() }
            let other = SecretServiceStore(on: thread, address: keyring.address, limit: PrivateKeyring.timeout)
            try await other.save(record(token: "access-2", revision: 2))
            #expect(await changes.next() == work)
            try await other.delete(work)
            #expect(await changes.next() == work)
            #expect(try await store.load(work) == nil)
        }
    }

    @Test("is found by another store, as after a restart")
    func restarts() async throws {
        try await withStore { store, keyring in
            let saved = try record()
            try await store.save(saved)
            let thread = try GLibThread()
            defer { thread.stop() }
            let other = SecretServiceStore(on: thread, address: keyring.address, limit: PrivateKeyring.timeout)
            #expect(try await other.load(saved.session) == saved)
        }
    }
}
