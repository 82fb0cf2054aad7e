import AuthModel
import AuthSealedFile
import AuthWire
import EtcdTestSupport
import Synchronization
import TestSupport
import Testing

@testable import AuthEtcd

/// A sign-out removes the record, with its list of former sign-ins. It leaves a list for the next record.
@Suite("The list of ended sign-ins that a sign-out leaves in etcd", .timeLimit(.minutes(2)))
struct SignOutListTests {
    private static let place = "/authd/ada/signouts/work"

    private let session: SessionName
    private let first: SignInID
    /// A later sign-in than that of the sample.
    private let later: SessionRecord

    init() throws {
        session = try SessionName("work")
        first = try etcdSample().signIn
        var later = try etcdSample()
        later.signIn = try #require(SignInID("s2-1"))
        self.later = later
    }

    private func listed(_ store: EtcdStore) async -> [SignInID] {
        await store.view.signIns(before: later.signIn, of: session)
    }

    @Test("is sealed, on a lease, and read by a host that was started after the sign-out, before it signs in")
    func laterStart() async throws {
        try await EtcdMembers.running { members in
            let host = try EtcdHost()
            let backup = try await host.start(at: members.endpoints) { store in
                try await store.save(etcdSample())
                let backup = try await members.backUp()
                try await store.delete(session)
                return backup
            }
            let left = try await members.dump(Self.place)
            #expect(left.contains(Self.place) && !left.contains(first.text) && !left.contains("\"Lease\" : 0"))
            try await host.start(at: members.endpoints) { store in
                #expect(await listed(store) == [])
                try await store.save(later)
                #expect(await listed(store) == [first])
            }
            // No host has seen the first sign-in.
            try await host.start(at: members.endpoints) { store in
                try await expectWrittenAgain(later, by: store, afterRestoring: backup, at: members)
            }
        }
    }

