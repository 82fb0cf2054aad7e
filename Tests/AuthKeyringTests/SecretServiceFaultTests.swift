import AuthKeyring
import AuthModel
import AuthWire
import GLibRuntime
import Testing

/// A real keyring that is locked, silent, dead, replaced or missing.
@Suite("When the keyring", .timeLimit(.minutes(2)))
struct SecretServiceFaultTests {
    private struct Scene {
        let keyring: PrivateKeyring
        let thread: GLibThread
        let store: SecretServiceStore

        func control() async throws -> KeyringControl {
            try await KeyringControl.connect(to: keyring, on: thread)
        }
    }

    /// - Parameter limit: long, so that it matters only to tests that change it.
    private func withScene(
        daemon: Bool = true, limit: Duration = PrivateKeyring.timeout, _ body: sending (Scene) async throws -> Void
    ) async throws {
        try await PrivateKeyring.with(daemon: daemon) { keyring in
            let thread = try GLibThread()
            defer { thread.stop() }
            let store = SecretServiceStore(on: thread, address: keyring.address, limit: limit)
            try await body(Scene(keyring: keyring, thread: thread, store: store))
        }
    }

    @Test("is locked, each call says so, and none reports a missing item")
    func locked() async throws {
        try await withScene { scene in
            let saved = try record()
            try await scene.store.save(saved)
            try await scene.control().lock()
            await #expect(throws: StoreError.locked) { try await scene.store.load(saved.session) }
        }
        try await withScene { scene in
            try await scene.store.save(record())
            try await scene.control().lock()
            await #expect(throws: StoreError.locked) { try await scene.store.loadAll() }
        }
        try await withScene { scene in
            try await scene.control().lock()
            await #expect(throws: StoreError.locked) { try await scene.store.save(record()) }
        }
        try await withScene { scene in
            try await scene.control().lock()
            await #expect(throws: StoreError.locked) { try await scene.store.delete(SessionName("work")) }
        }
    }

    @Test("is locked and empty, a session is not reported as missing")
    func lockedAndEmpty() async throws {
        try await withScene { scene in
            try await scene.control().lock()
            await #expect(throws: StoreError.locked) { try await scene.store.load(SessionName("nobody")) }
        }
    }

    @Test("is locked, the names of its sessions are known")
    func namesWhileLocked() async throws {
        try await withScene { scene in
            let saved = try record()
            try await scene.store.save(saved)
            try await scene.control().lock()
            let names = try await scene.store.names()
            #expect(names == [StoredName(session: saved.session, provider: saved.provider)])
        }
    }

    @Test("is locked, the user is not asked because of a change that it reports")
    func quiet() async throws {
        try await withScene { scene in
            let saved = try record()
            try await scene.store.save(saved)
            try await scene.control().lock()
            for _ in 1...3 {
                await #expect(throws: StoreError.locked) { try await scene.store.loadReported(saved.session) }
            }
            // Asked before, gnome-keyring would have dismissed its prompt by now.
            let states = scene.store.states()
            await #expect(throws: StoreError.locked) { try await scene.store.save(saved) }
            #expect(await states.reaches(.denied))
        }
    }

    @Test("has another default, it says nothing about an item in a locked collection, and loses it with that one")
    func otherDefault() async throws {
        try await withScene { scene in
            let store = scene.store
            let saved = try record()
            try await store.save(saved)
            let control = try await scene.control()
            try await control.replaceDefault()
            #expect(try await store.load(saved.session) == saved)
            #expect(try await !store.hasLost(saved.session))
            try await control.lock()
            await #expect(throws: StoreError.locked) { try await store.hasLost(saved.session) }
            try await control.unlock()
            #expect(try await !store.hasLost(saved.session))
            // A service that does not have the collection.
            let states = store.states()
            try await scene.keyring.kill()
            #expect(await states.reaches(.missing))
            try await scene.keyring.startFaulty()
            #expect(await states.reaches(.ready))
            #expect(try await store.load(saved.session) == nil)
            #expect(try await store.hasLost(saved.session))
        }
    }

