import Foundation
import StandInBackends
import TestSupport

extension ClusterWorld {
    /// Waits for the moment of a fault.
    /// - Returns: the host that it is about.
    func target(of plan: FaultPlan) async throws -> ClusterHost {
        switch plan.moment {
        case .any(let wait):
            // Not a wait for something to happen: the moment of the fault is what is tried, as below.
            try await Task.sleep(for: wait)
            return hosts[plan.host]
        case .committed(let wait):
            let before = server.renewals.count
            try await server.waitForRenewals { $0.dropFirst(before).contains { $0.accessToken != nil } }
            guard let commit = server.renewals.last(where: { $0.accessToken != nil }) else { return hosts[plan.host] }
            try await ContinuousClock().sleep(until: commit.at + wait)
            return hosts.first { $0.address == commit.client } ?? hosts[plan.host]
        }
    }

    /// Carries a fault out, from its beginning to its end.
    func interrupt(by plan: FaultPlan, _ host: ClusterHost) async throws {
        // Found before the fault, as etcdctl takes a while.
        let leader = plan.kind == .leaderKilled ? try? await members.leader() : nil
        let member = leader ?? plan.member
        clients.begin(Interruption(kind: plan.kind, host: plan.kind.isOfHost ? host.address : nil, began: .now))
        switch plan.kind {
        case .agentKilled:
            await host.kill()
            try await Task.sleep(for: plan.length)
            try await host.start()
        case .agentPaused:
            try host.signal(SIGSTOP)
            try await Task.sleep(for: plan.length)
            try host.signal(SIGCONT)
        case .leaderKilled, .memberKilled:
            await members.kill(member)
            try await Task.sleep(for: plan.length)
            try await members.start(member)
        case .hostCutFromEtcd: try await cut(host.address, from: network.members.map(\.address), plan.length)
        case .memberCut:
            let address = network.members[member].address
            try await cut(address, from: network.members.map(\.address).filter { $0 != address }, plan.length)
        case .hostCutFromProvider: try await cut(host.address, from: [ClusterNetwork.provider], plan.length)
        }
        clients.endInterruption()
    }

    private func cut(_ address: String, from others: [String], _ length: Duration) async throws {
        try await network.cut(address, from: others)
        try await Task.sleep(for: length)
        try await network.joinAgain()
    }
}
