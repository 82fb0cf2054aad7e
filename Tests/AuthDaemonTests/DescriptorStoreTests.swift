import AuthDaemon
import AuthModel
import AuthWire
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@Suite("What the service manager stores for the next run")
struct DescriptorStoreTests {
    private let manager = Manager()

    private func session(_ token: String) throws -> HandedOverSession {
        let now = WallTime(unixSeconds: 1_800_000_000)
        let record = SessionRecord(
            session: try SessionName("work"), provider: "shop", environment: "production", method: "password",
            tokens: TokenSet(accessToken: Secret(token), issuedAt: now), user: nil, rawUser: nil, signedInAt: now)
        return HandedOverSession(record: record, isStored: true, isUnsaved: false)
    }

    @Test("is the newest, stored before the former is removed; the former is wiped for all holders")
    func replaced() throws {
        let store = manager.store()
        store.save(Handover([try session("first")]), of: .secretService)
        let first = try #require(manager.descriptors.entries.first)
        let copy = dup(first.descriptor)
        defer { close(copy) }
        store.save(Handover([try session("second")]), of: .secretService)
        #expect(manager.messages == ["in sessions.1", "in sessions.2", "out sessions.1"])
        #expect(manager.descriptors.entries.map(\.name) == ["sessions.2"])
        #expect(manager.descriptors.fewest == 1)
        #expect(FakeDescriptorStore.content(of: copy).allSatisfy { $0 == 0 })

        let next = manager.store()
        #expect(next.load(of: .secretService).sessions == [try session("second")])
        next.save(Handover([try session("second")]), of: .secretService)
        #expect(manager.descriptors.entries.map(\.name) == ["sessions.3"])
        next.save(Handover([]), of: .secretService)
        #expect(manager.descriptors.entries.isEmpty)
    }

    @Test("is the same if it was decoded before it was needed, and is used once")
    func prepared() throws {
        manager.store().save(Handover([try session("first")]), of: .secretService)
        let next = manager.store()
        next.prepare(of: .secretService)
        #expect(next.load(of: .secretService).sessions == [try session("first")])
        #expect(next.load(of: .secretService).sessions.isEmpty)
        next.save(Handover([try session("second")]), of: .secretService)
        #expect(manager.descriptors.entries.map(\.name) == ["sessions.2"])

        let last = manager.store()
        #expect(last.load(of: .secretService).sessions == [try session("second")])
        // Too late: there is nothing left to decode.
        last.prepare(of: .secretService)
        last.save(Handover([try session("third")]), of: .secretService)
        #expect(manager.descriptors.entries.map(\.name) == ["sessions.3"])
    }

    @Test("cannot be written, mapped writable, truncated or unsealed")
    func sealed() throws {
        let store = manager.store()
        store.save(Handover([try session("token")]), of: .secretService)
        let memory = try #require(manager.descriptors.entries.first).descriptor
        #expect(pwrite(memory, "x", 1, 0) == -1)
        #expect(ftruncate(memory, 0) == -1)
        #expect(mmap(nil, 1, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0) == MAP_FAILED)
        #expect(fcntl(memory, 1033, 0x8) == -1)
    }

    @Test("is refused and logged if it is not sealed memory, too large, truncated or foreign")
    func refused() throws {
        let whole = Data(Handover([try session("token")]).encoded(of: .secretService).revealBytes())
        let plain = FakeDescriptorStore.sealedMemory(holding: whole, seals: 0x2)
        var ends: [Int32] = [0, 0]
        pipe(&ends)
        close(ends[1])
        let huge = FakeDescriptorStore.sealedMemory(holding: Data(count: 17 << 20))
        let cut = FakeDescriptorStore.sealedMemory(holding: Data("authd-sessions 1 secret-service 1\nk- {\n".utf8))
        let foreign = FakeDescriptorStore.sealedMemory(holding: Data("something".utf8))
        for (number, descriptor) in [plain, ends[0], huge, cut].enumerated() {
            manager.descriptors.put(descriptor, as: "sessions.\(number + 1)")
        }
        manager.descriptors.put(foreign, as: "somebody's")
        let store = manager.store()
        #expect(store.load(of: .secretService).sessions.isEmpty)
        for reason in ["not sealed", "not sealable memory", "17825792 bytes", "not JSON", "not handed over by authd"] {
            #expect(manager.log.contains(reason), "\(reason) is not in \(manager.log)")
        }
        #expect(!manager.log.contains("token"))
        store.save(Handover([try session("new")]), of: .secretService)
        #expect(manager.descriptors.entries.map(\.name) == ["sessions.5"])
    }

