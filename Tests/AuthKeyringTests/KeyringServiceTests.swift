import AuthKeyring
import AuthModel
import AuthWire
import CSecret
import GLibRuntime
import Synchronization
import TestSupport
import Testing

/// Services that start, exit, and return with less than they accepted.
@Suite("The service behind the keyring's name", .timeLimit(.minutes(2)))
struct KeyringServiceTests {
    private func withStore(
        daemon: Bool = false, startsService: Bool = false,
        _ body: sending (SecretServiceStore, PrivateKeyring) async throws -> Void
    ) async throws {
        try await PrivateKeyring.with(daemon: daemon, startsService: startsService) { keyring in
            let thread = try GLibThread()
            defer { thread.stop() }
            let store = SecretServiceStore(on: thread, address: keyring.address, limit: PrivateKeyring.timeout)
            try await body(store, keyring)
        }
    }

    /// Kills the service and waits for another one with the saved content of the first.
    private func restart(_ keyring: PrivateKeyring, under store: SecretServiceStore) async throws {
        let states = store.states()
        try await keyring.kill()
        #expect(await states.reaches(.missing))
        try await keyring.startFaulty()
        #expect(await states.reaches(.ready))
    }

    // MARK: Starting

    @Test("is not started for background work, but if the user requests something")
    func activation() async throws {
        try await withStore(startsService: true) { store, _ in
            #expect(await store.states().reaches(.missing))
            for _ in 1...2 {
                await #expect {
                    try await store.loadAll()
                } throws: { error in
                    if case .missing(let reason) = error as? StoreError { reason.contains("no program") } else { false }
                }
            }
            await #expect(throws: StoreError.self) { try await store.save(record()) }
            #expect(await store.process() == nil)
            await store.retryPrompts()
            let sessions = try await store.loadAll()
            #expect(sessions.isEmpty)
            #expect(await store.process()?.name?.hasPrefix("python3") == true)
            #expect(await store.states().reaches(.ready))
        }
    }

    @Test("that cannot be started is missing, even for the user")
    func nothingToStart() async throws {
        try await withStore { store, _ in
            await store.retryPrompts()
            await #expect {
                try await store.loadAll()
            } throws: { error in
                if case .missing = error as? StoreError { true } else { false }
            }
        }
    }

    @Test("is named by its process")
    func process() async throws {
        try await withStore(daemon: true) { store, keyring in
            #expect(await store.states().reaches(.ready))
            let process = try #require(await store.process())
            // The kernel keeps 15 bytes of a name (proc(5), "comm").
            #expect(process.name == "gnome-keyring-d")
            try await keyring.kill()
            #expect(await store.states().reaches(.missing))
            #expect(await store.process() == nil)
        }
    }

    // MARK: Losses

    @Test("that exits before it has saved a write has lost it, and the item is checked when it is back")
    func lost() async throws {
        try await withStore { store, keyring in
            try await keyring.startFaulty()
            #expect(await store.states().reaches(.ready))
            try await store.save(record("other"))
            try await keyring.become(.forgetful)
            let saved = try record()
            try await store.save(saved)
            #expect(try await store.load(saved.session) == saved)
            #expect(try await !store.hasLost(saved.session))
            try await restart(keyring, under: store)
            var changes = store.changes().makeAsyncIterator()
            while await changes.next() != saved.session {}
            #expect(try await store.load(saved.session) == nil)
            #expect(try await store.hasLost(saved.session))
            // After another write it is an ordinary item.
            try await store.save(saved)
            #expect(try await !store.hasLost(saved.session))
            try await restart(keyring, under: store)
            #expect(try await store.load(saved.session) == saved)
        }
    }

    @Test("has lost nothing that was removed during its run, even if it exits then")
    func removed() async throws {
        try await withStore { store, keyring in
            try await keyring.startFaulty()
            #expect(await store.states().reaches(.ready))
            let saved = try record()
            try await store.save(saved)
            try await keyring.remove(session: saved.session.text)
            #expect(try await store.load(saved.session) == nil)
            #expect(try await !store.hasLost(saved.session))
            try await keyring.become(.forgetful)
            try await restart(keyring, under: store)
            #expect(try await !store.hasLost(saved.session))
        }
    }

    @Test("that was changed after the write, and does not have it, has lost nothing: the item was removed")
    func changedSince() async throws {
        try await withStore { store, keyring in
            try await keyring.startFaulty()
            #expect(await store.states().reaches(.ready))
            let saved = try record()
            try await store.save(saved)
            // Nobody reads it in between.
            try await keyring.remove(session: saved.session.text)
            try await restart(keyring, under: store)
            #expect(try await !store.hasLost(saved.session))
        }
    }

    @Test("that cannot say when it was changed has lost the item, and one that is gone again has decided nothing")
    func unreadableDate() async throws {
        try await withStore { store, keyring in
            try await keyring.startFaulty()
            #expect(await store.states().reaches(.ready))
            try await keyring.become(.forgetful)
            let saved = try record()
            try await store.save(saved)
            try await restart(keyring, under: store)
            #expect(try await store.load(saved.session) == nil)
            try await keyring.become(.undated)
            #expect(try await store.hasLost(saved.session))
            let states = store.states()
            try await keyring.kill()
            #expect(await states.reaches(.missing))
            await #expect {
                try await store.hasLost(saved.session)
            } throws: { error in
                if case .missing = error as? StoreError { true } else { false }
            }
        }
    }

    @Test("has lost nothing that was never written in this run")
    func unknown() async throws {
        try await withStore { store, keyring in
            try await keyring.startFaulty()
            #expect(await store.states().reaches(.ready))
            try await restart(keyring, under: store)
            #expect(try await !store.hasLost(SessionName("work")))
        }
    }

    // MARK: Prompts

    @Test("that refuses, or exits while it asks, is asked again later, without GLib warnings")
    func promptsThatEnd() async throws {
        let complaints = Complaints()
        defer { complaints.stop() }
        try await withStore { store, keyring in
            try await keyring.startFaulty()
            #expect(await store.states().reaches(.ready))
            let saved = try record()
            try await store.save(saved)
            try await keyring.become(.dismissing)
            await #expect(throws: StoreError.locked) { try await store.load(saved.session) }
            #expect(await store.states().reaches(.denied))
            try await keyring.become(.waiting)
            await store.retryPrompts()
            await #expect(throws: StoreError.locked) { try await store.load(saved.session) }
            // It exits before anybody has answered.
            try await restart(keyring, under: store)
            try await keyring.become(.locked)
            #expect(await store.states().reaches(.locked))
            await #expect(throws: StoreError.locked) { try await store.load(saved.session) }
            #expect(await store.states().reaches(.ready))
            #expect(try await store.load(saved.session) == saved)
        }
        #expect(complaints.all.isEmpty)
    }
}

/// GLib's warnings about wrong calls.
private final class Complaints: Sendable {
    private let said = Mutex<[String]>([])
    private let handler = Mutex<guint>(0)

    init() {
        let number = g_log_set_handler(
            "GLib-GIO", G_LOG_LEVEL_CRITICAL,
            { _, _, message, complaints in
                let text = message.map { String(cString: $0) } ?? ""
                guard let complaints else { return }
                Unmanaged<Complaints>.fromOpaque(complaints).takeUnretainedValue().said.withLock { $0.append(text) }
            }, Unmanaged.passUnretained(self).toOpaque())
        handler.withLock { $0 = number }
    }

    var all: [String] { said.withLock { $0 } }

    /// Must be called before its end.
    func stop() { handler.withLock { g_log_remove_handler("GLib-GIO", $0) } }
}
