import AuthAgent
import AuthModel
import AuthWire
import Foundation
import TestSupport
import Testing

@testable import AuthDaemon

/// Messages of methods that change the agent or its store, to a client that a rule hides a session from.
@Suite("Messages without hidden sessions", .timeLimit(.minutes(1)))
struct HiddenTextTests {
    private typealias Rules = AccessControlTests

    private static let hiding = Rules.policy(
        Rules.rule("hidden") {
            $0.request.sessions = Rules.texts("work")
            $0.request.classes = [.status]
        })
    private static let unnamed = "sessions that an access rule hides from this program"

    private static func record(_ name: String) throws -> SessionRecord {
        SessionRecord(
            session: try SessionName(name), provider: name, environment: "production", method: "password",
            tokens: TokenSet(accessToken: Secret("t"), issuedAt: WallTime(unixSeconds: 1)), user: nil, rawUser: nil,
            signedInAt: WallTime(unixSeconds: 1))
    }

    @Test("an import that is refused names only the visible ones of the sessions that exist")
    func importing() async throws {
        let records = try ["work", "shop", "new"].map { try JSON(parsing: Self.record($0).encoded().revealBytes()) }
        let bundle = Data(JSON.object(["sessions": .array(records)]).serialized()).base64EncodedString()
        try await TestServer.run(names: ["shop", "work"]) { rig in
            try await onThread {
                let client = try rig.dial()
                func refusal() throws -> String {
                    let answer = try client.ask("session.import", ["parcel_base64": .string(bundle)])
                    #expect(answer.errorKind == "conflict", "\(answer.text())")
                    return answer.text()
                }
                #expect(try refusal().contains("These sessions exist already: work, shop."))
                rig.access.change { $0 = Self.hiding }
                let text = try refusal()
                #expect(text.contains("These sessions exist already: shop, \(Self.unnamed)."), "\(text)")
                #expect(!text.contains("work"))
            }
        }
    }

    @Test("a removed host or a new key reports sessions that were not renewed, without hidden names")
    func renewing() async throws {
        try await TestServer.run(names: ["shop", "work"], keptIn: SharedMemoryStore()) { rig in
            try await onThread {
                let client = try rig.dial()
                func message(_ method: String, _ params: JSON) throws -> String {
                    let answer = try client.ask(method, params)
                    return try #require(answer["result"]?["message"]?.stringValue, "\(answer.text())")
                }
                for (method, params) in [("cluster.forget", ["host": "other"]), ("store.rekey", [:])]
                    as [(String, JSON)]
                {
                    rig.access.change { $0 = AccessPolicy() }
                    #expect(try message(method, params).hasSuffix(" Not renewed: shop, work."))
                    rig.access.change { $0 = Self.hiding }
                    let text = try message(method, params)
                    #expect(text.hasSuffix(" Not renewed: shop, \(Self.unnamed)."), "\(text)")
                }
            }
        }
    }

    @Test("a move that finds a damaged record names its session only if it is a visible one")
    func moving() async throws {
        for name in ["home", "work"] {
            try await TestServer.run(names: ["shop"], keptIn: DamagedMemoryStore(name)) { rig in
                try await onThread {
                    let client = try rig.dial()
                    func refusal() throws -> String {
                        let answer = try client.ask("store.migrate", ["to": "sealed-file"])
                        #expect(answer.errorKind == "keyring_unavailable", "\(answer.text())")
                        #expect(answer.errorCause == "damaged_record")
                        return try #require(answer["error"]?["message"]?.stringValue)
                    }
                    #expect(try refusal().contains("The record of session \(name) cannot be read (no end)"))
                    rig.access.change { $0 = Self.hiding }
                    let text = try refusal()
                    let visible =
                        name == "work" ? "a session that an access rule hides from this program" : "session home"
                    #expect(text.contains("The record of \(visible) cannot be read (no end)"), "\(text)")
                    #expect(!text.contains("work"), "\(text)")
                }
            }
        }
    }