    @Test("of a killed run is the newest; wiped sessions are ignored silently")
    func killedInBetween() throws {
        manager.store().save(Handover([try session("first")]), of: .secretService)
        let old = try #require(manager.descriptors.entries.first)
        manager.descriptors.put(FakeDescriptorStore.sealedMemory(holding: Data(count: 100)), as: "sessions.20")
        #expect(old.name == "sessions.1")
        let later = Handover([try session("second")]).encoded(of: .secretService).revealBytes()
        manager.descriptors.put(FakeDescriptorStore.sealedMemory(holding: Data(later)), as: "sessions.12")
        let store = manager.store()
        #expect(store.load(of: .secretService).sessions == [try session("second")])
        store.save(Handover([try session("third")]), of: .secretService)
        #expect(manager.descriptors.entries.map(\.name) == ["sessions.21"])
        #expect(!manager.log.contains("not used"))
    }

    @Test("is wiped even if the manager cannot be notified: outdated sessions are worse than none")
    func cannotBeNotified() throws {
        let store = manager.store()
        store.save(Handover([try session("first")]), of: .secretService)
        let first = try #require(manager.descriptors.entries.first)
        manager.isDeaf.withLock { $0 = true }
        store.save(Handover([try session("second")]), of: .secretService)
        #expect(FakeDescriptorStore.content(of: first.descriptor).allSatisfy { $0 == 0 })
        #expect(manager.log.contains("could not be passed"))
        #expect(!store.hasNewest)

        manager.isDeaf.withLock { $0 = false }
        store.retry()
        #expect(store.hasNewest)
        #expect(manager.descriptors.entries.map(\.name) == ["sessions.2"])
        let before = manager.messages
        store.retry()
        // Loaded sessions stay with the manager until the run saves something.
        let next = manager.store()
        #expect(next.load(of: .secretService).sessions == [try session("second")])
        next.retry()
        #expect(manager.messages == before)
    }

    @Test("reaches a manager when it receives again: only the newest sessions, and nothing older")
    func isFull() throws {
        let store = manager.store()
        store.save(Handover([try session("first")]), of: .secretService)
        let first = try #require(manager.descriptors.entries.first)
        manager.isFull.withLock { $0 = true }
        for token in ["second", "third"] { store.save(Handover([try session(token)]), of: .secretService) }
        #expect(FakeDescriptorStore.content(of: first.descriptor).allSatisfy { $0 == 0 })
        #expect(!store.hasNewest)
        #expect(manager.waiting.withLock { $0.count } == 1)

        manager.receiveAgain()
        #expect(manager.messages == ["in sessions.1", "out sessions.1", "in sessions.3"])
        #expect(manager.store().load(of: .secretService).sessions == [try session("third")])
        #expect(store.hasNewest)
        #expect(manager.waiting.withLock { $0.isEmpty })
    }

    @Test("is removed when the manager receives again, after a sign-out that it did not receive at once")
    func signedOutWhileFull() throws {
        let store = manager.store()
        store.save(Handover([try session("first")]), of: .secretService)
        manager.isFull.withLock { $0 = true }
        store.save(Handover([try session("second")]), of: .secretService)
        store.save(Handover([]), of: .secretService)
        #expect(manager.descriptors.contents().allSatisfy { $0.allSatisfy { $0 == 0 } })
        manager.receiveAgain()
        #expect(manager.messages == ["in sessions.1", "out sessions.1"])
        #expect(manager.descriptors.entries.isEmpty)
    }
}

/// A service manager that stores descriptors, and a log.
private final class Manager: NotificationReceiver {
    let descriptors = FakeDescriptorStore()
    let isDeaf = Mutex(false)
    let isFull = Mutex(false)
    let waiting = Mutex<[@Sendable () -> Void]>([])
    private let sent = Mutex<[String]>([])
    private let logged = Mutex("")

    var messages: [String] { sent.withLock { $0 } }
    var log: String { logged.withLock { $0 } }

    /// One run of the service.
    func store() -> DescriptorStore {
        let inherited = descriptors.entries.map {
            ListenDescriptors.Given(name: $0.name, descriptor: dup($0.descriptor))
        }
        let logger = Logger(label: "test") { _ in Handler(manager: self) }
        return DescriptorStore(inherited: inherited, to: self, logger: logger)
    }

    func send(_ message: String, with descriptor: CInt?) -> NotificationResult {
        if isDeaf.withLock({ $0 }) { return .failed }
        if isFull.withLock({ $0 }) { return .isFull }
        descriptors.record(message, descriptor.map { [dup($0)] } ?? [])
        let words = message.split(separator: "\n")
        sent.withLock {
            $0.append((words[0] == "FDSTORE=1" ? "in " : "out ") + words[1].dropFirst("FDNAME=".count))
        }
        return .sent
    }

    func whenReceiving(_ work: @escaping @Sendable () -> Void) { waiting.withLock { $0.append(work) } }

    func receiveAgain() {
        isFull.withLock { $0 = false }
        let works = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for work in works { work() }
    }

    private struct Handler: LogHandler {
        let manager: Manager
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        init(manager: Manager) { self.manager = manager }

        func log(event: LogEvent) { manager.logged.withLock { $0 += "\(event.message)\n" } }
    }
}