    @Test("has asked the user and they refused, it asks again when the user requests something")
    func asksAgain() async throws {
        try await withScene { scene in
            try await scene.control().lock()
            let states = scene.store.states()
            await #expect(throws: StoreError.locked) { try await scene.store.save(record()) }
            #expect(await states.reaches(.denied))
            await scene.store.retryPrompts()
            await #expect(throws: StoreError.locked) { try await scene.store.save(record()) }
        }
    }

    @Test("is unlocked by the user, its state is reported and calls continue")
    func unlocked() async throws {
        try await withScene { scene in
            let saved = try record()
            try await scene.store.save(saved)
            let control = try await scene.control()
            try await control.lock()
            #expect(await scene.store.states().reaches(.locked))
            let states = scene.store.states()
            try await control.unlock()
            #expect(await states.reaches(.ready))
            #expect(try await scene.store.load(saved.session) == saved)
        }
    }

    @Test("asks and the user refuses, calls are denied until it is unlocked in another way")
    func dismissed() async throws {
        try await withScene { scene in
            let control = try await scene.control()
            try await control.lock()
            let states = scene.store.states()
            await #expect(throws: StoreError.locked) { try await scene.store.save(record()) }
            // Without a display gnome-keyring cannot prompt, and dismisses the prompt.
            #expect(await states.reaches(.denied))
            await #expect {
                try await scene.store.save(record())
            } throws: { error in
                error as? StoreError == .dismissed
            }
            try await control.unlock()
            #expect(await states.reaches(.ready))
            try await scene.store.save(record())
        }
    }

    @Test("does not reply, calls end at their limit, later ones at once, and calls continue when it replies again")
    func frozen() async throws {
        try await withScene(limit: .seconds(4)) { scene in
            let saved = try record()
            try await scene.store.save(saved)
            let states = scene.store.states()
            try await scene.keyring.freeze()
            let error = StoreError.notAnswering(after: .seconds(4))
            await #expect(throws: error) { try await scene.store.load(saved.session) }
            #expect(await states.reaches(.notAnswering))
            await #expect(throws: error) { try await scene.store.save(record(revision: 2)) }
            await #expect(throws: error) { try await scene.store.delete(saved.session) }
            try await scene.keyring.thaw()
            #expect(await states.reaches(.ready))
            #expect(try await scene.store.load(saved.session) == saved)
        }
    }

    @Test("does not reply, writers that wait for their turn fail with the current one")
    func frozenQueue() async throws {
        try await withScene(limit: .seconds(4)) { scene in
            try await scene.store.save(record())
            try await scene.keyring.freeze()
            await withTaskGroup(of: StoreError?.self) { group in
                for number in 0..<50 {
                    group.addTask {
                        do {
                            try await scene.store.save(record("s\(number)"))
                            return nil
                        } catch {
                            return error as? StoreError
                        }
                    }
                }
                for await error in group { #expect(error == .notAnswering(after: .seconds(4))) }
            }
            try await scene.keyring.thaw()
        }
    }

    @Test("is killed and restarted, the next call uses the new one")
    func replaced() async throws {
        try await withScene { scene in
            let saved = try record()
            try await scene.store.save(saved)
            let states = scene.store.states()
            try await scene.keyring.kill()
            #expect(await states.reaches(.missing))
            await #expect {
                try await scene.store.load(saved.session)
            } throws: { error in
                if case .missing = error as? StoreError { true } else { false }
            }
            try await scene.keyring.start()
            #expect(await states.reaches(.ready))
            #expect(try await scene.store.load(saved.session) == saved)
        }
    }

    @Test("passes its name to another service without a gap, the states show it")
    func handedOver() async throws {
        try await withScene(daemon: false) { scene in
            try await scene.keyring.startFaulty()
            let states = scene.store.states()
            #expect(await states.reaches(.ready))
            try await scene.keyring.startMoodyBehind()
            try await scene.keyring.killFormer()
            #expect(await states.reaches(.missing))
            #expect(await states.reaches(.ready))
            try await scene.store.save(record())
        }
    }

    @Test("comes back locked, the state shows it")
    func returnsLocked() async throws {
        try await withScene { scene in
            let saved = try record()
            try await scene.store.save(saved)
            let states = scene.store.states()
            try await scene.keyring.kill()
            try await scene.keyring.startLocked()
            #expect(await states.reaches(.locked))
            await #expect(throws: StoreError.locked) { try await scene.store.load(saved.session) }
            try await scene.control().unlock()
            #expect(await states.reaches(.ready))
            #expect(try await scene.store.load(saved.session) == saved)
        }
    }

    @Test("is missing, calls say so, and continue when it is there")
    func absent() async throws {
        try await withScene(daemon: false) { scene in
            let states = scene.store.states()
            #expect(await states.reaches(.missing))
            await #expect {
                try await scene.store.loadAll()
            } throws: { error in
                if case .missing = error as? StoreError { true } else { false }
            }
            try await scene.keyring.start()
            #expect(await states.reaches(.ready))
            try await scene.store.save(record())
        }
    }

    @Test("has no default collection, calls say that it is missing")
    func noDefault() async throws {
        try await withScene(daemon: false) { scene in
            try await scene.keyring.startLocked()
            await #expect {
                try await scene.store.save(record())
            } throws: { error in
                if case .missing(let reason) = error as? StoreError { reason.contains("default") } else { false }
            }
        }
    }

    @Test("loses its bus, calls say that it is missing and the process continues")
    func deadBus() async throws {
        try await withScene { scene in
            try await scene.store.save(record())
            let states = scene.store.states()
            try await scene.keyring.killBus()
            #expect(await states.reaches(.missing))
            await #expect {
                try await scene.store.loadAll()
            } throws: { error in
                if case .missing = error as? StoreError { true } else { false }
            }
        }
    }

    @Test("loses its bus and gets another, it is found again without a call")
    func busIsBack() async throws {
        try await withScene { scene in
            try await scene.store.save(record())
            try await scene.keyring.killBus()
            try await scene.keyring.kill()
            #expect(await scene.store.states().reaches(.missing))
            try await scene.keyring.startBus()
            try await scene.keyring.start()
            #expect(await scene.store.states().reaches(.ready))
            #expect(try await scene.store.loadAll().count == 1)
        }
    }

    @Test("has no bus at all, calls say what to set")
    func noBus() async throws {
        let thread = try GLibThread()
        defer { thread.stop() }
        let store = SecretServiceStore(on: thread, address: nil)
        await #expect {
            try await store.loadAll()
        } throws: { error in
            if case .missing(let reason) = error as? StoreError { reason.contains("XDG_RUNTIME_DIR") } else { false }
        }
    }

    @Test("delays a caller that cancels, the call ends at once")
    func cancelled() async throws {
        try await withScene { scene in
            try await scene.store.save(record())
            try await scene.keyring.freeze()
            let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
            // The limit is long and the service is stopped: only the cancellation can end the call.
            let error = await withTaskGroup(of: (any Error)?.self) { group in
                group.addTask {
                    do {
                        beginning.yield()
                        _ = try await scene.store.loadAll()
                        return nil
                    } catch {
                        return error
                    }
                }
                for await _ in begun { break }
                group.cancelAll()
                return await group.next() ?? nil
            }
            #expect(error as? StoreError == .failed(reason: "the call was cancelled"))
            try await scene.keyring.thaw()
            let all = try await scene.store.loadAll()
            #expect(all.records.count == 1)
        }
    }

    @Test("fails, the error contains no secret")
    func errorsAreClean() async throws {
        try await withScene { scene in
            try await scene.control().lock()
            let error = await #expect(throws: StoreError.self) {
                try await scene.store.save(record(token: "tell-nobody"))
            }
            #expect(!String(reflecting: error).contains("tell-nobody"))
            try await scene.keyring.kill()
            let other = await #expect(throws: StoreError.self) {
                try await scene.store.save(record(token: "tell-nobody"))
            }
            #expect(!String(reflecting: other).contains("tell-nobody"))
        }
    }
}
