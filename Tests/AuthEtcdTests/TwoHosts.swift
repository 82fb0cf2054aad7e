import AuthEtcd
import AuthModel
import AuthWire
import EtcdTestSupport
import TestSupport
import Testing

/// Two hosts of one cluster, with the sample in it.
struct TwoHosts {
    let store: EtcdStore
    /// What the first host loses.
    let losses: Losses
    let other: EtcdStore
    let members: EtcdMembers

    /// - Parameters:
    ///   - clockError: of the second host.
    ///   - pause: what the store of the second host waits with.
    static func running(
        clockError: Duration = .zero, pause: (@Sendable (Duration) async throws -> Void)? = nil,
        _ body: (TwoHosts) async throws -> Void
    ) async throws {
        try await EtcdMembers.running { members in
            let one = try EtcdHost("one")
            var two = try EtcdHost("two")
            two.clockError = clockError
            if let pause { two.pause = pause }
            try await one.start(at: members.endpoints) { store in
                try await store.save(etcdSample())
                try await admit(two, by: store, at: members)
                try await two.start(at: members.endpoints) { other in
                    #expect(await other.states().first { $0 == .ready } == .ready)
                    _ = try await other.load(SessionName("work"))
                    try await body(TwoHosts(store: store, losses: one.losses, other: other, members: members))
                }
            }
        }
    }
}
