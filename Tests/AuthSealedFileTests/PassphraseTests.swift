import AuthModel
import AuthSealedFile
import AuthWire
import Foundation
import TestSupport
import Testing

@Suite("Sealed files and their keys", .timeLimit(.minutes(1)))
struct PassphraseTests {
    private static let right = Secret("correct horse battery")

    private func refusal(_ store: SealedFileStore, _ passphrase: Secret?) async -> SealRefusal? {
        do throws(SealRefusal) {
            try await store.unlock(with: passphrase)
            return nil
        } catch {
            return error
        }
    }

    @Test("a passphrase is chosen once, and only it opens them from then on")
    func passphrase() async throws {
        let place = try SealedPlace(.passphrase)
        try await place.start { store in
            await #expect(throws: StoreError.sealed) { _ = try await store.loadAll() }
            #expect(await refusal(store, nil) == .needsPassphrase(isNew: true))
            #expect(await refusal(store, Secret("short")) == .tooShort)
            #expect(await refusal(store, Self.right) == nil)
            try await store.save(sample())
        }
        try await place.start { store in
            #expect(await refusal(store, nil) == .needsPassphrase(isNew: false))
            #expect(await refusal(store, Secret("correct horse batterz")) == .wrongPassphrase)
            #expect(await refusal(store, Self.right) == nil)
            #expect(await refusal(store, nil) == nil)
            let records = try await store.loadAll().records
            #expect(try records == [sample()])
        }
    }

    @Test("without it they are locked, with known names, and it opens them with a report")
    func locked() async throws {
        let place = try SealedPlace(.passphrase)
        try await place.start { store in
            try await store.unlock(with: Self.right)
            try await store.save(sample())
            try await store.save(sample("home"))
        }
        let expected = [
            StoredName(session: try SessionName("home"), provider: "app-template"),
            StoredName(session: try SessionName("work"), provider: "app-template"),
        ]
        try await place.start { store in
            var states = store.states().makeAsyncIterator()
            #expect(await states.next() == .locked)
            #expect(try await store.names() == expected)
            await #expect(throws: StoreError.sealed) { try await store.save(sample("work", revision: 2)) }
            try await store.unlock(with: Self.right)
            #expect(await states.next() == .ready)
        }
    }

    @Test("rekeying reseals every file, with the same or another kind of key", arguments: [0, 1, 2])
    func rekey(way: Int) async throws {
        let place = try SealedPlace()
        let other = String(repeating: "k", count: 40)
        let changes: [KeyChange] = [.sameOutside, .passphrase(Self.right), .given(Secret(other))]
        let sources: [SealingSource] = [place.source, .passphrase, .key(other)]
        let before = try await filled(place)
        try await place.start { store in
            try await store.rekey(changes[way])
            #expect(try await store.loadAll().records == [sample("home"), sample("work")])
            try await store.save(sample("late"))
        }
        for (name, bytes) in before { #expect(try place.bytes(name) != bytes) }
        // What was sealed with the old key does not open any more.
        try place.put(before["work.session"], "work.session")
        try await place.start(sources[way]) { store in
            if way == 1 { try await store.unlock(with: Self.right) }
            let all = try await store.loadAll()
            #expect(try all.records == [sample("home"), sample("late")])
            #expect(all.damage["work"]?.contains("another key") == true)
            #expect(try await store.key(for: .outbox) == Secret("the key of the outbox, 32 bytes."))
        }
    }

    private func filled(_ place: SealedPlace) async throws -> [String: Data] {
        try await place.start { store in
            try await store.save(sample("work"))
            try await store.save(sample("home"))
            try await store.save(Secret("the key of the outbox, 32 bytes."), for: .outbox)
        }
        let names = ["work.session", "home.session", "outbox.key", "index", "key"]
        return try Dictionary(uniqueKeysWithValues: names.map { ($0, try place.bytes($0)) })
    }
}
