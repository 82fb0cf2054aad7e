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
            try await store.rekey(changes[way], current: nil)
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

    @Test("what opens them is changed only with the present passphrase; a wrong one changes nothing")
    func presentPassphrase() async throws {
        let place = try SealedPlace(.passphrase)
        let (new, wrong) = (Secret("another horse battery"), Secret("correct horse batterz"))
        let key = KeyChange.given(Secret(String(repeating: "k", count: 40)))
        try await place.start { store in
            try await store.unlock(with: Self.right)
            try await store.save(sample())
            let names = ["key", "index", "work.session"]
            let before = try names.map(place.bytes)
            for change in [.passphrase(new), key] {
                #expect(await refusal(of: change, store, nil) == .needsPassphrase(isNew: false))
                await #expect(throws: SealRefusal.needsPassphrase(isNew: false)) {
                    try await store.checkRekey(change, hasCurrent: false)
                }
                // This does not compare a passphrase.
                try await store.checkRekey(change, hasCurrent: true)
                #expect(await refusal(of: change, store, wrong) == .wrongPassphrase)
            }
            try await store.checkRekey(.sameOutside, hasCurrent: false)
            await #expect(throws: SealRefusal.tooShort) {
                try await store.checkRekey(.passphrase(Secret("short")), hasCurrent: true)
            }
            #expect(await refusal(of: .sameOutside, store, wrong) == .wrongPassphrase)
            let after = try names.map(place.bytes)
            #expect(after == before)
            #expect(await refusal(of: .sameOutside, store, nil) == nil)
            #expect(await refusal(of: .passphrase(new), store, Self.right) == nil)
            // The new one is the present one now.
            #expect(await refusal(of: key, store, Self.right) == .wrongPassphrase)
        }
        try await place.start { store in
            #expect(await refusal(store, Self.right) == .wrongPassphrase)
            #expect(await refusal(store, new) == nil)
            let records = try await store.loadAll().records
            #expect(try records == [sample()])
        }
    }

    @Test("a change that has ended halfway says so, and the same request is accepted again")
    func endedHalfway() async throws {
        let place = try SealedPlace(.passphrase)
        let new = Secret("another horse battery")
        try await place.start { store in
            try await store.unlock(with: Self.right)
            try await store.save(sample())
            // A file that cannot be read, after that of the session.
            let obstacle = place.path + "/zz.session"
            try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: false)
            let halfway = await refusal(of: .passphrase(new), store, Self.right)
            guard case .changed = halfway else {
                Issue.record("\(String(describing: halfway)) does not say that the passphrase has changed")
                return
            }
            try FileManager.default.removeItem(atPath: obstacle)
            let other = KeyChange.passphrase(Secret("a third horse battery"))
            #expect(await refusal(of: other, store, Self.right) == .wrongPassphrase)
            #expect(await refusal(of: .passphrase(new), store, Self.right) == nil)
        }
        try await place.start { store in
            #expect(await refusal(store, new) == nil)
            let records = try await store.loadAll().records
            #expect(try records == [sample()])
        }
    }

    private func refusal(of change: KeyChange, _ store: SealedFileStore, _ current: Secret?) async -> SealRefusal? {
        do throws(SealRefusal) {
            try await store.rekey(change, current: current)
            return nil
        } catch {
            return error
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
