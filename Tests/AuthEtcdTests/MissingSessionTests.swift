import AuthModel
import AuthWire
import EtcdTestSupport
import Synchronization
import TestSupport
import Testing

@testable import AuthEtcd

/// A session may be missing because somebody has signed out, or because a restored backup lacks it.
@Suite("A session that is missing in etcd", .timeLimit(.minutes(2)))
struct MissingSessionTests {
    private static func header(_ revision: Int64, cluster: String = "1") -> EtcdHeader {
        EtcdHeader(clusterID: cluster, revision: revision)
    }

    private static func change(_ key: String, at revision: Int64, value: String? = nil) -> WatchChange {
        WatchChange(
            entry: EtcdEntry(key: "/p/" + key, value: Array((value ?? "").utf8), modRevision: revision),
            isDeletion: value == nil)
    }

    private static func store(_ transport: ScriptedTransport, clock: any SystemClock = HostClock()) -> EtcdStore {
        EtcdStore(
            .init(endpoints: ["http://one"], prefix: "/p", user: nil, hostName: "one"), local: MemoryLocal(),
            transport: transport, clock: clock, pause: { _ in await Task.yield() })
    }

    private static func fault(of load: SessionName, in store: EtcdStore) async -> ClusterFault? {
        await store.fault { store throws(StoreError) in _ = try await store.load(load) }
    }

    @Test("is not signed out of if the same response shows that etcd went back")
    func olderState() async throws {
        let etcd = OneKey()
        let store = Self.store(ScriptedTransport(etcd.answer))
        _ = try await store.opened()
        let name = try SessionName("work")
        #expect(await Self.fault(of: name, in: store) == nil)
        etcd.setRevision(5)
        let fault = await Self.fault(of: name, in: store)
        let (unread, mustReadAgain) = await (store.restores.unread, store.mustReadAgain)
        // It is reported again when everything was read.
        #expect(fault == .wentBack && mustReadAgain && unread == [name])
    }

    @Test("is reported when everything was read again if a write of it has failed because etcd went back")
    func newSignIn() async throws {
        let etcd = OneKey()
        let store = Self.store(ScriptedTransport(etcd.answer))
        _ = try await store.opened()
        etcd.setRevision(5)
        let sample = try etcdSample()
        let fault = await store.fault { store throws(StoreError) in
            _ = try await store.update(sample, replacesOther: true)
        }
        let (unread, mustReadAgain) = await (store.restores.unread, store.mustReadAgain)
        #expect(fault == .wentBack && mustReadAgain && unread == [sample.session])
    }

    @Test("is not signed out of if another host has noticed that etcd went back, whatever the revision is")
    func marked() async throws {
        try await EtcdMembers.running { members in
            let host = try EtcdHost()
            try await host.start(at: members.endpoints, watches: false) { store in
                try await store.save(etcdSample())
                await store.acceptHistory([nil])
                try await members.control("put", "/authd/ada/history", "another")
                try await members.control("del", "/authd/ada/sessions/work")
                let name = try SessionName("work")
                #expect(await Self.fault(of: name, in: store) == .wentBack)
            }
        }
    }

    @Test("is signed out of if etcd has the mark that the host expects")
    func removed() async throws {
        try await EtcdMembers.running { members in
            let host = try EtcdHost()
            try await host.start(at: members.endpoints, watches: false) { store in
                try await store.save(etcdSample())
                await store.acceptHistory([nil])
                try await members.control("del", "/authd/ada/sessions/work")
                let found = try await store.load(SessionName("work"))
                let isLost = try await store.hasLost(SessionName("work"))
                #expect(found == nil && !isLost)
            }
        }
    }

    @Test(
        "is signed out of if a watch reports that, unless a mark of another host came before",
        arguments: [nil, true, false])
    func reported(isMarkReported: Bool?) async throws {
        let etcd = OneKey()
        let store = Self.store(ScriptedTransport(etcd.answer))
        _ = try await store.opened()
        await store.acceptHistory([nil])
        let sample = try etcdSample()
        await store.expect(sample)
        var changes = [Self.change("sessions/work", at: 9)]
        switch isMarkReported {
        case true?: changes.insert(Self.change("history", at: 8, value: "another"), at: 0)
        // The watch began at a later revision than that of the mark.
        case false?: etcd.setHistory("another")
        case nil: break
        }
        #expect(await store.handle(.changes(Self.header(9), changes)) == nil)
        let (isSignedOut, mustReadAgain) = await (store.view.isSignedOut(sample.session), store.mustReadAgain)
        #expect(isSignedOut == (isMarkReported == nil) && mustReadAgain == (isMarkReported != nil))
    }