    @Test("ends a sign-in whose write had no response, and that another host has signed out of meanwhile")
    func unansweredSignIn() async throws {
        try await TwoHosts.running { hosts in
            let record = try #require(try await hosts.store.load(session))
            try await hosts.store.delete(session)
            let last = try EtcdHost("three")
            try await admit(last, by: hosts.store, at: hosts.members)
            try await last.start(at: hosts.members.endpoints) { store in
                await #expect(throws: StoreError.cluster(.removed)) {
                    try await store.update(record, replacesOther: true)
                }
                #expect(try await store.load(session) == nil)
                // Unlike an import.
                try await store.save(record)
                #expect(try await store.load(session) == record)
            }
        }
    }

    @Test("continues the list of the record, and does not contain the sign-in that comes back")
    func again() async throws {
        try await EtcdMembers.running { members in
            let host = try EtcdHost()
            try await host.start(at: members.endpoints) { store in
                try await store.save(etcdSample())
                try await store.delete(session)
            }
            for _ in 1...2 {
                try await host.start(at: members.endpoints) { store in
                    try await store.save(later)
                    #expect(await listed(store) == [first])
                    try await store.delete(session)
                }
            }
            try await host.start(at: members.endpoints) { store in
                try await store.save(etcdSample())
                #expect(await store.view.signIns(before: first, of: session) == [later.signIn])
            }
        }
    }

    @Test("is sealed with the newest record key, even by a host that has not read the change of the key")
    func keyChange() async throws {
        try await TwoHosts.running { hosts in
            let slow = try EtcdHost("three")
            try await admit(slow, by: hosts.store, at: hosts.members)
            try await slow.start(at: hosts.members.endpoints, watches: false) { store in
                _ = try await store.load(session)
                // The record is still sealed with the former key.
                let changed = try await hosts.store.change { (membership, accepted) throws(ClusterFault) in
                    try membership.rekeyed(accepted)
                }
                try await store.delete(session)
                let list = try #require(try await store.read(Self.place))
                let key = try SealedBytes.hex(SealedBytes.header(of: list.value).keyID)
                #expect(key == changed.accepted.roster.keyIDs.first)
                try await hosts.store.settle(changed)
            }
            // It has no former key.
            let last = try EtcdHost("four")
            try await admit(last, by: hosts.store, at: hosts.members)
            try await last.start(at: hosts.members.endpoints) { store in
                try await store.save(later)
                #expect(await listed(store) == [first])
            }
        }
    }

    @Test("stays sealed when the record key changes, and says nothing to a host without the former key")
    func formerKey() async throws {
        try await TwoHosts.running { hosts in
            try await hosts.store.delete(session)
            try await hosts.store.changeRecordKey()
            try await hosts.store.endKeyChange()
            let last = try EtcdHost("three")
            try await admit(last, by: hosts.store, at: hosts.members)
            try await last.start(at: hosts.members.endpoints) { store in
                try await store.save(later)
                #expect(await listed(store) == [])
                #expect(try await store.load(session) == later)
            }
        }
    }

    @Test("says nothing if it is damaged or too long", arguments: [9, 1_400_000])
    func damaged(bytes: Int) async throws {
        try await EtcdMembers.running { members in
            let host = try EtcdHost()
            try await host.start(at: members.endpoints) { store in
                _ = try await store.loadAll()
                try await members.control("put", Self.place, input: String(repeating: "x", count: bytes))
                try await store.save(later)
                let (record, obstacle) = (try await store.load(session), await store.obstacle())
                #expect(record == later && obstacle == nil)
                #expect(await listed(store) == [])
            }
        }
    }

    private static func key(_ step: JSON?) -> String? {
        step?["key"]?.stringValue.flatMap(Base64.decode).map { String(decoding: $0, as: UTF8.self) }
    }

    /// An etcd that stores one session and refuses requests about the list. A role without access to it may not even
    /// compare it. Another session cannot be read.
    private func store(refusing refusal: (status: Int, body: String)) -> (EtcdStore, @Sendable () -> [String]) {
        let (session, list) = ("/p/sessions/work", "/p/signouts/work")
        let etcd = OneKey()
        let stored = Mutex<String?>(nil)
        let changes = Mutex<[String]>([])
        let transport = ScriptedTransport { path, body throws(TransportError) in
            let steps = body["success"]?.arrayValue ?? []
            let puts = steps.compactMap { $0["request_put"] }
            let compared = refusal.status == 403 ? body["compare"]?.arrayValue ?? [] : []
            if ([body] + puts + compared).contains(where: { Self.key($0) == list }) { return refusal }
            if Self.key(body) == "/p/sessions/other" { return (500, #"{"code":2,"message":"unexpected"}"#) }
            let header = #""header":{"cluster_id":"1","revision":"7"}"#
            if path == "lease/grant" { return (200, "{\(header),\"ID\":\"5\",\"TTL\":\"3600\"}") }
            if path == "kv/range", Self.key(body) == session, let value = stored.withLock({ $0 }) {
                let key = Base64.encode(Array(session.utf8))
                let entry = "{\"key\":\"\(key)\",\"mod_revision\":\"7\",\"value\":\"\(value)\"}"
                return (200, "{\(header),\"kvs\":[\(entry)]}")
            }
            if let put = puts.first(where: { Self.key($0) == session }) {
                stored.withLock { $0 = put["value"]?.stringValue }
                changes.withLock { $0.append("written") }
            }
            if steps.contains(where: { Self.key($0["request_delete_range"]) == session }) {
                stored.withLock { $0 = nil }
                changes.withLock { $0.append("removed") }
            }
            return try etcd.answer(path, body)
        }
        let store = EtcdStore(
            .init(endpoints: ["http://one"], prefix: "/p", user: nil, hostName: "one"), local: MemoryLocal(),
            transport: transport, clock: HostClock(), pause: { _ in await Task.yield() })
        return (store, { changes.withLock { $0 } })
    }

    @Test(
        "does not prevent a sign-in or a sign-out if etcd refuses it, and is no fault then",
        arguments: [
            (403, #"{"code":7,"message":"etcdserver: permission denied"}"#),
            (429, #"{"code":8,"message":"etcdserver: mvcc: database space exceeded"}"#),
        ])
    func refused(status: Int, body: String) async throws {
        let (store, changes) = store(refusing: (status, body))
        let faults = store.faults()
        try await store.save(later)
        try await store.delete(session)
        try await store.save(later)
        #expect(changes() == ["written", "removed", "written"])
        #expect(await store.obstacle() == nil)
        // Only then is there a first fault.
        let other = try SessionName("other")
        await #expect(throws: StoreError.self) { try await store.load(other) }
        #expect(await faults.first { _ in true } == .unreachable(reason: "unexpected"))
    }
}
