import AuthEtcd
import AuthModel
import AuthWire
import EtcdTestSupport
import TestSupport
import Testing

@Suite("A write to etcd", .timeLimit(.minutes(2)))
struct HeldWriteTests {
    @Test(
        "that waits for the host that renews the session ends as soon as the watch reports a write or a release",
        arguments: [true, false])
    func reported(isWritten: Bool) async throws {
        let work = try SessionName("work")
        let (pauses, paused) = AsyncStream<Void>.makeStream()
        try await TwoHosts.running { duration in
            guard duration == .milliseconds(200) else {
                return try await Task.sleep(for: duration, clock: .suspending)
            }
            paused.yield()
            // Only the watch ends this pause.
            let (end, continuation) = AsyncStream<Never>.makeStream()
            for await _ in end {}
            continuation.finish()
        } _: { hosts in
            let lease = try await hosts.store.grantLease().id
            _ = try await hosts.store.hold(work, for: etcdSample().version, under: lease)
            let stored = try await withThrowingTaskGroup(of: SessionRecord?.self) { group in
                group.addTask { [other = hosts.other] in
                    try await other.update(etcdSample(generation: 2), replacesOther: false).stored
                }
                _ = await pauses.first { _ in true }
                if isWritten {
                    _ = try await hosts.store.update(etcdSample(generation: 3), replacesOther: false)
                } else {
                    try await hosts.store.release(work, leaving: .answered)
                }
                return try await group.next() ?? nil
            }
            #expect(try stored == (isWritten ? etcdSample(generation: 3) : nil))
        }
    }

    @Test("is accepted of a host that gave up its lost hold, as long as no other one has claimed the session")
    func givenUp() async throws {
        let (work, sample) = (try SessionName("work"), try etcdSample())
        try await TwoHosts.running { hosts in
            let lease = try await hosts.store.grantLease().id
            _ = try await hosts.store.hold(work, for: sample.version, under: lease)
            try await hosts.members.control("lease", "revoke", String(lease.number, radix: 16))
            // It learns that its hold is lost, and gives up after some minutes.
            await #expect(throws: StoreError.cluster(.leaseLost)) {
                _ = try await hosts.store.claim(work, for: sample.version)
            }
            try await hosts.store.release(work, leaving: .abandoned)
            // The other one waits for its result.
            let others = try await hosts.other.grantLease().id
            let outcome = try await hosts.other.hold(work, for: sample.version, under: others)
            #expect(outcome == .held(sample, after: .abandoned))
            #expect(try await hosts.store.update(etcdSample(generation: 2), replacesOther: false).stored == nil)
        }
    }
}
