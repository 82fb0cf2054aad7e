import AuthModel
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

    @Test("has no session that is missing, if a host may have missed a sign-out", arguments: [false, true])
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
}

extension EtcdStore {
    /// As if this host had read the mark that it expects this long ago.
    fileprivate func simulateSilence(of time: Duration) {
        restores.checked(nil, at: clock.bootInstant - time)
    }
}
