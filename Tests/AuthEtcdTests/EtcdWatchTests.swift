import AuthModel
import AuthWire
import EtcdTestSupport
import TestSupport
import Testing

@testable import AuthEtcd

/// With an etcd of the test's own making, and without waiting.
@Suite("The watch of etcd", .timeLimit(.minutes(1)))
struct EtcdWatchTests {
    private static let created = #"{"result":{"header":{"cluster_id":"1","revision":"7"},"created":true}}"#
    private static let change = #"""
        {"result":{"header":{"cluster_id":"1","revision":"8"},"events":[{"kv":{"key":"\#(
            Base64.encode(Array("/p/sessions/work".utf8)))","mod_revision":"8","value":""}}]}}
        """#

    /// A store whose cluster is created in an etcd that holds one key.
    private func store(
        _ transport: ScriptedTransport,
        pause: @escaping @Sendable (Duration) async throws -> Void = { _ in await Task.yield() }
    ) -> EtcdStore {
        EtcdStore(
            .init(endpoints: ["http://one", "http://two"], prefix: "/p", user: nil, hostName: "one"),
            local: MemoryLocal(), transport: transport, clock: HostClock(), pause: pause)
    }

    /// Runs the store until a fault of that name occurs.
    private func fault(_ name: String, with watches: [ScriptedTransport.Watch]) async -> (Bool, ScriptedTransport) {
        let etcd = OneKey()
        // That of ``change``: a read after it must not show an earlier state.
        etcd.setRevision(8)
        let transport = ScriptedTransport(watches: watches, etcd.answer)
        let store = store(transport)
        let isFound = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await store.run()
                return false
            }
            group.addTask {
                for await fault in store.faults() where fault.name == name { return true }
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
        return (isFound, transport)
    }

    @Test("ends if what receives its messages requires that")
    func endedByReceiver() async {
        let store = store(ScriptedTransport(watches: [.init([Self.created], then: .stays)], OneKey().answer))
        let end = await store.client.watch("/p/", to: EtcdPlaces.end(of: "/p/"), from: 1) { _ in .wentBack }
        #expect(end == .wentBack)
    }

    @Test("reads everything again after a compaction")
    func compacted() async {
        let line = #"{"result":{"header":{"cluster_id":"1"},"canceled":true,"compact_revision":"9"}}"#
        // The connection stays open after the end of the watch.
        let (isFound, transport) = await fault("cluster_compacted", with: [.init([Self.created, line], then: .stays)])
        #expect(isFound && transport.requestedWatches.count >= 1)
    }

    @Test(
        "begins again after the stream was lost",
        arguments: [ScriptedTransport.Watch.End.ends, .fails(.connectionLost(host: "one", reason: "it was reset"))])
    func lost(_ end: ScriptedTransport.Watch.End) async {
        let (isFound, _) = await fault("cluster_watch_lost", with: [.init([Self.created, Self.change], then: end)])
        #expect(isFound)
    }

    @Test("ends with a message that is not one", arguments: ["nothing of use", "{}", #"{"result":{}}"#, "[]"])
    func invalid(_ line: String) async {
        let (isFound, _) = await fault("cluster_invalid", with: [.init([Self.created, line], then: .stays)])
        #expect(isFound)
    }

    @Test("ends with a message that is longer than etcd's")
    func long() async {
        let line = String(repeating: " ", count: EtcdLimits.watchLine)
        let (isFound, _) = await fault("cluster_invalid", with: [.init([Self.created, line], then: .stays)])
        #expect(isFound)
    }

    @Test("is refused with a reason")
    func denied() async {
        let line =
            #"{"result":{"header":{},"created":true,"canceled":true,"cancel_reason":"etcdserver: permission denied"}}"#
        let (isFound, _) = await fault("cluster_denied", with: [.init([line], then: .stays)])
        #expect(isFound)
    }

    @Test(
        "ends if the member has no leader, and another one is used",
        arguments: [
            #"{"error":{"grpc_code":14,"http_code":503,"message":"etcdserver: no leader"}}"#,
            // etcd 3.6.
            #"{"error":{"code":14,"message":"etcdserver: no leader","details":[]}}"#,
        ])
    func noLeader(line: String) async {
        let (isFound, transport) = await fault("cluster_watch_lost", with: [.init([line], then: .ends)])
        #expect(isFound)
        let first = transport.askedHosts.first
        let store = store(transport)
        _ = try? await store.loadAll()
        #expect(first == "one")
    }

    @Test("ends, although it stays open, with any response that shows that etcd went back")
    func wentBack() async throws {
        let etcd = OneKey()
        let transport = ScriptedTransport(watches: [.init([Self.created], then: .stays)], etcd.answer)
        // The first check of the watch is not reached.
        let store = store(transport) { duration in
            guard duration == .seconds(30) else { return await Task.yield() }
            let (stream, continuation) = AsyncStream<Void>.makeStream()
            for await _ in stream {}
            continuation.finish()
            throw CancellationError()
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await store.run() }
            #expect(try await until { transport.requestedWatches.count == 1 })
            etcd.setRevision(5)
            let name = try SessionName("work")
            // It is missing, which says nothing now.
            let fault = await store.fault { store throws(StoreError) in _ = try await store.load(name) }
            #expect(fault == .wentBack)
            #expect(try await until { transport.requestedWatches.count == 2 })
            group.cancelAll()
        }
        #expect(transport.requestedWatches.last?["create_request"]?["start_revision"] == "6")
        #expect(await store.faults().first { _ in true } == .wentBack)
        #expect(await store.restores.noticedAt != nil)
        // Its member has not failed.
        #expect(Set(transport.askedHosts) == ["one"])
    }

    @Test("ends, although it stays open, if another host has noticed that etcd went back")
    func noticedElsewhere() async throws {
        let etcd = OneKey()
        let transport = ScriptedTransport(watches: [.init([Self.created], then: .stays)], etcd.answer)
        let store = store(transport)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await store.run() }
            let isOpen = try await until { transport.requestedWatches.count == 1 }
            // The revision is still the same.
            etcd.setHistory("another")
            let isOpenAgain = try await until { transport.requestedWatches.count == 2 }
            #expect(isOpen && isOpenAgain)
            group.cancelAll()
        }
        #expect(await store.faults().first { _ in true } == .wentBack)
        #expect(await store.restores.revision == 6)
    }

    @Test("reports the sessions of its messages")
    func changes() async throws {
        let transport = ScriptedTransport(watches: [.init([Self.created, Self.change], then: .stays)], OneKey().answer)
        let store = store(transport)
        let name = try SessionName("work")
        let found = await withTaskGroup(of: SessionName?.self) { group in
            group.addTask {
                await store.run()
                return nil
            }
            group.addTask { await store.changes().first { $0 == name } }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        #expect(found == name)
        let request = transport.requestedWatches.first?["create_request"]
        #expect(request?["start_revision"] == "8")
        #expect(request?["key"]?.stringValue == Base64.encode(Array("/p/".utf8)))
        #expect(request?["range_end"]?.stringValue == Base64.encode(Array("/p/sessions0".utf8)))
    }
}
