import AuthConcurrency
import AuthFiles
import AuthModel
import AuthWire
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import AuthSealedFile

/// Tests of files, in addition to those of every store (SessionStoreContract).
@Suite("Sessions in sealed files", .timeLimit(.minutes(1)))
struct SealedFileStoreTests {
    /// Why a start with that key fails.
    private func failure(_ place: SealedPlace, _ source: SealingSource? = nil) async throws -> String? {
        try await place.start(source) { store in
            do throws(StoreError) {
                _ = try await store.loadAll()
                return nil
            } catch {
                if case .failed(let reason) = error { return reason }
                return "\(error)"
            }
        }
    }

    @Test("are there at the next start, and unreadable on disk")
    func survive() async throws {
        let place = try SealedPlace()
        try await place.start { try await $0.save(sample()) }
        #expect(try await place.all().records == [sample()])
        #expect(mode(of: place.path) == 0o700)
        let names = try FileManager.default.contentsOfDirectory(atPath: place.path)
        #expect(Set(names) == ["key", "index", "work.session"])
        for name in names {
            #expect(mode(of: place.path + "/" + name) == 0o600)
            for secret in ["access-work", "refresh-work", "ada@example.org", "0123456789abcdef"] {
                #expect(try place.bytes(name).range(of: Data(secret.utf8)) == nil)
            }
        }
    }

    @Test("each changed byte of a session's file is reported, affects no other session, and is kept")
    func changedSession() async throws {
        let place = try SealedPlace(syncs: false)
        try await place.start { store in
            try await store.save(sample("work"))
            try await store.save(sample("home"))
        }
        let whole = try place.bytes("work.session")
        let store = place.store()
        for index in whole.indices {
            var damaged = whole
            damaged[index] ^= 0x10
            try place.put(damaged, "work.session")
            let all = try await store.loadAll()
            #expect(try all.records == [sample("home")])
            #expect(all.damage["work"]?.contains("damaged") ?? false || all.damage["work"] == "it is not a sealed file")
        }
        try await store.save(sample("work", revision: 2))
        #expect(try await store.load(SessionName("work")) == sample("work", revision: 2))
    }

    @Test("files that cannot be read, or have the largest number, affect no session")
    func foreignFiles() async throws {
        let place = try SealedPlace(syncs: false)
        try await place.start { try await $0.save(sample()) }
        try FileManager.default.createDirectory(
            atPath: place.path + "/other.session", withIntermediateDirectories: false)
        for number in [UInt64.max - 1, .max] {
            let sealed = try SealedBytes.seal(
                Secret("x"), name: "large", label: "", generation: number, key: .random())
            try place.put(Data(sealed), "large")
            let record = try sample("work", revision: number == .max ? 3 : 2)
            try await place.start { store in
                for _ in 1...2 { try await store.save(record) }
                #expect(try await store.names().map(\.session.text) == ["other", "work"])
            }
            #expect(try await place.all().records == [record])
        }
    }

    @Test(
        "each changed byte of the index or of the keys is reported with the file's name", arguments: ["index", "key"])
    func changedIndex(name: String) async throws {
        let place = try SealedPlace(syncs: false)
        try await place.start { try await $0.save(sample()) }
        let whole = try place.bytes(name)
        for index in whole.indices {
            var damaged = whole
            damaged[index] ^= 1
            try place.put(damaged, name)
            let reason = try await failure(place)
            #expect(reason?.contains("\(place.path)/\(name): it is ") == true, "byte \(index): \(reason ?? "taken")")
        }
        try place.put(whole, name)
        #expect(try await place.all().records == [sample()])
    }

    @Test("a moved file, an old one, and one from before a sign-out are reported")
    func putBack() async throws {
        let place = try SealedPlace()
        try await place.start { store in
            try await store.save(sample("work"))
            try await store.save(sample("home"))
        }
        let (old, home) = (try place.bytes("work.session"), try place.bytes("home.session"))
        try await place.start { try await $0.save(sample("work", revision: 2)) }
        let new = try place.bytes("work.session")

        try place.put(home, "work.session")
        #expect(try await place.all().damage["work"]?.contains("moved from another place") == true)
        try place.put(old, "work.session")
        #expect(try await place.all().damage["work"]?.contains("older") == true)
        try place.put(new, "work.session")
        #expect(try await place.all().records.count == 2)
        try await place.start { try await $0.delete(SessionName("work")) }
        try place.put(new, "work.session")
        #expect(try await place.all().damage["work"]?.contains("after a sign-out") == true)
        await #expect(throws: StoreError.self) { _ = try await place.store().load(SessionName("work")) }
    }

    @Test("another key, a short one and none at all are reported, and change nothing")
    func wrongKey() async throws {
        let place = try SealedPlace()
        try await place.start { try await $0.save(sample()) }
        let other = SealingSource.key("another key of more than 32 bytes, yes")
        #expect(try await failure(place, other)?.contains("is not the key") == true)
        #expect(try await place.start(other) { await $0.states().first { _ in true } } == .failed)
        #expect(try await failure(place, .key("short"))?.contains("32 bytes or more") == true)
        #expect(try await failure(place, .passphrase)?.contains("no key is configured") == true)
        let key = try place.bytes("key")
        try FileManager.default.removeItem(atPath: place.path + "/key")
        #expect(try await failure(place)?.contains("key is missing") == true)
        try place.put(key, "key")
        #expect(try await place.all().records == [sample()])
    }

