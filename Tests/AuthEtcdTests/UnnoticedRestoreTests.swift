import AuthModel
import AuthSealedFile
import AuthWire
import EtcdTestSupport
import Synchronization
import TestSupport
import Testing

@testable import AuthEtcd

/// Until a host has read everything again, what a backup brings back looks like what other hosts have done.
@Suite("A restored backup of etcd that a host has not noticed yet", .timeLimit(.minutes(2)))
struct UnnoticedRestoreTests {
    private static var work: SessionName {
        get throws { try SessionName("work") }
    }

    private static func faultOfHold(
        of record: SessionRecord, in store: EtcdStore, under lease: LeaseID = LeaseID(1)
    ) async -> ClusterFault? {
        await store.fault { store throws(StoreError) in
            _ = try await store.hold(record.session, for: record.version, under: lease)
        }
    }

    @Test("is noticed by the response to a hold, before anything is sent")
    func hold() async throws {
        try await EtcdMembers.running { members in
            let host = try EtcdHost()
            try await host.start(at: members.endpoints, watches: false) { store in
                let sample = try etcdSample()
                try await store.save(sample)
                let backup = try await members.backUp()
                try await store.saveLater()
                try await members.restore(backup)
                let lease = try await store.grantLease().id
                let fault = await Self.faultOfHold(of: sample, in: store, under: lease)
                #expect(fault == .wentBack)
                let keys = try await members.dump("/authd/ada/")
                #expect(!keys.contains("holders/work") && !keys.contains("intents/work"))
                // The next host that holds the session sees the mark.
                let mark = try await #require(store.read(store.places.history))
                let isRead = try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { await store.run() }
                    defer { group.cancelAll() }
                    return try await until { await store.restoresRead == 1 }
                }
                // It is the only one, and intents that were noted since then count.
                let left = try await store.read(store.places.history)
                #expect(isRead && left == mark)
                #expect(await store.restores.revision == mark.modRevision)
            }
        }
    }

    @Test("is noticed by the response to a hold, even if that brings etcd to the revision that the host knows")
    func holdOfSameRevision() async throws {
        let etcd = OneKey()
        let changes = Mutex<[JSON]>([])
        let transport = ScriptedTransport { path, body throws(TransportError) in
            if path == "kv/txn" { changes.withLock { $0.append(body) } }
            return try etcd.answer(path, body)
        }
        let store = Self.store(transport)
        _ = try await store.opened()
        let sample = try etcdSample()
        let fault = await Self.faultOfHold(of: sample, in: store)
        let hold = await store.holds[sample.session]
        #expect(fault == .wentBack && hold == nil)
        let last = try #require(changes.withLock { $0.last })
        let (mark, steps) = (Base64.encode(Array("/p/history".utf8)), last["success"]?.arrayValue ?? [])
        #expect(steps.first?["request_delete_range"] != nil)
        // In the same transaction, unless another host has written it meanwhile.
        #expect(steps.contains { $0["request_put"]?["key"]?.stringValue == mark })
        #expect(last["compare"]?.arrayValue?.contains { $0["key"]?.stringValue == mark } == true)
        // Nothing is requested before everything is read again.
        let count = changes.withLock { $0.count }
        let again = await Self.faultOfHold(of: sample, in: store)
        #expect(again == .wentBack && changes.withLock { $0.count } == count)
    }

    @Test("is noticed by the response to a hold, whatever its revision is, if another host has noticed it")
    func holdAfterOthers() async throws {
        let etcd = OneKey()
        let changes = Mutex<[JSON]>([])
        let transport = ScriptedTransport { path, body throws(TransportError) in
            if path == "kv/txn" { changes.withLock { $0.append(body) } }
            return try etcd.answer(path, body)
        }
        let store = Self.store(transport)
        _ = try await store.opened()
        await store.acceptHistory([nil])
        etcd.setHistory("another")
        etcd.setRevision(9)
        let sample = try etcdSample()
        let fault = await Self.faultOfHold(of: sample, in: store)
        let hold = await store.holds[sample.session]
        #expect(fault == .wentBack && hold == nil)
        // That mark stays.
        let steps = changes.withLock { $0.last?["success"]?.arrayValue ?? [] }
        #expect(steps.first?["request_delete_range"] != nil && steps.allSatisfy { $0["request_put"] == nil })
    }

    @Test("makes a host give its hold back without the mark, if etcd refuses that")
    func refusedMarkOfHold() async throws {
        let etcd = OneKey()
        let place = Base64.encode(Array("/p/history".utf8))
        let changes = Mutex<[JSON]>([])
        let transport = ScriptedTransport { path, body throws(TransportError) in
            let steps = body["success"]?.arrayValue ?? []
            guard !steps.contains(where: { $0["request_put"]?["key"]?.stringValue == place }) else {
                return (403, #"{"code":7,"message":"etcdserver: permission denied"}"#)
            }
            if path == "kv/txn" { changes.withLock { $0.append(body) } }
            return try etcd.answer(path, body)
        }
        let store = Self.store(transport)
        _ = try await store.opened()
        let fault = try await Self.faultOfHold(of: etcdSample(), in: store)
        let isGivenBack = changes.withLock { $0.last?["success"]?[0]?["request_delete_range"] != nil }
        #expect(fault == .wentBack && isGivenBack)
    }

    @Test("is noticed by a host that has seen no later revision, if another host has noticed it")
    func noticedElsewhere() async throws {
        try await EtcdMembers.running { members in
            let host = try EtcdHost()
            try await host.start(at: members.endpoints) { store in
                let faults = store.faults()
                try await store.save(etcdSample())
                #expect(try await until { await store.restores.history.isRead })
                try await members.control("put", "/authd/ada/history", "another")
                #expect(await faults.first { $0 == .wentBack } == .wentBack)
                #expect(try await until { await store.restores.recovery == nil })
                // It stays, and intents that are noted from now on count.
                let mark = try await #require(store.read(store.places.history))
                let wentBackTo = await store.restores.revision
                #expect(mark.value == Array("another".utf8) && wentBackTo == mark.modRevision)
            }
        }
    }

    @Test("does not end a sign-in that it lacks, even if another host's mark gets the revision of that sign-in")
    func signInBeforeMark() async throws {
        try await EtcdMembers.running { members in
            let host = try EtcdHost()
            try await host.start(at: members.endpoints, watches: false) { store in
                try await store.save(etcdSample())
                await store.acceptHistory([nil])
                let backup = try await members.backUp()
                let later = try etcdSample("later")
                try await store.save(later)
                try await members.restore(backup)
                try await members.control("put", "/authd/ada/history", "another")
                let isRead = try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { await store.run() }
                    defer { group.cancelAll() }
                    return try await until { await store.restoresRead == 1 }
                }
                let isLost = try await store.hasLost(later.session)
                #expect(isRead && isLost)
                #expect(try await store.update(later, replacesOther: false).stored == nil)
                #expect(try await store.load(later.session) == later)
            }
        }
    }

    @Test(
        "is noticed only once, even if etcd refuses the mark",
        arguments: [
            (429, #"{"code":8,"message":"etcdserver: mvcc: database space exceeded"}"#, true),
            (403, #"{"code":7,"message":"etcdserver: permission denied"}"#, false),
            (400, #"{"code":3,"message":"etcdserver: not allowed by the proxy"}"#, false),
        ])
    func refusedMark(status: Int, body: String, isDue: Bool) async throws {
        let etcd = OneKey()
        let place = Base64.encode(Array("/p/history".utf8))
        let transport = ScriptedTransport { path, request throws(TransportError) in
            let key = request["success"]?[0]?["request_put"]?["key"]?.stringValue
            if key == place { return (status, body) }
            return try etcd.answer(path, request)
        }
        let store = Self.store(transport)
        _ = try await store.opened()
        await store.acceptHistory(["former", "later"])
        // The backup has the former mark.
        etcd.setHistory("former")
        let faults = store.faults()
        await store.noteWentBack(7)
        try await store.recover()
        let mark = try await store.readMarked().mark
        let restores = await store.restores
        #expect(mark != nil && !restores.isNoticedElsewhere(mark) && restores.isMarkDue == isDue)
        #expect(restores.recovery == nil)
        // A missing permission is not a fault of the store.
        let (fault, obstacle) = await (faults.first { $0 != .wentBack }, store.obstacle())
        #expect(fault?.name == (isDue ? "cluster_no_space" : "cluster_mark_refused"))
        #expect(obstacle == (isDue ? .noSpace : nil))
    }

    @Test("makes a host give back a hold that it gets after another response has shown the restore")
    func shownMeanwhile() async throws {
        let etcd = OneKey()
        let notice = Mutex<(@Sendable () -> Void)?>(nil)
        let transport = ScriptedTransport { path, body throws(TransportError) in
            if path == "kv/txn" { notice.withLock { $0 }?() }
            return try etcd.answer(path, body)
        }
        let store = Self.store(transport)
        _ = try await store.opened()
        notice.withLock {
            $0 = { [weak store] in
                store?.readAgain()
                etcd.setRevision(8)
            }
        }
        let sample = try etcdSample()
        let fault = await Self.faultOfHold(of: sample, in: store)
        let hold = await store.holds[sample.session]
        #expect(fault == .wentBack && hold == nil)
    }

    @Test("makes a host refuse at once the tokens of a hold that etcd no longer has")
    func write() async throws {
        try await EtcdMembers.running { members in
            let host = try EtcdHost()
            try await host.start(at: members.endpoints, watches: false) { store in
                let sample = try etcdSample()
                try await store.save(sample)
                let backup = try await members.backUp()
                try await store.save(etcdSample("later"))
                let lease = try await store.grantLease().id
                _ = try await store.hold(Self.work, for: sample.version, under: lease)
                try await members.restore(backup)
                let renewed = try etcdSample(generation: 2)
                let fault = await store.fault { store throws(StoreError) in
                    _ = try await store.update(renewed, replacesOther: false)
                }
                #expect(fault == .wentBack)
            }
        }
    }

    @Test("does not replace the tokens of a renewal with older ones")
    func renewed() async throws {
        try await EtcdMembers.running { members in
            let host = try EtcdHost()
            try await host.start(at: members.endpoints, watches: false) { store in
                try await store.save(etcdSample())
                let backup = try await members.backUp()
                let sample = try etcdSample(generation: 2)
                try await store.save(sample)
                let lease = try await store.grantLease().id
                _ = try await store.hold(Self.work, for: sample.version, under: lease)
                try await members.restore(backup)
                let renewed = try etcdSample(generation: 3)
                let fault = await store.fault { store throws(StoreError) in
                    _ = try await store.update(renewed, replacesOther: false)
                }
                // It is noted again, so that the tokens may be written.
                let hold = try await store.holds[Self.work]
                #expect(fault == .wentBack && hold?.isLost == false)
            }
        }
    }

    @Test("does not undo a sign-out")
    func signOut() async throws {
        try await EtcdMembers.running { members in
            let host = try EtcdHost()
            try await host.start(at: members.endpoints, watches: false) { store in
                let sample = try etcdSample()
                try await store.save(sample)
                let backup = try await members.backUp()
                try await store.delete(sample.session)
                try await store.saveLater()
                try await members.restore(backup)
                let fault = await store.fault { store throws(StoreError) in
                    _ = try await store.load(sample.session)
                }
                let (isSignedOut, unread) = await (store.view.isSignedOut(sample.session), store.restores.unread)
                #expect(fault == .wentBack && isSignedOut && unread == [sample.session])
                let isGone = try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { await store.run() }
                    defer { group.cancelAll() }
                    return try await until {
                        (try? await members.dump("/authd/ada/sessions/"))?.contains("sessions/work") == false
                    }
                }
                #expect(isGone)
                #expect(await store.restores.unread.isEmpty)
            }
        }
    }

    @Test("does not undo a sign-out of a host that has noticed it")
    func signOutAfter() async throws {
        let store = Self.store(ScriptedTransport(OneKey().answer))
        let sample = try etcdSample()
        for isNoticed in [false, true] {
            if isNoticed { await store.noteWentBack(7) }
            await store.expectSignIn(of: sample)
            try await store.delete(sample.session)
            let isRepeated = await store.view.isOutdated(sample.signIn, of: sample.session)
            #expect(isRepeated == isNoticed)
        }
    }

    @Test("does not undo a sign-out while a host that has noticed it sleeps")
    func signOutAfterSleep() async throws {
        let clock = SleepingClock()
        let start = SuspendingClock.now
        let store = EtcdStore(
            .init(endpoints: ["http://one"], prefix: "/p", user: nil, hostName: "one"), local: MemoryLocal(),
            transport: ScriptedTransport(OneKey().answer), clock: clock, pause: { _ in await Task.yield() },
            now: { start })
        let sample = try etcdSample()
        await store.expectSignIn(of: sample)
        await store.noteWentBack(7)
        clock.sleep(for: .seconds(3600))
        try await store.delete(sample.session)
        let isRepeated = await store.view.isOutdated(sample.signIn, of: sample.session)
        #expect(isRepeated)
    }

    @Test("does not interrupt a change of the record key")
    func keyChange() async throws {
        try await EtcdMembers.running { members in
            let host = try EtcdHost()
            try await host.start(at: members.endpoints, watches: false) { store in
                try await store.save(etcdSample())
                let backup = try await members.backUp()
                try await store.saveLater()
                try await members.restore(backup)
                let fault = await store.fault { store throws(StoreError) in try await store.changeRecordKey() }
                let isNoticed = await store.hasGoneBack(since: store.view.state)
                let keys = try await store.opened().accepted.keys
                let entry = try await #require(store.read(store.places.session(Self.work)))
                #expect(fault == nil && isNoticed)
                #expect(try SealedBytes.header(of: entry.value).keyID == keys.first?.id)
            }
        }
    }

    @Test("is not noticed again by a late response to a request from before everything was read")
    func lateResponse() async throws {
        let store = Self.store(ScriptedTransport(OneKey().answer))
        await store.seeLateResponse()
        let (present, shown) = await (store.view.state, store.restores.shownRevision)
        #expect(await !store.hasGoneBack(since: present) && shown == nil)
    }

    private static func store(_ transport: ScriptedTransport) -> EtcdStore {
        EtcdStore(
            .init(endpoints: ["http://one"], prefix: "/p", user: nil, hostName: "one"), local: MemoryLocal(),
            transport: transport, clock: HostClock(), pause: { _ in await Task.yield() })
    }
}

/// The clocks of a machine that sleeps: the boot clock continues.
private final class SleepingClock: SystemClock {
    private let asleep = Mutex(Duration.zero)

    func sleep(for time: Duration) { asleep.withLock { $0 += time } }

    func now() -> Moment {
        let asleep = asleep.withLock { $0 }
        return Moment(
            boot: BootInstant(sinceBoot: .seconds(1000) + asleep),
            wall: WallTime(unixSeconds: 1_800_000_000) + asleep)
    }

    func sleep(until deadline: BootInstant) async throws {}
}

extension EtcdStore {
    /// How often this host has noticed that etcd went back, and read everything again.
    var restoresRead: Int { restores.recovery == nil ? view.state.history : view.state.history - 1 }

    /// Everything has been read again when it arrives, at a later revision.
    fileprivate func seeLateResponse() {
        func header(_ revision: Int64) -> EtcdHeader { EtcdHeader(clusterID: "1", revision: revision) }
        _ = view.read(header(9), [:])
        let former = view.state
        _ = view.read(header(5), [:])
        saw(header(4), since: former)
    }

    /// As if its record had been read.
    fileprivate func expectSignIn(of record: SessionRecord) { view.saw(record.signIn, of: record.session) }

    /// As after everything was read.
    func acceptHistory(_ values: [String?]) {
        for value in values {
            let mark = value.map { EtcdEntry(key: places.history, value: Array($0.utf8), modRevision: 1) }
            _ = restores.accept(mark, in: "")
            restores.checked(mark, at: clock.bootInstant)
        }
    }
}
