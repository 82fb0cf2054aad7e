import AuthModel
import AuthSealedFile
import AuthWire
import EtcdTestSupport
import Synchronization
import TestSupport
import Testing

@testable import AuthEtcd

/// Revisions, marks and notes of one history say nothing about another one.
@Suite("The history of etcd before and after a restore", .timeLimit(.minutes(2)))
struct RestoredHistoryTests {
    private static var work: SessionName {
        get throws { try SessionName("work") }
    }

    /// Runs the store until it has read everything after a restore.
    private static func readRestore(_ store: EtcdStore) async throws -> Bool {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await store.run() }
            defer { group.cancelAll() }
            return try await until { await store.restoresRead == 1 }
        }
    }

    @Test("lacks a session: it is lost, or signed out if the host may have missed that", arguments: [false, true])
    func silence(isLong: Bool) async throws {
        try await EtcdMembers.running { members in
            let host = try EtcdHost()
            try await host.start(at: members.endpoints, watches: false) { store in
                try await store.save(etcdSample("home"))
                await store.acceptHistory([nil])
                let backup = try await members.backUp()
                let sample = try etcdSample()
                try await store.save(sample)
                // The revisions show the restore.
                try await store.saveLater()
                try await members.restore(backup)
                try await members.control("put", "/authd/ada/history", "another")
                if isLong { await store.simulateSilence(of: .seconds(61)) }
                #expect(try await Self.readRestore(store))
                let isLost = try await store.hasLost(Self.work)
                let fault = await store.fault { store throws(StoreError) in
                    _ = try await store.update(sample, replacesOther: false)
                }
                #expect(isLost == !isLong && fault == (isLong ? .removed : nil))
            }
        }
    }

    @Test("keeps the note of a sign-out, if a record that was read before arrives later", arguments: [false, true])
    func lateRecord(isByOther: Bool) async throws {
        try await TwoHosts.running { hosts in
            let (store, other) = (hosts.store, hosts.other)
            let sample = try etcdSample()
            let entry = try await #require(store.read(store.places.session(Self.work)))
            try await (isByOther ? other : store).delete(Self.work)
            #expect(try await until { await store.view.isSignedOut(sample.session) })
            let late = try await store.record(in: entry, of: Self.work)
            let isSignedOut = await store.view.isSignedOut(sample.session)
            #expect(late == nil && isSignedOut)
            // Another host may have written it again: that counts.
            try await other.save(sample)
            let again = try await store.load(Self.work)
            #expect(again == sample)
        }
    }

    @Test("is read again once, even if etcd has no space for the mark and no alarm")
    func refusedWithoutAlarm() async throws {
        let etcd = OneKey()
        let place = Base64.encode(Array("/p/history".utf8))
        let attempts = Mutex(0)
        let transport = ScriptedTransport(watches: [.init([], then: .stays)]) { path, body throws(TransportError) in
            guard body["success"]?[0]?["request_put"]?["key"]?.stringValue != place else {
                attempts.withLock { $0 += 1 }
                return (429, #"{"code":8,"message":"etcdserver: mvcc: database space exceeded"}"#)
            }
            return try etcd.answer(path, body)
        }
        let store = EtcdStore(
            .init(endpoints: ["http://one"], prefix: "/p", user: nil, hostName: "one"), local: MemoryLocal(),
            transport: transport, clock: HostClock(), pause: { _ in await Task.yield() })
        await store.acceptHistory(["former", "later"])
        etcd.setHistory("former")
        let faults = store.faults()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await store.run() }
            // With each check of the watch.
            let isRepeated = try await until { attempts.withLock { $0 } >= 4 }
            let history = await store.view.state.history
            #expect(isRepeated && history == 1)
            group.cancelAll()
        }
        #expect(await faults.first { $0.name == "cluster_mark_refused" } != nil)
    }

    /// A store whose checks of the watch are not reached, at an etcd that counts its reads of everything.
    private static func store(_ etcd: OneKey, _ reads: Reads, refusesTransaction: Bool = false) -> EtcdStore {
        let transport = ScriptedTransport { path, body throws(TransportError) in
            if (body["success"]?.arrayValue ?? []).contains(where: { $0["request_range"]?["keys_only"] != nil }) {
                reads.begin()
                guard !refusesTransaction else {
                    return (429, #"{"code":8,"message":"etcdserver: mvcc: database space exceeded"}"#)
                }
            }
            return try etcd.answer(path, body)
        }
        return EtcdStore(
            .init(endpoints: ["http://one"], prefix: "/p", user: nil, hostName: "one"), local: MemoryLocal(),
            transport: transport, clock: HostClock(),
            pause: { duration in
                guard duration == .seconds(30) else { return await Task.yield() }
                let (stream, continuation) = AsyncStream<Void>.makeStream()
                for await _ in stream {}
                continuation.finish()
                throw CancellationError()
            })
    }

    @Test("has had the revision before a hold, even if the response to the hold has shown a lower one than before")
    func shownByHold() async throws {
        let etcd = OneKey()
        let store = EtcdStore(
            .init(endpoints: ["http://one"], prefix: "/p", user: nil, hostName: "one"), local: MemoryLocal(),
            transport: ScriptedTransport(etcd.answer), clock: HostClock(), pause: { _ in await Task.yield() })
        _ = try await store.opened()
        etcd.setRevision(6)
        let sample = try etcdSample()
        let fault = await store.fault { store throws(StoreError) in
            _ = try await store.hold(sample.session, for: sample.version, under: LeaseID(1))
        }
        // What this host has written at the revision of its hold, before the restore, is lost.
        let shown = await store.restores.shownRevision
        #expect(fault == .wentBack && shown == 5)
    }

    @Test("keeps the intent of a host that is sending, even if the refusal of an earlier write arrives after it")
    func lateRefusal() async throws {
        let store = EtcdStore(
            .init(endpoints: ["http://one"], prefix: "/p", user: nil, hostName: "one"), local: MemoryLocal(),
            transport: ScriptedTransport(OneKey().answer), clock: HostClock(), pause: { _ in await Task.yield() })
        let sample = try etcdSample()
        // As after a restore, when the intent was written again at this revision.
        let hold = EtcdStore.Hold(
            lease: LeaseID(1), noted: sample.version, revision: 0, intentRevision: 22, version: nil, isLost: true)
        let before = try await store.intentRevision(of: sample.session, hold, refusedAt: 21)
        let after = try await store.intentRevision(of: sample.session, hold, refusedAt: 22)
        #expect(before == 22 && after == nil)
    }

    @Test("is read with one request: the list of hosts, the mark and the sessions are of one revision")
    func oneRequest() async throws {
        let reads = Reads()
        let store = Self.store(OneKey(), reads)
        try await store.watching {
            let isRead = try await until { await store.restores.history.isRead }
            #expect(isRead && reads.count == 1)
        }
    }

    @Test("is read in parts if etcd has no space for a transaction, which is no fault of the store then")
    func inParts() async throws {
        let (etcd, reads) = (OneKey(), Reads())
        let store = Self.store(etcd, reads, refusesTransaction: true)
        await store.acceptHistory([nil])
        try await store.watching {
            let isOpen = try await until { await store.processed == 7 }
            let obstacle = await store.obstacle()
            #expect(isOpen && reads.count == 1 && obstacle == nil)
        }
        // The mark of another host is found after the sessions: they may be of the former history.
        etcd.setHistory("another")
        try await store.watching {
            let isRead = try await until { await store.restoresRead == 1 }
            #expect(isRead && reads.count == 3)
        }
    }

    @Test(
        "is read again if another response has shown the restore meanwhile: the first one may be from before",
        arguments: [false, true])
    func shownMeanwhile(refusesTransaction: Bool) async throws {
        let reads = Reads()
        let store = Self.store(OneKey(), reads, refusesTransaction: refusesTransaction)
        reads.atFirst { [weak store] in store?.readAgain() }
        try await store.watching {
            let isRead = try await until { await store.restoresRead == 1 }
            #expect(isRead && reads.count == 2)
        }
    }

    /// Another host has noticed the restore, and this one does not know yet.
    private static func withOtherMark(_ body: (EtcdStore, EtcdMembers) async throws -> Void) async throws {
        try await EtcdMembers.running { members in
            let host = try EtcdHost()
            try await host.start(at: members.endpoints, watches: false) { store in
                try await store.save(etcdSample())
                await store.acceptHistory([nil])
                let lease = try await store.grantLease().id
                _ = try await store.hold(work, for: etcdSample().version, under: lease)
                try await members.control("put", "/authd/ada/history", "another")
                try await body(store, members)
            }
        }
    }

    @Test("must be the same for a write: it names a revision of the record of the cluster")
    func write() async throws {
        try await Self.withOtherMark { store, _ in
            let record = try await store.read(store.places.session(Self.work))
            let fault = await store.fault { store throws(StoreError) in
                guard let renewed = try? etcdSample(generation: 2) else { return }
                try await store.save(renewed)
            }
            let left = try await store.read(store.places.session(Self.work))
            #expect(fault == .wentBack && record != nil && left == record)
        }
    }

    @Test("must be the same for a release: another host's hold may have the revision of this one")
    func release() async throws {
        try await Self.withOtherMark { store, members in
            try await store.release(Self.work, leaving: .answered)
            #expect(try await members.dump("/authd/ada/holders/").contains("holders/work"))
        }
    }

    @Test("must be the same for a claim; otherwise a hold in the present history ends")
    func claim() async throws {
        try await Self.withOtherMark { store, members in
            let intent = try await store.read(store.places.intent(Self.work))
            let fault = await store.fault { store throws(StoreError) in
                guard let sample = try? etcdSample() else { return }
                _ = try await store.claim(sample.session, for: sample.version)
            }
            let left = try await store.read(store.places.intent(Self.work))
            #expect(fault == .wentBack && intent != nil && left == intent)
            #expect(try await !members.dump("/authd/ada/holders/").contains("holders/work"))
        }
    }

    @Test("does not stop a change of the record key: the record of the cluster is read again")
    func keyChange() async throws {
        try await Self.withOtherMark { store, _ in
            let former = try await store.opened()
            let fault = await store.fault { store throws(StoreError) in try await store.changeRecordKey() }
            let member = try await store.opened()
            #expect(fault == nil && former.mark == nil && member.mark?.value == Array("another".utf8))
            #expect(member.accepted.keys.first?.id != former.accepted.keys.first?.id)
        }
    }
}

