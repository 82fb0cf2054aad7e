import AuthClient
import AuthWire
import StandInBackends
import Synchronization

/// Programs that ask their agents for tokens all the time, and what they got.
final class ClusterClients: Sendable {
    private struct State {
        var served = ServedTokens()
        var interruptions: [Interruption] = []
        var wellSince: ContinuousClock.Instant?
        var reported = (faults: 0, late: 0)
    }

    private let server: OAuthStandIn
    private let state = Mutex(State())

    init(server: OAuthStandIn) {
        self.server = server
    }

    /// Runs so many clients of each host until the task is cancelled.
    func run(_ count: Int, of hosts: [ClusterHost], session: SessionName) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for host in hosts {
                for _ in 0..<count {
                    let client = try AuthClient(socket: host.socket)
                    group.addTask { await self.ask(client, of: host, session) }
                }
            }
            try await group.waitForAll()
        }
    }

    private func ask(_ client: AuthClient, of host: ClusterHost, _ session: SessionName) async {
        while !Task.isCancelled {
            let asked = ContinuousClock.now
            do throws(ClientError) {
                let result = try await client.token(session: session)
                let response = ServedTokens.Response(
                    token: result.accessToken, host: host.address, askedAt: asked, answeredAt: .now)
                let standing = server.standing(ofAccessToken: result.accessToken)
                let refusals = standing?.revokedAt == nil ? [] : server.renewals.filter { $0.accessToken == nil }
                state.withLock {
                    $0.served.add(
                        response, standing, refusals: refusals, interruptions: $0.interruptions, wellSince: $0.wellSince
                    )
                }
            } catch {
                if Task.isCancelled { return }
                let words = error.words
                state.withLock {
                    $0.served.fail(
                        words, host: host.address, askedAt: asked, answeredAt: .now, interruptions: $0.interruptions)
                }
            }
            // How often a client asks, and not a wait for something. 200 of them send 400 requests a second: as many as
            // two busy cores answer without a queue.
            try? await Task.sleep(for: .milliseconds(Int.random(in: 250...750)))
        }
    }

    var served: ServedTokens { state.withLock { $0.served } }
    var interruptions: [Interruption] { state.withLock { $0.interruptions } }

    func begin(_ interruption: Interruption) {
        state.withLock { state in
            state.wellSince = nil
            state.interruptions.append(interruption)
        }
    }

    func endInterruption() {
        state.withLock { $0.interruptions[$0.interruptions.count - 1].ended = .now }
    }

    /// Nothing is left of any fault.
    func allIsWell() { state.withLock { $0.wellSince = .now } }

    /// Faults since the last call.
    /// - Parameter leaders: the leaders of etcd until now. A new leader begins each lease again.
    func newFaults(_ leaders: LeaderTerms) -> [String] {
        state.withLock { state in
            let served = state.served
            defer { state.reported = (served.faults.count, served.lateFaults.count) }
            let late = served.lateFaults.dropFirst(state.reported.late).filter { $0.isFault(leaders) }
            return Array(served.faults.dropFirst(state.reported.faults)) + late.map(\.words)
        }
    }
}

extension ClientError {
    /// For counts.
    var words: String {
        switch self {
        case .agent(let error): [error.kind?.rawValue, error.cause].compactMap(\.self).joined(separator: ", ")
        case .noAgent: "no agent"
        case .closed: "the agent was killed"
        case .timedOut: "no response in time"
        default: "\(self)"
        }
    }
}
