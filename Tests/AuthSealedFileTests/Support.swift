import AuthConcurrency
import AuthModel
import AuthSealedFile
import AuthWire
import Foundation
import Synchronization
import TestSupport

/// A folder of sealed files with its key; a store on it is created as at a start of the agent.
struct SealedPlace: Sendable {
    /// The minimum: the cost of a guess does not matter here.
    static let cheap = PassphraseCost(logarithm: 10)

    /// Far above what a working disk takes.
    static let limit = Duration.seconds(60)

    let folder: TemporaryFolder
    let source: SealingSource
    var path: String { folder.path + "/state/authd/sessions" }

    init(_ source: SealingSource = .key("0123456789abcdef0123456789abcdef"), syncs: Bool = true) throws {
        folder = try TemporaryFolder(syncs: syncs)
        self.source = source
    }

    /// A start of the agent, and its end.
    func start<Value>(
        _ other: SealingSource? = nil, note: @escaping @Sendable (DurableFolder.Step) -> Void = { _ in },
        _ body: (SealedFileStore) async throws -> Value
    ) async throws -> Value {
        let store = store(other, note: note)
        let result: Result<Value, any Error>
        do {
            result = .success(try await body(store))
        } catch {
            result = .failure(error)
        }
        await store.close()
        return try result.get()
    }

    func bytes(_ file: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path + "/" + file)) }

    func put(_ bytes: Data?, _ file: String) throws {
        try bytes?.write(to: URL(fileURLWithPath: path + "/" + file))
    }

    func all() async throws -> [StoredSession] { try await start { try await $0.loadAll() } }

    func store(
        _ other: SealingSource? = nil, note: @escaping @Sendable (DurableFolder.Step) -> Void = { _ in }
    ) -> SealedFileStore {
        SealedFileStore(
            folder: DurableFolder(path: path, note: note), source: other ?? source, cost: Self.cheap, limit: Self.limit)
    }
}

extension SealingSource {
    static func key(_ text: String) -> SealingSource { .given(name: "the test's key", read: { Secret(text) }) }
}

/// The steps of a disk, in order.
final class Tape: Sendable {
    private let kept = Mutex<[DurableFolder.Step]>([])
    var steps: [DurableFolder.Step] { kept.withLock { $0 } }
    var note: @Sendable (DurableFolder.Step) -> Void { { step in self.kept.withLock { $0.append(step) } } }
}

/// A disk that stops when a test says so, and a limit that passes when it says so.
final class SlowDisk: Sendable {
    /// Whether the limit of each call has passed.
    let isOver = StateBroadcast(false)
    private let stopsNext = Mutex(false)
    private let reached = OneShot<Void>()
    private let release = DispatchSemaphore(value: 0)

    func store(at place: SealedPlace) -> SealedFileStore {
        SealedFileStore(
            folder: DurableFolder(path: place.path, note: { _ in self.pause() }), source: place.source,
            cost: SealedPlace.cheap, limit: SealedPlace.limit,
            wait: { _ in guard await self.isOver.wait(until: { $0 }) else { throw CancellationError() } })
    }

    /// At the next step of a write.
    func stop() { stopsNext.withLock { $0 = true } }

    func isReached() async { _ = await reached.value() }

    func goOn() { release.signal() }

    private func pause() {
        let stops = stopsNext.withLock { stopsNext in
            defer { stopsNext = false }
            return stopsNext
        }
        guard stops else { return }
        reached.send(())
        release.wait()
    }
}

func sample(_ session: String = "work", revision: UInt64 = 1) throws -> SessionRecord {
    SessionRecord(
        session: try SessionName(session), provider: "app-template", environment: "production", method: "password",
        tokens: TokenSet(
            accessToken: Secret("access-\(session)-\(revision)"),
            refreshToken: Secret("refresh-\(session)-\(revision)"),
            issuedAt: WallTime(unixSeconds: 1_800_000_000), expiresAt: WallTime(unixSeconds: 1_800_003_600)),
        user: UserSummary(email: "ada@example.org"), rawUser: nil, signedInAt: WallTime(unixSeconds: 1_799_999_999),
        revision: revision)
}

extension [StoredSession] {
    var records: [SessionRecord] {
        compactMap { if case .record(let record) = $0 { record } else { nil } }
    }

    var damage: [String: String] {
        var reasons: [String: String] = [:]
        for stored in self {
            if case .damaged(let session, let reason) = stored { reasons[session] = reason }
        }
        return reasons
    }
}
