import AuthKeyring
import AuthModel
import AuthWire
import Foundation
import GLibRuntime
import TestSupport
import Testing

/// gnome-keyring's own prompt; EndToEndTests/Stores/KeyringPromptTests.swift tests the agent's reaction.
@Suite("A prompt of the keyring", .timeLimit(.minutes(2)))
struct KeyringPromptTests {
    @Test("may stay longer than any call, and the user's answer then counts")
    func outlivesTheLimit() async throws {
        let desktop = try await Desktop()
        let person = try await Person(on: desktop)
        let keyring = try await desktop.startKeyring(before: person)
        let thread = try GLibThread()
        defer { thread.stop() }
        let address = try #require(desktop.environment["DBUS_SESSION_BUS_ADDRESS"])
        let (store, other) = (
            SecretServiceStore(on: thread, address: address, limit: .seconds(3)),
            SecretServiceStore(on: thread, address: address, limit: .seconds(3))
        )
        let saved = try record()
        try await store.save(saved)
        try await desktop.lockKeyring()
        #expect(await store.states().reaches(.locked))
        let states = store.states()
        #expect(await other.states().reaches(.locked))
        await person.will(.type(Desktop.keyringPassword))
        person.lookAway()
        await #expect(throws: StoreError.locked) { try await store.load(saved.session) }
        // The limit passes for another caller, because the service is stopped that long.
        keyring.kill(SIGSTOP)
        await #expect(throws: StoreError.notAnswering(after: .seconds(3))) { try await other.load(saved.session) }
        keyring.kill(SIGCONT)
        await #expect(throws: StoreError.locked) { try await store.load(saved.session) }
        person.lookBack()
        #expect(await states.reaches(.ready))
        #expect(try await store.load(saved.session) == saved)
        #expect(await person.isDone())
        await keyring.end()
        await person.end()
        await desktop.end()
    }
}
