import AuthClient
import AuthWire
import Foundation
import StandInBackends
import TestSupport

/// Three members of etcd, five hosts with agents that share a session, and a provider that replaces refresh tokens, and ends a
/// session whose refresh token is used twice.
final class ClusterWorld: Sendable {
    static let hostCount = 5
    static let memberCount = 3
    /// The life of an access token.
    static let tokenLife = Duration.seconds(10)
    private static let clientsOfHost = 40
    /// Longer than any recovery.
    private static let grace = Duration.seconds(120)

    let network: ClusterNetwork
    let members: EtcdMembers
    let server: OAuthStandIn
    let hosts: [ClusterHost]
    let clients: ClusterClients
    let session: SessionName
    /// A client of each host's agent, in the order of `hosts`.
    let probes: [AuthClient]

    private init(
        network: ClusterNetwork, members: EtcdMembers, server: OAuthStandIn, hosts: [ClusterHost]
    ) throws {
        (self.network, self.members, self.server, self.hosts) = (network, members, server, hosts)
        clients = ClusterClients(server: server)
        session = try SessionName(ClusterHost.provider)
        probes = try hosts.map { try AuthClient(socket: $0.socket) }
    }

    /// Opens it, plays, and ends everything in it.
    static func play<Value: Sendable>(
        _ body: @escaping @Sendable (ClusterWorld) async throws -> Value
    ) async throws -> Value {
        let network = try await ClusterNetwork(hosts: hostCount, members: memberCount)
        var options = EtcdMembers.Options()
        options.count = memberCount
        options.places = network.members.map { EtcdMembers.Place(address: $0.address, through: $0.through) }
        let certificates = try await EtcdCertificates(addresses: network.members.map(\.address))
        options.certificates = certificates
        var configuration = OAuthStandIn.Configuration()
        configuration.host = ClusterNetwork.provider
        configuration.tokenLifetime = tokenLife
        let members = try await EtcdMembers.started(options)
        let result: Result<Value, any Error>
        do {
            result = .success(
                try await OAuthStandIn.serving(configuration) { server in
                    try await play(network, members, server, certificates, body)
                })
        } catch {
            result = .failure(error)
        }
        await members.end()
        await network.end()
        return try result.get()
    }

    private static func play<Value: Sendable>(
        _ network: ClusterNetwork, _ members: EtcdMembers, _ server: OAuthStandIn, _ certificates: EtcdCertificates,
        _ body: @escaping @Sendable (ClusterWorld) async throws -> Value
    ) async throws -> Value {
        var hosts: [ClusterHost] = []
        let result: Result<Value, any Error>
        do {
            for place in network.hosts {
                hosts.append(
                    try await ClusterHost(
                        place, issuer: server.issuer, endpoints: members.endpoints, certificates))
            }
            let world = try ClusterWorld(network: network, members: members, server: server, hosts: hosts)
            try await world.begin()
            result = .success(try await world.withClients { try await body(world) })
        } catch {
            result = .failure(error)
        }
        for host in hosts {
            try? host.signal(SIGCONT)
            await host.end()
        }
        return try result.get()
    }

    private func begin() async throws {
        for host in hosts { try await host.start() }
        try await hosts[0].signIn { try server.decide(userCode: $0, approve: true) }
        for host in hosts.dropFirst() { try await hosts[0].admit(host) }
    }

    private func withClients<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask {
                try await self.clients.run(Self.clientsOfHost, of: self.hosts, session: self.session)
                return nil
            }
            group.addTask { try await body() }
            defer { group.cancelAll() }
            while let ended = try await group.next() {
                if let value = ended { return value }
            }
            throw CancellationError()
        }
    }

    // MARK: What is asked

    /// What each agent serves now, or why it does not.
    func answers() async -> [Result<String, ClientError>] {
        await withTaskGroup(of: (Int, Result<String, ClientError>).self) { group in
            for (index, probe) in probes.enumerated() {
                group.addTask { [session] in
                    do throws(ClientError) {
                        return (
                            index,
                            .success(try await probe.token(session: session, timeout: Self.probeTime).accessToken)
                        )
                    } catch {
                        return (index, .failure(error))
                    }
                }
            }
            var answers = [Result<String, ClientError>](repeating: .failure(.timedOut), count: probes.count)
            for await (index, answer) in group { answers[index] = answer }
            return answers
        }
    }

    /// A response that takes longer is none, and the agents are asked again.
    private static let probeTime = Duration.seconds(2)

    /// The revisions of what etcd has of a renewal: which host holds the session, and what a host was about to send.
    func renewalInProgress() async throws -> Set<String> {
        var revisions: Set<String> = []
        for folder in ["holders", "intents"] {
            let lines = try await dump("/authd/ada/\(folder)/").split(separator: "\n")
            revisions.formUnion(lines.filter { $0.contains("ModRevision") }.map(String.init))
        }
        return revisions
    }

    /// The term of etcd's leader; `nil`: a member does not respond.
    func term() async -> Int? { try? await members.term() }

    /// Soon after a fault, a member may not respond yet.
    private func dump(_ prefix: String) async throws -> String {
        for _ in 1...Self.dumpAttempts {
            if let found = try? await members.dump(prefix) { return found }
        }
        return try await members.dump(prefix)
    }

    /// etcdctl gives up after 5 s.
    private static let dumpAttempts = 5

    func use(grace hasGrace: Bool) { server.setGrace(hasGrace ? Self.grace : .zero) }
}
