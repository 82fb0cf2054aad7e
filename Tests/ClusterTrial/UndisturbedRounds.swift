import AuthClient
import AuthWire
import StandInBackends

/// While nothing fails, one host after the other renews or signs out, and the others are watched.
enum UndisturbedRounds {
    private typealias Instant = ContinuousClock.Instant

    private enum Outcome: Sendable {
        case known(HostTimes.Arrival)
        case timeIsUp
    }

    /// - Parameter faults: the number of faults that follow: as many renewals, and a fifth as many sign-outs.
    static func play(before faults: Int, in world: ClusterWorld) async throws -> HostTimes {
        var times = HostTimes()
        for number in 0..<faults { try await renew(on: number % world.hosts.count, in: world, &times) }
        for number in 0..<max(1, faults / 5) { try await signOut(on: number % world.hosts.count, in: world, &times) }
        return times
    }

    private static func renew(on number: Int, in world: ClusterWorld, _ times: inout HostTimes) async throws {
        let (host, probe, session) = (world.hosts[number].address, world.probes[number], world.session)
        let earlier = world.server.renewals.count
        do {
            let former = try await probe.token(session: session).accessToken
            let (done, arrivals) = try await watch(world, except: number) {
                _ = try await probe.call(SessionRefresh(SessionParams(session: session)))
            } whenKnown: { host, other in
                // The first event is a snapshot.
                for try await _ in other.events(topics: [.session], session: session) {
                    let token = try await other.token(session: session).accessToken
                    if isLater(token, than: former, in: world) {
                        return HostTimes.Arrival(host: host, token: token, at: .now)
                    }
                }
                return HostTimes.Arrival(host: host, at: nil)
            }
            let renewal = world.server.renewals.dropFirst(earlier).last { $0.client == host && $0.accessToken != nil }
            // If another host has renewed at the same time, this one had nothing to do.
            guard let token = renewal?.accessToken, let standing = world.server.standing(ofAccessToken: token)
            else { return }
            times.noteRenewal(of: token, by: host, issued: standing.issuedAt, done: done, arrivals)
        } catch let error as ClientError {
            times.fail("\(host) did not renew: \(error.words)")
        }
    }

    /// A host that lags serves an earlier token, and is still to get the new one.
    private static func isLater(_ token: String, than former: String, in world: ClusterWorld) -> Bool {
        guard let known = world.server.standing(ofAccessToken: former),
            let found = world.server.standing(ofAccessToken: token)
        else { return false }
        return found.issuedAt > known.issuedAt
    }

    private static func signOut(on number: Int, in world: ClusterWorld, _ times: inout HostTimes) async throws {
        let (host, probe, session) = (world.hosts[number], world.probes[number], world.session)
        let requested = Instant.now
        do {
            let (_, arrivals) = try await watch(world, except: number) {
                _ = try await probe.call(SessionLogout(session: session))
            } whenKnown: { host, other in
                _ = try await other.call(SessionWait(session: session, until: .signedOut))
                return HostTimes.Arrival(host: host, at: .now)
            }
            times.noteSignOut(by: host.address, requested: requested, arrivals)
        } catch let error as ClientError {
            times.fail("\(host.address) did not sign out: \(error.words)")
        }
        try await host.signIn { try world.server.decide(userCode: $0, approve: true) }
        guard await ClusterTrial.isShared(in: world) else {
            throw TrialError("the agents do not serve the same token after a sign-out:\n\(host.lastLines)")
        }
    }

    /// Does something on one host, and waits until each other one knows of it, or until the time is up.
    /// - Parameter whenKnown: returns when the host with this address and client knows of it.
    /// - Returns: when it was done, and when the others knew.
    private static func watch(
        _ world: ClusterWorld, except number: Int, _ act: @Sendable () async throws -> Void,
        whenKnown: @escaping @Sendable (String, AuthClient) async throws -> HostTimes.Arrival
    ) async throws -> (done: Instant, arrivals: [HostTimes.Arrival]) {
        let others = world.hosts.indices.filter { $0 != number }.map { (world.hosts[$0].address, world.probes[$0]) }
        return try await withThrowingTaskGroup(of: Outcome.self) { group in
            for (host, probe) in others {
                group.addTask {
                    .known((try? await whenKnown(host, probe)) ?? HostTimes.Arrival(host: host, at: nil))
                }
            }
            try await act()
            let done = Instant.now
            group.addTask {
                try? await Task.sleep(for: HostTimes.limit)
                return .timeIsUp
            }
            var arrivals: [HostTimes.Arrival] = []
            while arrivals.count < others.count, case .known(let arrival)? = try await group.next() {
                arrivals.append(arrival)
            }
            group.cancelAll()
            let missing = others.map(\.0).filter { host in !arrivals.contains { $0.host == host } }
            return (done, arrivals + missing.map { HostTimes.Arrival(host: $0, at: nil) })
        }
    }
}
