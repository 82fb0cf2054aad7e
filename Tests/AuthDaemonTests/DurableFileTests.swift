import AuthAgent
import AuthConcurrency
import AuthDaemon
import AuthFiles
import AuthModel
import AuthWire
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@Suite("The agent's own files", .timeLimit(.minutes(1)))
struct DurableFileTests {
    /// The steps of a file, in order.
    private final class Steps: Sendable {
        let all = Mutex<[AtomicFile.Step]>([])
        private let pooled = Atomic(0)
        /// Steps that a thread of Swift's pool has made.
        var pooledCount: Int { pooled.load(ordering: .relaxed) }

        func add(_ step: AtomicFile.Step) {
            all.withLock { $0.append(step) }
            if DurableFileTests.isPooled { pooled.add(1, ordering: .relaxed) }
        }
    }

    /// Whether this is a thread of Swift's pool, which must not wait for a disk. A ``BlockingThread`` runs no task.
    private static var isPooled: Bool { withUnsafeCurrentTask { $0 != nil } }

    @Test(
        "a recorded sign-out survives a loss of power: file and folder are synced first"
    )
    func signOut() async throws {
        let (folder, steps) = (try TemporaryFolder(), Steps())
        let place = folder.path + "/state/authd"
        let file = StateFile.signOuts(in: place, note: { steps.add($0) })
        let marks = [try SessionName("work"): SignInID(signedInAt: WallTime(unixSeconds: 1_800_000_000))]
        try await file.save { marks }
        let draft = ".signed-out.new"
        #expect(
            steps.all.withLock { $0 } == [
                .wrote(draft, Array("work at1800000000000\n".utf8)), .syncedFile(draft),
                .renamed(draft, to: "signed-out"), .syncedFolder,
            ])
        #expect(StateFile.signOuts(in: place).load() == marks)
        try await file.save { [:] }
        #expect(!FileManager.default.fileExists(atPath: place))
        #expect(steps.pooledCount == 0)
    }

    @Test("a failed write of a sign-out is reported")
    func refused() async throws {
        let folder = try TemporaryFolder()
        _ = try folder.write("in the way", to: "state")
        let file = StateFile.signOuts(in: folder.path + "/state/authd")
        let marks = [try SessionName("work"): SignInID(signedInAt: WallTime(unixSeconds: 1_800_000_000))]
        await #expect(throws: StoreError.self) { try await file.save { marks } }
    }

    @Test("files of this and of an older authd are read, and damaged lines are skipped")
    func stored() throws {
        let folder = try TemporaryFolder()
        let (work, shop) = (try SessionName("work"), try SessionName("shop"))
        let old = SignInID(signedInAt: WallTime(unixSeconds: 1_800_000_000))
        let new = try #require(SignInID("s1-2"))
        _ = try folder.write("work 1800000000\nshop s1-2\nthree words here\nhome 1-2\n", to: "signed-out")
        #expect(StateFile.signOuts(in: folder.path).load() == [work: old, shop: new])
        _ = try folder.write("secret-service sealed-file\nwork 1800000000 2\nshop s1-2 5\nhome s1-2\n", to: "moved")
        let moves = StateFile.unfinishedMoves(in: folder.path)
        let move = UnfinishedMove(
            from: .secretService, to: .sealedFile, phase: .removing,
            copies: [
                UnfinishedMove.Copy(session: work, signIn: old, number: 4),
                UnfinishedMove.Copy(session: shop, signIn: new, number: 5),
            ])
        #expect(moves.load() == [move])
        var others = [move, move]
        (others[0].phase, others[1].phase, others[1].to) = (.copying, .copied, .etcd)
        for list in [[move], others] {
            try moves.replace(list)
            #expect(moves.load() == list)
        }
        let later = "secret-service etcd\nwork s1-2 5\nsecret-service sealed-file soon\nshop s1-2 5\n"
        _ = try folder.write(later, to: "moved")
        #expect(moves.load().map(\.copies.count) == [1])
        try moves.replace([])
        #expect(moves.load() == [])
        _ = try folder.write("sealed-file\n", to: "store")
        #expect(StateFile.selectedStore(in: folder.path).load() == .sealedFile)
        #expect(StateFile.selectedStore(in: folder.path + "/none").load() == nil)
    }

    @Test("what is not a regular file is refused, and waits for no writer", .timeLimit(.minutes(1)))
    func fifo() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/fifo"
        #expect(mkfifo(path, 0o600) == 0)
        #expect(throws: SystemFailure.self) { try AtomicFile(path: path).read(atMost: 10) }
    }

    @Test("a published file is there as a whole, and replaces another one only if that was requested")
    func published() throws {
        let folder = try TemporaryFolder()
        let file = AtomicFile(path: folder.path + "/profile.toml")
        try file.publish(Array("one".utf8), replacing: false)
        let failure = #expect(throws: SystemFailure.self) { try file.publish(Array("two".utf8), replacing: false) }
        #expect(failure?.number == EEXIST)
        #expect(try file.read(atMost: 10) == Array("one".utf8))
        try file.publish(Array("three".utf8), replacing: true)
        #expect(try file.read(atMost: 10) == Array("three".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["profile.toml"])
    }

    /// A slash and the mark after it are one character.
    @Test("the folder of a file ends at the last slash, whatever follows it")
    func names() throws {
        for (path, parent, name) in [
            ("/a/b", "/a", "b"), ("/a/\u{301}b", "/a", "\u{301}b"), ("/\u{301}b", "/", "\u{301}b"),
            ("/a\u{600}/b", "/a\u{600}", "b"), ("b", ".", "b"), ("a/", "a", ""),
        ] {
            #expect(PrivateFolder.parent(of: path) == parent && PrivateFolder.name(of: path) == name, "\(path)")
        }
        let folder = try TemporaryFolder()
        // The longest name that Linux accepts has 255 bytes.
        for name in ["\u{301}b", String(repeating: "漢", count: 85)] {
            let file = AtomicFile(path: folder.path + "/" + name)
            try file.publish(Array("one".utf8), replacing: false)
            #expect(try FolderEntries.names(in: folder.path) == [name])
            try file.remove()
        }
        try AtomicFile(path: folder.path + "/\u{301}b").replace(with: Array("two".utf8))
        #expect(try FolderEntries.names(in: folder.path) == ["\u{301}b"])
    }

    @Test("drafts that are there already, such as that of a process that was killed, are untouched and not in the way")
    func leftDrafts() throws {
        let folder = try TemporaryFolder()
        let target = try folder.write("untouched", to: "target")
        let file = AtomicFile(path: folder.path + "/profile.toml")
        let draft = folder.path + "/.profile.toml.\(getpid()).new"
        try FileManager.default.createSymbolicLink(atPath: draft, withDestinationPath: target)
        for text in ["one", "two"] {
            try file.publish(Array(text.utf8), replacing: true)
            #expect(try file.read(atMost: 10) == Array(text.utf8))
        }
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "untouched")
        #expect(try FolderEntries.names(in: folder.path).count == 3)
    }

    @Test("of concurrent reloads, the one that read last is in effect at the end")
    func reloads() async throws {
        let folder = try TemporaryFolder()
        let context = AgentContext(
            storeKind: .memory, transport: Nowhere(), clock: BootClock(), network: Still(), catalog: ProfileCatalog(),
            publish: { _ in })
        let registry = SessionRegistry(context: context, storage: SessionStorage(store: MemoryStore()), seed: 1)
        let (log, readings) = (AgentLog(level: .critical), Readings())
        let policy = CurrentPeerPolicy(PeerPolicy(ownUserID: 1))
        let access = AccessControl(changes: AccessChanges())
        let chosen = DefaultSessionSettings(
            board: context.board, folders: FolderRulesFile(beside: folder.path + "/socket", home: nil),
            logger: log.logger())
        let reloader = Reloader(
            current: AgentConfiguration(settings: Settings(), catalog: ProfileCatalog()), read: { readings.next() },
            board: context.board, registry: registry, policy: policy, tables: StateBroadcast(ListenerTables()),
            accessRules: TestServer.policyRequests(
                access, folder: folder.path, audit: AuditLog(clock: BootClock()),
                readRoot: { readings.rootRules() }),
            accessChanges: AccessChanges(), signInLimit: SignInLimit(clock: BootClock()), openExtra: { _ in },
            chosen: chosen,
            showsNotices: StateBroadcast<Bool>(true), hooks: StateBroadcast<[Hook]>([]), log: log,
            fixedLevel: true, notifier: ServiceNotifier(send: { _ in }))
        for round in 1...20 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 1...8 { group.addTask { _ = try await reloader.reload() } }
                try await group.waitForAll()
            }
            #expect(policy.now.allowedUserIDs == [UInt32(8 * round)])
            let rules = try String(contentsOfFile: folder.path + "/folders", encoding: .utf8)
            #expect(rules.contains("/place/\(8 * round)"))
            #expect(access.policy.root.rules.map(\.name) == ["rule-\(8 * round)"])
        }
        #expect(readings.pooledCount == 0)
    }

    /// Each reading has its own number.
    private final class Readings: Sendable {
        private let count = Atomic<Int>(0)
        private let pooled = Atomic(0)
        /// Readings that a thread of Swift's pool has made.
        var pooledCount: Int { pooled.load(ordering: .relaxed) }

        /// Root's rules of the reading that was made last.
        func rootRules() -> AccessPolicy.Rules {
            var rules = AccessPolicy.Rules()
            rules.rules = [AccessRule("rule-\(count.load(ordering: .relaxed))", from: .root, .allow)]
            return rules
        }

        func next() -> ConfigurationReading {
            if DurableFileTests.isPooled { pooled.add(1, ordering: .relaxed) }
            let number = count.add(1, ordering: .relaxed).newValue
            var settings = Settings()
            settings.allowedUserIDs = [UInt32(number)]
            settings.folders =
                (try? SessionName("work")).map { [FolderRule(path: "/place/\(number)", session: $0)] } ?? []
            return ConfigurationReading(
                configuration: AgentConfiguration(settings: settings, catalog: ProfileCatalog()), problems: [])
        }
    }

    private struct Nowhere: HTTPTransport {
        func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
            throw .offline(reason: "none")
        }
        func closeIdleConnections() async {}
    }

    private struct Still: NetworkWatch {
        func readings() -> AsyncStream<NetworkReading> { AsyncStream { $0.yield(NetworkReading(reach: .internet)) } }
    }
}
