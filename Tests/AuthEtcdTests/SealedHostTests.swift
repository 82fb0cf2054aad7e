import AuthModel
import AuthWire
import EtcdTestSupport
import Synchronization
import TestSupport
import Testing

@testable import AuthEtcd

@Suite("A host whose own key a passphrase opens", .timeLimit(.minutes(1)))
struct SealedHostTests {
    private static let created = #"{"result":{"header":{"cluster_id":"1","revision":"7"},"created":true}}"#

    /// What stays on a host. It is sealed until somebody enters the passphrase.
    private final class SealedLocal: KeyStore, SealedStore {
        private let inside = MemoryLocal()
        private let isOpen = Mutex(false)

        private func check() throws(StoreError) {
            guard isOpen.withLock({ $0 }) else { throw .sealed }
        }

        func key(for purpose: KeyPurpose) async throws(StoreError) -> Secret? {
            try check()
            return try await inside.key(for: purpose)
        }

        func save(_ key: Secret, for purpose: KeyPurpose) async throws(StoreError) {
            try check()
            try await inside.save(key, for: purpose)
        }

        func unlock(with passphrase: Secret?) async throws(SealRefusal) { isOpen.withLock { $0 = true } }
        func checkRekey(_ change: KeyChange, hasCurrent: Bool) async throws(SealRefusal) {}
        func rekey(_ change: KeyChange, current: Secret?) async throws(SealRefusal) {}
    }

    @Test("is locked after a start, even if etcd has no sessions, and waits for the passphrase without trying again")
    func waits() async throws {
        let etcd = OneKey()
        let watch = ScriptedTransport.Watch([Self.created], then: .stays)
        let transport = ScriptedTransport(watches: [watch]) { path, body throws(TransportError) in
            try etcd.answer(path, body)
        }
        let pauses = Mutex<[Duration]>([])
        let store = Self.store(transport) { pause in pauses.withLock { $0.append(pause) } }
        let name = try SessionName("work")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await store.run() }
            defer { group.cancelAll() }
            #expect(await store.states().first { $0 != .starting } == .locked)
            await #expect(throws: StoreError.sealed) { _ = try await store.loadAll() }
            // Without a session there is nothing to remove, with a key or without one.
            try await store.delete(name)
            #expect(await store.states().first { $0 != .starting } == .locked)
            // An attempt after a change of the network ends in the same way.
            await store.networkChanged(endsConnections: false)
            #expect(transport.watchedHosts.isEmpty)
            try await store.unlock(with: Secret("passphrase"))
            let isWatched = try await until { transport.watchedHosts == ["one"] }
            #expect(isWatched)
            #expect(await store.states().first { $0 != .starting } == .ready)
            #expect(try await store.loadAll().isEmpty)
        }
        // Only the check of the watch pauses.
        #expect(pauses.withLock { $0 }.allSatisfy { $0 >= .seconds(30) }, "\(pauses.withLock { $0 })")
    }

    /// The store of a host whose key is sealed. Pauses end only with the task.
    private static func store(
        _ transport: ScriptedTransport, paused: @escaping @Sendable (Duration) -> Void = { _ in }
    ) -> EtcdStore {
        EtcdStore(
            .init(endpoints: ["http://one"], prefix: "/p", user: nil, hostName: "one"), local: SealedLocal(),
            transport: transport, clock: HostClock(),
            pause: { pause in
                paused(pause)
                for await _ in AsyncStream<Void>.makeStream().stream {}
                try Task.checkCancellation()
            })
    }

    @Test("stays locked while etcd does not respond, and says that etcd does not once its key is open")
    func unreachable() async throws {
        let etcd = OneKey()
        let isAway = Mutex(true)
        let watch = ScriptedTransport.Watch([Self.created], then: .stays)
        let transport = ScriptedTransport(watches: [watch]) { path, body throws(TransportError) in
            if isAway.withLock({ $0 }) { throw .connectionRefused(host: "one") }
            return try etcd.answer(path, body)
        }
        let store = Self.store(transport)
        let name = try SessionName("work")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await store.run() }
            defer { group.cancelAll() }
            #expect(await store.states().first { $0 != .starting } == .locked)
            await #expect(throws: StoreError.sealed) { _ = try await store.loadAll() }
            await #expect(throws: StoreError.self) { try await store.delete(name) }
            #expect(await store.states().first { $0 != .starting } == .locked)
            await #expect(throws: SealRefusal.self) { try await store.unlock(with: Secret("passphrase")) }
            #expect(await store.states().first { $0 != .starting } == .notAnswering)
            isAway.withLock { $0 = false }
            await store.networkChanged(endsConnections: false)
            let isWatched = try await until { transport.watchedHosts == ["one"] }
            #expect(isWatched)
            #expect(await store.states().first { $0 != .starting } == .ready)
        }
    }

    @Test("reports once that etcd does not respond, however often the names of sessions are requested")
    func reportedOnce() async throws {
        let etcd = OneKey()
        let isAway = Mutex(true)
        let transport = ScriptedTransport(watches: []) { path, body throws(TransportError) in
            if isAway.withLock({ $0 }) { throw .connectionRefused(host: "one") }
            return try etcd.answer(path, body)
        }
        let store = Self.store(transport)
        await #expect(throws: StoreError.sealed) { _ = try await store.loadAll() }
        for _ in 1...2 {
            isAway.withLock { $0 = true }
            for _ in 1...3 { await #expect(throws: StoreError.self) { _ = try await store.names() } }
            // The next outage is another one.
            isAway.withLock { $0 = false }
            #expect(try await store.names().isEmpty)
        }
        await store.note(.lagging)
        var faults: [String] = []
        for await fault in store.faults() {
            faults.append(fault.name)
            if fault == .lagging { break }
        }
        #expect(faults == ["cluster_unreachable", "cluster_unreachable", "cluster_lagging"])
    }
}