    @Test("the outbox's key is stored beside them, and outlives every session")
    func outboxKey() async throws {
        let place = try SealedPlace()
        try await place.start { store in
            #expect(try await store.key(for: .outbox) == nil)
            try await store.save(Secret("the key of the outbox, 32 bytes."), for: .outbox)
            try await store.save(sample())
            try await store.delete(SessionName("work"))
        }
        try await place.start { store in
            let (key, all) = (try await store.key(for: .outbox), try await store.loadAll())
            #expect(key == Secret("the key of the outbox, 32 bytes."))
            #expect(all.isEmpty)
        }
    }

    @Test("two agents never use one folder")
    func claimed() async throws {
        let place = try SealedPlace()
        let first = place.store()
        try await first.save(sample())
        #expect(try await failure(place)?.contains("another authd has the folder") == true)
        #expect(try await first.loadAll().records == [sample()])
    }

    @Test("neither do two on different machines, if the folder is on NFS: the lock of a folder does not count there")
    func claimedFile() throws {
        let place = try SealedPlace()
        let folder = DurableFolder(path: place.path, isOnNetwork: true)
        _ = try folder.claim()
        let descriptor = unsafe open(place.path + "/.lock", O_RDWR | O_NOFOLLOW | O_CLOEXEC)
        #expect(descriptor >= 0 && FileLock.lock(descriptor) == nil)
        #expect(throws: StoreError.failed(reason: "another authd has the folder \(place.path)")) {
            _ = try folder.claim()
        }
        folder.tidy()
        close(descriptor)
        _ = try folder.claim()
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path) == [".lock"])
    }

    private static func failure(_ work: () async throws -> Void) async -> (any Error)? {
        do {
            try await work()
            return nil
        } catch {
            return error
        }
    }

    @Test("a silent disk delays no caller, is reported, and is used again when it responds")
    func silentDisk() async throws {
        let place = try SealedPlace()
        try await place.start { try await $0.save(sample()) }
        let slow = SlowDisk()
        let store = slow.store(at: place)
        let states = store.states()
        #expect(try await store.loadAll().records.count == 1)
        let silent = StoreError.notAnswering(after: SealedPlace.limit)
        slow.stop()
        async let saving = Self.failure { try await store.save(sample("slow")) }
        await slow.isReached()
        slow.isOver.set(true)
        #expect(await saving as? StoreError == silent)
        // Later calls do not wait either.
        await #expect(throws: silent) { try await store.save(sample("late")) }
        slow.isOver.set(false)
        slow.goOn()
        var reported: [StoreState] = []
        for await state in states {
            reported.append(state)
            if reported.contains(.notAnswering), state == .ready { break }
        }
        #expect(reported == [.ready, .notAnswering, .ready])
        #expect(try await store.loadAll().records == [sample("slow"), sample()])
    }

    @Test("a new passphrase that a silent disk may take later is reported as such")
    func silentRekey() async throws {
        let place = try SealedPlace()
        let slow = SlowDisk()
        let store = slow.store(at: place)
        try await store.save(sample())
        slow.stop()
        let change = KeyChange.passphrase(Secret("another horse battery"))
        async let changing = Self.failure { try await store.rekey(change, current: nil) }
        await slow.isReached()
        slow.isOver.set(true)
        guard case .mayChange(.notAnswering) = await changing as? SealRefusal else {
            Issue.record("the change is not reported as possible")
            return
        }
        slow.isOver.set(false)
        slow.goOn()
        #expect(try await until { await Self.failure { _ = try await store.loadAll() } == nil })
        await store.close()
        try await place.start(.passphrase) { store in
            try await store.unlock(with: Secret("another horse battery"))
            #expect(try await store.loadAll().records == [sample()])
        }
    }

    @Test("work that ends at the limit leaves the disk usable")
    func endsAtLimit() async throws {
        let isOver = StateBroadcast(false)
        let silences = Mutex(0)
        let limit = Duration.seconds(1)
        let disk = DiskThread(
            limit: limit,
            wait: { _ in guard await isOver.wait(until: { $0 }) else { throw CancellationError() } },
            reportSilence: { silences.withLock { $0 += 1 } })
        let isReported = DispatchSemaphore(value: 0)
        await #expect(throws: StoreError.notAnswering(after: limit)) {
            try await disk.run { () throws(StoreError) in
                disk.answered()
                // The limit passes between the answer and the result.
                isOver.set(true)
                isReported.wait()
            }
        }
        isOver.set(false)
        isReported.signal()
        #expect(try await disk.run { () throws(StoreError) in 7 } == 7)
        #expect(silences.withLock { $0 } == 0)
    }

    @Test("a thousand sign-ins and sign-outs leave no file and no entry")
    func growth() async throws {
        let place = try SealedPlace(syncs: false)
        let store = place.store()
        for round in 0..<10 {
            let names = (0..<100).map { "s\(round)-\($0)" }
            for name in names { try await store.save(sample(name)) }
            for name in names { try await store.delete(SessionName(name)) }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path).sorted() == ["index", "key"])
        #expect(try place.bytes("index").count < 128)
    }
}