/// Counts the reads of everything.
private final class Reads: Sendable {
    private let number = Mutex(0)
    private let first = Mutex<(@Sendable () -> Void)?>(nil)

    var count: Int { number.withLock { $0 } }

    /// Done during the first one.
    func atFirst(_ work: @escaping @Sendable () -> Void) { first.withLock { $0 = work } }

    func begin() {
        let isFirst = number.withLock { number in
            number += 1
            return number == 1
        }
        if isFirst { first.withLock { $0 }?() }
    }
}

extension EtcdStore {
    /// Runs it meanwhile.
    fileprivate func watching(_ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.run() }
            defer { group.cancelAll() }
            try await body()
        }
    }

    /// The intent that this host counts on, after a write was refused when etcd had none.
    fileprivate func intentRevision(
        of session: SessionName, _ hold: Hold, refusedAt revision: Int64
    ) throws -> Int64? {
        holds[session] = hold
        let header: JSON = ["cluster_id": "1", "revision": .string(String(revision))]
        _ = refused(session, try EtcdTransaction(["header": header, "succeeded": false, "responses": []]))
        return holds[session]?.intentRevision
    }

    /// As if this host had read the mark that it expects this long ago.
    fileprivate func simulateSilence(of time: Duration) {
        restores.checked(nil, at: clock.bootInstant - time)
    }
}
