import AuthModel
import AuthSealedFile
import AuthWire
import EtcdTestSupport
import Synchronization
import TestSupport
import Testing

@testable import AuthEtcd

@Suite("A record of etcd that cannot be read at the moment", .timeLimit(.minutes(1)))
struct UnreadRecordTests {
    @Test("is not replaced if a newer authd wrote it: its tokens may be the only ones that the provider accepts")
    func newerFormat() async throws {
        try await EtcdMembers.running { members in
            try await EtcdHost("one").start(at: members.endpoints) { store in
                var record = try etcdSample(generation: 2)
                try await store.save(record)
                var members = try #require(JSON(parsing: record.encoded().revealBytes()).objectValue)
                members["format"] = 4
                let newer = Secret(bytes: JSON.object(members).serialized())
                let stored = try #require(try await store.put(newer, as: record.session))
                // What this host has is older. A new sign-in could not be read by the other hosts either.
                for signIn in ["s1-2", "s9-9"] {
                    (record.signIn, record.revision) = (try #require(SignInID(signIn)), record.revision + 1)
                    do throws(StoreError) {
                        _ = try await store.update(record, replacesOther: true)
                        Issue.record("It was replaced.")
                    } catch {
                        guard case .failed(let reason) = error else { throw error }
                        #expect(reason.contains("update authd"), "\(reason)")
                        // The other sessions are not affected.
                        #expect(await store.states().first { _ in true } == .ready)
                    }
                }
                #expect(try await store.revision(of: record.session) == stored)
                // Users can still sign out.
                try await store.delete(record.session)
                #expect(try await store.revision(of: record.session) == nil)
            }
        }
    }

    @Test("is not removed by a sign-out like a damaged one: it may be of a later sign-in")
    func signOut() async throws {
        let place = "/p/sessions/work"
        let sealed = try SealedBytes.seal(
            Secret("another key"), name: place, label: "template", generation: 1, key: .random())
        let entry = #"""
            {"header":{"cluster_id":"1","revision":"7"},"kvs":[{"key":"\#(
                Base64.encode(Array(place.utf8)))","mod_revision":"5","value":"\#(Base64.encode(sealed))"}]}
            """#
        let etcd = OneKey()
        let isSilent = Mutex(false)
        let removals = Mutex(0)
        let transport = ScriptedTransport { path, body throws(TransportError) in
            if path == "kv/range", body["key"]?.stringValue == Base64.encode(Array(place.utf8)) { return (200, entry) }
            guard isSilent.withLock({ $0 }) else { return try etcd.answer(path, body) }
            if path == "kv/txn" { removals.withLock { $0 += 1 } }
            throw .connectionLost(host: "one", reason: "it was reset")
        }
        let store = EtcdStore(
            .init(endpoints: ["http://one"], prefix: "/p", user: nil, hostName: "one"), local: MemoryLocal(),
            transport: transport, clock: HostClock(), pause: { _ in await Task.yield() })
        _ = try await store.opened()
        isSilent.withLock { $0 = true }
        let name = try SessionName("work")
        let fault = await store.fault { store throws(StoreError) in try await store.delete(name) }
        #expect(fault?.name == "cluster_unreachable" && removals.withLock { $0 } == 0)
    }
}

extension EtcdStore {
    /// - Returns: the revision of the record.
    fileprivate func put(_ content: Secret, as session: SessionName) async throws(StoreError) -> Int64? {
        let terms = { (_: Secret?) throws(StoreError) in WriteTerms() }
        return try await write({ content }, label: "app-template", to: places.session(session), terms: terms)?.revision
    }

    fileprivate func revision(of session: SessionName) async throws(StoreError) -> Int64? {
        try await read(places.session(session))?.modRevision
    }
}
