import AuthModel
import AuthWire
import EtcdTestSupport
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import AuthEtcd

/// A member that answers, and is behind the others. Only status requests are answered by a member alone.
@Suite("A member of etcd that is behind", .timeLimit(.minutes(1)))
struct LaggingMemberTests {
    private static let created = #"{"result":{"header":{"cluster_id":"1","revision":"7"},"created":true}}"#

    /// An etcd with one session, whose first member is as the test sets it.
    private final class Cluster: Sendable {
        private let etcd = OneKey()
        private let isCutOff = Mutex(false)
        private let change = Mutex<Int64?>(nil)

        /// The first member is cut off from the leader: reads that need a majority end without one, and its watch is silent.
        func cutOff() { isCutOff.withLock { $0 = true } }

        /// The session has this last change from now on; `nil`: it is gone. No watch reports that.
        func setChange(_ revision: Int64?) {
            change.withLock { $0 = revision }
            etcd.setRevision(20)
        }

        func answer(
            _ host: String, _ path: String, _ body: JSON
        ) throws(TransportError) -> (status: Int, body: String) {
            if isCutOff.withLock({ $0 }), host == "one", path.hasPrefix("kv/") {
                return (503, #"{"error":"etcdserver: request timed out","code":14}"#)
            }
            let isSnapshot = (body["success"]?.arrayValue ?? []).contains { $0["request_range"]?["keys_only"] != nil }
            let answer = try etcd.answer(path, body)
            guard isSnapshot, let revision = change.withLock({ $0 }) else { return answer }
            let key = Base64.encode(Array("/p/sessions/work".utf8))
            let list = "{\"response_range\":{\"kvs\":[{\"key\":\"\(key)\",\"mod_revision\":\"\(revision)\"}]}},"
            guard let place = answer.body.range(of: "\"responses\":[") else { return answer }
            return (200, answer.body.replacingCharacters(in: place.upperBound..<place.upperBound, with: list))
        }
    }

    /// Runs the store until its watch is open at the first member, changes etcd, and waits until it is open at the next one.
    private static func isLeft(_ cluster: Cluster, after change: (Cluster) -> Void) async throws -> Bool {
        let watch = ScriptedTransport.Watch([Self.created], then: .stays)
        let transport = ScriptedTransport(watches: [watch, watch], ofHosts: cluster.answer)
        let store = EtcdStore(
            .init(endpoints: ["http://one", "http://two"], prefix: "/p", user: nil, hostName: "one"),
            local: MemoryLocal(), transport: transport, clock: HostClock(), pause: { _ in await Task.yield() })
        let faults = store.faults()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await store.run() }
            defer { group.cancelAll() }
            let isOpen = try await until { transport.watchedHosts == ["one"] }
            change(cluster)
            let isNamed = await faults.first { $0 == .lagging } == .lagging
            let isNext = try await until { transport.watchedHosts.prefix(2) == ["one", "two"] }
            let obstacle = await store.obstacle()
            return isOpen && isNamed && isNext && obstacle == nil
        }
    }

    @Test("is left with an event if its reads time out because it is cut off from the leader")
    func cutOff() async throws {
        #expect(try await Self.isLeft(Cluster()) { $0.cutOff() })
    }

    @Test("is left with an event if its watch does not report a change that etcd has")
    func silentWatch() async throws {
        #expect(try await Self.isLeft(Cluster()) { $0.setChange(19) })
    }

    @Test("is left with an event if its watch does not report a sign-out")
    func silentSignOut() async throws {
        let cluster = Cluster()
        cluster.setChange(5)
        #expect(try await Self.isLeft(cluster) { $0.setChange(nil) })
    }

    @Test("is one whose watch lacks what etcd had at the revision of a read")
    func view() throws {
        var view = ClusterView()
        let (work, home) = (try SessionName("work"), try SessionName("home"))
        _ = view.read(EtcdHeader(clusterID: "1", revision: 9), [work: 5])
        #expect(!view.lacks([work: 5], at: 9) && !view.lacks([work: 4], at: 9))
        #expect(view.lacks([work: 6], at: 9) && view.lacks([work: 5, home: 8], at: 9) && view.lacks([:], at: 9))
        // It was written after that read.
        #expect(!view.lacks([:], at: 4))
    }

    @Test("is a different matter from a session with an earlier last change: etcd went back then")
    func older() async throws {
        let cluster = Cluster()
        cluster.setChange(5)
        let watch = ScriptedTransport.Watch([Self.created], then: .stays)
        let transport = ScriptedTransport(watches: [watch, watch], ofHosts: cluster.answer)
        let store = EtcdStore(
            .init(endpoints: ["http://one", "http://two"], prefix: "/p", user: nil, hostName: "one"),
            local: MemoryLocal(), transport: transport, clock: HostClock(), pause: { _ in await Task.yield() })
        let faults = store.faults()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await store.run() }
            defer { group.cancelAll() }
            let isOpen = try await until { transport.watchedHosts == ["one"] }
            cluster.setChange(4)
            let isNoticed = await faults.first { $0 == .wentBack } == .wentBack
            let isNext = try await until { transport.watchedHosts.prefix(2) == ["one", "one"] }
            #expect(isOpen && isNoticed && isNext)
        }
    }
}
