import AuthKeyring
import AuthModel
import AuthWire
import Foundation
import GLibRuntime
import Testing

/// A store on a KWallet that was just started.
///
/// It reports a wallet as locked until somebody asks for it, even if the login has opened it: then nobody is prompted.
func openedKWallet(
    _ keyring: PrivateKeyring, on thread: GLibThread, limit: Duration = PrivateKeyring.timeout
) async throws -> SecretServiceStore {
    let store = SecretServiceStore(on: thread, address: keyring.address, limit: limit)
    let states = store.states()
    await #expect(throws: StoreError.locked) { try await store.loadAll() }
    #expect(await states.reaches(.ready))
    return store
}

/// Behaviour of KWallet that differs from gnome-keyring (Docs/decisions/keyring.md).
@Suite("KWallet", .timeLimit(.minutes(2)))
struct KWalletTests {
    private func withWallet(_ body: sending (PrivateKeyring, GLibThread) async throws -> Void) async throws {
        try await PrivateKeyring.with(daemon: false) { keyring in
            try await keyring.startKWallet()
            let thread = try GLibThread()
            defer { thread.stop() }
            try await body(keyring, thread)
        }
    }

    /// One of 256 agreed keys begins with a zero, which one side drops; another one in 256 is refused. `KWALLET_ROUNDS` sets
    /// how often two sessions are opened; 40 times take two seconds.
    @Test("agrees on no key with one caller in a hundred: callers do not notice, and the stored value is right")
    func keysThatDiffer() async throws {
        let rounds = ProcessInfo.processInfo.environment["KWALLET_ROUNDS"].flatMap(UInt64.init) ?? 40
        try await withWallet { keyring, thread in
            _ = try await openedKWallet(keyring, on: thread)
            for revision in 1...rounds {
                let saved = try record(token: "access-\(revision)", revision: revision)
                let writer = SecretServiceStore(on: thread, address: keyring.address, limit: PrivateKeyring.timeout)
                try await writer.save(saved)
                let reader = SecretServiceStore(on: thread, address: keyring.address, limit: PrivateKeyring.timeout)
                #expect(try await reader.load(saved.session) == saved)
            }
        }
    }

    @Test("is locked and its prompt cannot be seen: callers get `locked` at once, and the next login opens it")
    func locked() async throws {
        try await withWallet { keyring, thread in
            let store = try await openedKWallet(keyring, on: thread)
            let saved = try record()
            try await store.save(saved)
            let states = store.states()
            try await keyring.lockKWallet()
            #expect(await states.reaches(.locked))
            for _ in 1...3 {
                await #expect(throws: StoreError.locked) { try await store.load(saved.session) }
                await #expect(throws: StoreError.locked) { try await store.save(saved) }
            }
            #expect(try await store.names() == [StoredName(session: saved.session, provider: saved.provider)])
            // Another login.
            try await keyring.kill()
            #expect(await states.reaches(.missing))
            try await keyring.startKWallet()
            #expect(await states.reaches(.locked))
            await #expect(throws: StoreError.locked) { try await store.load(saved.session) }
            #expect(await states.reaches(.ready))
            #expect(try await store.load(saved.session) == saved)
        }
    }
}
