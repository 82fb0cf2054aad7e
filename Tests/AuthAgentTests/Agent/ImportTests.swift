import AuthAgent
import AuthConcurrency
import AuthModel
import AuthWire
import Testing

@Suite("Sessions that are imported")
struct ImportTests {
    /// Nothing is sealed here.
    private struct NoBundles: BundleSealing {
        func close(_ content: Secret, with passphrase: Secret) async throws(SealRefusal) -> [UInt8] { throw .tooShort }
        func open(_ bundle: [UInt8], with passphrase: Secret) async throws(SealRefusal) -> Secret { throw .tooShort }
    }

    private static func running(
        _ test: @escaping @Sendable (SessionRequests, SignInService, StoreAdmin) async throws -> Void
    ) async throws {
        let store = MovableStore(MemoryStore())
        let example = try ExampleProvider(store: store, transport: ExampleProvider.numbering())
        try await example.running { sessions, signIns in
            let storeAdmin = StoreAdmin(
                context: sessions.context, registry: sessions.registry, loader: example.loader, store: store,
                dependencies: StoreAdmin.Dependencies(
                    open: { _ in MemoryStore() }, configuredStore: { nil }, choose: { _ in }, moves: nil,
                    bundles: NoBundles()))
            try await test(sessions, signIns, storeAdmin)
        }
    }

    private static func signIn(_ signIns: SignInService, _ names: String...) async throws {
        for name in names {
            let step = try await signIns.start(
                LoginStart(
                    provider: "example", session: try SessionName(name), fields: SessionRegistryTests.fields))
            try #require(step.kind == .done)
        }
    }

    @Test("do not replace the default session, and bring theirs if there is no other session")
    func defaultSession() async throws {
        let bundle = OneShot<[UInt8]>()
        try await Self.running { sessions, signIns, store in
            try await Self.signIn(signIns, "a", "b")
            _ = try await sessions.use(SessionUse(session: SessionName("b")))
            bundle.send(try await store.export(SessionExport(passphrase: nil)).bytes)
        }
        let bytes = try #require(await bundle.value())
        try await Self.running { sessions, signIns, store in
            try await Self.signIn(signIns, "work")
            _ = try await store.importSessions(SessionImport(bytes: bytes))
            #expect(try sessions.status(nil).session.text == "work")
        }
        try await Self.running { sessions, signIns, store in
            try await Self.signIn(signIns, "one", "two")
            _ = try await sessions.logout(SessionLogout(session: SessionName("one")))
            _ = try await sessions.logout(SessionLogout(session: SessionName("two")))
            _ = try await store.importSessions(SessionImport(bytes: bytes))
            #expect(try sessions.status(nil).session.text == "b")
        }
    }

    @Test("have 65,536 JSON values at most; what has more is neither exported nor imported")
    func values() async throws {
        let zeros = JSON.array(Array(repeating: 0, count: 65_536))
        try await Self.running { sessions, signIns, store in
            try await Self.signIn(signIns, "a")
            let session = try #require(sessions.registry.session(named: SessionName("a")))
            var record = await session.record
            record.rawUser = ["list": zeros]
            _ = try await sessions.registry.signedIn(record, sentAt: sessions.context.clock.now())
            let exported = await #expect(throws: AgentError.self) {
                try await store.export(SessionExport(passphrase: nil))
            }
            #expect(exported?.kind == .tooLarge)
            let bundle = JSON.object(["sessions": zeros]).serialized()
            let imported = await #expect(throws: AgentError.self) {
                try await store.importSessions(SessionImport(bytes: bundle))
            }
            #expect(imported?.kind == .tooLarge)
        }
    }
}