    @Test("the refusal to import a damaged file keeps its message")
    func damagedFile() {
        let error = AgentError(.validation, "It cannot be opened: no end.", cause: "damaged")
        #expect(HiddenSessions.filtered(error) == error)
    }

    @Test("the store's message, which may name any session, is not part of a result")
    func unlocking() async throws {
        try await TestServer.run(names: ["shop", "work"], accessPolicy: Self.hiding) { rig in
            let caller = Caller(
                PeerCredentials(processID: getpid(), userID: geteuid()), from: .api, process: nil, confinement: nil,
                changes: rig.changes)
            let hidden = try #require(HiddenSessions(rig.access, for: caller))
            let info = StoreInfo(kind: .sealedFile, state: .ready, message: "The record of work cannot be read.")
            guard case .now(.success(let json)) = hidden.filtering(.now(.success(info.json)), of: StoreUnlock.name)
            else { throw Failure("It is another handling.") }
            #expect(try StoreInfo(json) == StoreInfo(kind: .sealedFile, state: .ready))
            let work: RequestTask.Work = { _ in .value(info.json) }
            guard case .later(let waiting) = hidden.filtering(.later(within: nil, work), of: StoreUnlock.name),
                case .value(let later) = try await waiting.work(BootClock().now().boot + .seconds(60))
            else { throw Failure("It is another handling.") }
            #expect(try StoreInfo(later) == StoreInfo(kind: .sealedFile, state: .ready))
        }
    }
}

/// A store that keeps its sessions and keys in memory.
private protocol MemoryBacked: SessionStore, KeyStore {
    var memory: MemoryStore { get }
}

extension MemoryBacked {
    func loadAll() async throws(StoreError) -> [StoredSession] { try await memory.loadAll() }
    func names() async throws(StoreError) -> [StoredName] { try await memory.names() }
    func retryPrompts() async {}
    func load(_ session: SessionName) async throws(StoreError) -> SessionRecord? { try await memory.load(session) }
    func save(_ record: SessionRecord) async throws(StoreError) { try await memory.save(record) }
    func delete(_ session: SessionName) async throws(StoreError) { try await memory.delete(session) }
    func states() -> AsyncStream<StoreState> { memory.states() }
    func key(for purpose: KeyPurpose) async throws(StoreError) -> Secret? { try await memory.key(for: purpose) }
    func save(_ key: Secret, for purpose: KeyPurpose) async throws(StoreError) {
        try await memory.save(key, for: purpose)
    }
}

/// A store with a record that cannot be read.
private final class DamagedMemoryStore: MemoryBacked {
    fileprivate let memory = MemoryStore()
    private let damaged: String

    init(_ session: String) { damaged = session }

    var kind: StoreKind { .secretService }

    func loadAll() async throws(StoreError) -> [StoredSession] {
        try await memory.loadAll() + [.damaged(session: damaged, reason: "no end")]
    }
}

/// A store with a second host that can be removed, and with a change of its key that has not ended.
private final class SharedMemoryStore: MemoryBacked, ClusterStore, SealedStore {
    fileprivate let memory = MemoryStore()

    var kind: StoreKind { .etcd }

    func members() async throws(StoreError) -> [ClusterMember] {
        [ClusterMember(id: "1", name: "this", isThis: true), ClusterMember(id: "2", name: "other", isThis: false)]
    }
    func status() async throws(StoreError) -> ClusterStatus { ClusterStatus() }
    func isRekeying() async throws(StoreError) -> Bool { true }
    func requestAdmission() async throws(StoreError) -> Secret { Secret("code") }
    func admit(_ code: Secret) async throws(StoreError) -> String? { nil }
    func remove(_ host: ClusterMember) async throws(StoreError) {}
    func endKeyChange() async throws(StoreError) {}

    func unlock(with passphrase: Secret?) async throws(SealRefusal) {}
    func checkRekey(_ change: KeyChange, hasCurrent: Bool) async throws(SealRefusal) {}
    func rekey(_ change: KeyChange, current: Secret?) async throws(SealRefusal) {}
}