    @Test("is not signed out of while the mark that must be read first cannot be read: the watch ends")
    func unreadMark() async throws {
        let etcd = OneKey()
        let isDown = Mutex(false)
        let store = Self.store(
            ScriptedTransport { path, body throws(TransportError) in
                if isDown.withLock({ $0 }) { throw .connectionRefused(host: "one") }
                return try etcd.answer(path, body)
            })
        _ = try await store.opened()
        await store.acceptHistory([nil])
        let sample = try etcdSample()
        await store.expect(sample)
        isDown.withLock { $0 = true }
        let end = await store.handle(.changes(Self.header(9), [Self.change("sessions/work", at: 9)]))
        let isSignedOut = await store.view.isSignedOut(sample.session)
        #expect(end?.name == "cluster_watch_lost" && !isSignedOut)
    }

    @Test("is not signed out of if the watch is one of other members", arguments: [false, true])
    func otherCluster(hasChanges: Bool) async throws {
        let store = Self.store(ScriptedTransport(OneKey().answer))
        _ = try await store.opened()
        let sample = try etcdSample()
        await store.expect(sample)
        let header = Self.header(9, cluster: "2")
        _ = await store.handle(
            hasChanges ? .changes(header, [Self.change("sessions/work", at: 9)]) : .created(header))
        let (isSignedOut, mustReadAgain) = await (store.view.isSignedOut(sample.session), store.mustReadAgain)
        #expect(!isSignedOut && mustReadAgain)
    }

    @Test("is a different matter from one with an earlier last change than before: that shows that etcd went back")
    func older() async throws {
        let etcd = OneKey()
        let transport = ScriptedTransport { path, body throws(TransportError) in
            let key = Base64.encode(Array("/p/sessions/work".utf8))
            guard path == "kv/range", body["key"]?.stringValue == key else { return try etcd.answer(path, body) }
            let entry = "{\"key\":\"\(key)\",\"mod_revision\":\"5\",\"value\":\"AAAA\"}"
            return (200, "{\"header\":{\"cluster_id\":\"1\",\"revision\":\"9\"},\"kvs\":[\(entry)]}")
        }
        let store = Self.store(transport)
        _ = try await store.opened()
        let place = await store.places.session(try SessionName("work"))
        for (revision, hasGoneBack) in [(5, false), (8, true)] as [(Int64, Bool)] {
            _ = await store.handle(
                .changes(Self.header(revision), [Self.change("sessions/work", at: revision, value: "x")]))
            let entry = try await store.read(place)
            let mustReadAgain = await store.mustReadAgain
            #expect(entry?.modRevision == 5 && mustReadAgain == hasGoneBack)
        }
    }

    @Test("is signed out of if the host was stopped for long before it got the response with the mark that it expects")
    func stopped() async throws {
        let etcd = OneKey()
        let clock = SteppedClock()
        let transport = ScriptedTransport { path, body throws(TransportError) in
            if path == "kv/range" { clock.pass(.seconds(100)) }
            return try etcd.answer(path, body)
        }
        let store = Self.store(transport, clock: clock)
        await store.acceptHistory([nil])
        _ = try await store.readMarked()
        let another = EtcdEntry(key: "/p/history", value: Array("another".utf8), modRevision: 9)
        let mayLack = await store.restores.mayLackSignOuts(another, in: "1", at: clock.bootInstant)
        #expect(mayLack)
    }
}

/// A clock that a test moves.
private final class SteppedClock: SystemClock {
    private let passed = Mutex(Duration.zero)

    func pass(_ time: Duration) { passed.withLock { $0 += time } }

    func now() -> Moment {
        let passed = passed.withLock { $0 }
        return Moment(
            boot: BootInstant(sinceBoot: .seconds(1000) + passed),
            wall: WallTime(unixSeconds: 1_800_000_000) + passed)
    }

    func sleep(until deadline: BootInstant) async throws {}
}

extension EtcdStore {
    /// As if its record had been read.
    fileprivate func expect(_ record: SessionRecord) { view.saw(record.signIn, of: record.session) }
}
