import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// Hosts that share sessions of a server which replaces refresh tokens, and ends a session whose refresh token is used twice.
@Suite("Renewals of sessions that hosts share", .serialized, .timeLimit(.minutes(4)))
struct SharedRenewalTests {
    /// Two hosts that are signed in.
    private func play(
        tokenLifetime: Duration, clock: WrongClock? = nil,
        _ test: @escaping @Sendable (Scene, Agent, OAuthStandIn, EtcdMembers) async throws -> Void
    ) async throws {
        var configuration = OAuthStandIn.Configuration()
        configuration.tokenLifetime = tokenLifetime
        try await EtcdMembers.running { members in
            try await OAuthScene.play(configuration, keyring: false) { scene, server in
                try SharedHosts.configure(scene.desktop, endpoints: members.endpoints)
                try await scene.restart(["--store", "etcd"])
                try await scene.loginByDevice(server)
                try await SharedHosts.withOther(scene, members, with: clock?.environment ?? [:]) { other in
                    try await SharedHosts.admit(other, by: scene)
                    #expect(try await until { try await other.authc("token").status == 0 })
                    try await test(scene, other, server, members)
                }
            }
        }
    }

    @Test("never send a refresh token twice, however many programs renew at once")
    func once() async throws {
        try await play(tokenLifetime: .seconds(3600)) { scene, other, server, _ in
            for round in 1...3 {
                let before = server.counts.refreshes
                let (one, two) = (try scene.agent, other)
                try await withThrowingTaskGroup(of: Child.Output.self) { group in
                    for agent in [one, two, one, two, one, two] {
                        group.addTask { try await agent.authc("refresh") }
                    }
                    for try await output in group { #expect(output.status == 0, "\(round): \(output.err)") }
                }
                // A refresh that begins after the end of another one is another request.
                let requests = server.counts.refreshes - before
                #expect((1...6).contains(requests) && server.counts.reuses == 0, "\(requests)")
                #expect(try await until { try await one.authc("token").out == two.authc("token").out })
            }
        }
    }

    @Test("do not overlap a move: no refresh token is used twice, and the host with the sessions goes on")
    func moved() async throws {
        try await play(tokenLifetime: .seconds(3600)) { scene, other, server, members in
            // Without --store, which a move would contradict.
            let choice = scene.desktop.folder.path + "/state/authd/store"
            try Data("etcd\n".utf8).write(to: URL(fileURLWithPath: choice))
            try await scene.restart()
            let agent = try scene.agent
            #expect(try await agent.authc("wait", "--timeout", "30s").status == 0)
            try await withThrowingTaskGroup(of: Void.self) { group in
                // Until the session ends there.
                group.addTask { while try await other.authc("refresh").status == 0 {} }
                let before = server.counts.refreshes
                try await server.waitForCounts { $0.refreshes >= before + 2 }
                let moved = try await agent.authc("store", "migrate", "--to", "sealed-file", "--yes")
                #expect(moved.status == 0 && moved.err.contains("moved to sealed-file: 1"), "\(moved.err)")
                try await group.waitForAll()
            }
            #expect(try await !members.dump("/authd/ada/sessions/").contains(OAuthScene.provider))
            for _ in 1...2 { #expect(try await agent.authc("refresh").status == 0) }
            #expect(server.counts.reuses == 0)
        }
    }

    @Test("go on while tokens live ten seconds: no host uses a refresh token twice, and each has the same token")
    func short() async throws {
        try await play(tokenLifetime: .seconds(10)) { scene, other, server, members in
            try await server.waitForCounts { $0.refreshes >= 3 }
            #expect(server.counts.reuses == 0)
            // One host dies between two renewals, and the other one goes on.
            let first = try scene.agent
            #expect(try await until { try await !members.dump("/authd/ada/holders/").contains(OAuthScene.provider) })
            await first.child.end(SIGKILL)
            let before = server.counts.refreshes
            try await server.waitForCounts { $0.refreshes >= before + 2 }
            #expect(server.counts.reuses == 0)
            try await scene.startAgent(["--store", "etcd"])
            let second = try scene.agent
            #expect(try await until { try await second.authc("token").out == other.authc("token").out })
            #expect(try await !members.dump("/authd/ada/sessions/").isEmpty)
            #expect(server.counts.reuses == 0)
        }
    }

    @Test(
        "wait for etcd: the token is served to its end, then the cause is named, and the session goes on when etcd is back"
    )
    func unreachable() async throws {
        try await play(tokenLifetime: .seconds(10)) { scene, other, server, members in
            await members.kill(0)
            let refreshes = server.counts.refreshes
            let agent = try scene.agent
            #expect(
                try await until {
                    let status = try await agent.status(OAuthScene.provider)
                    return status.state == .stale && status.cause == "cluster_unreachable"
                })
            let refused = try await agent.authc("token")
            #expect(refused.status != 0 && refused.err.contains("etcd"), "\(refused.err)")
            // Nothing was sent without the lease.
            #expect(server.counts.refreshes == refreshes)
            try await members.start(0)
            #expect(try await until { try await agent.authc("token").status == 0 })
            #expect(try await until { try await agent.authc("token").out == other.authc("token").out })
            #expect(server.counts.reuses == 0)
        }
    }

    @Test("of one host are used on another one that was stopped meanwhile")
    func slept() async throws {
        try await play(tokenLifetime: .seconds(3600)) { scene, other, server, members in
            let agent = try scene.agent
            kill(agent.child.pid, SIGSTOP)
            #expect(try await other.authc("refresh").status == 0)
            let token = try await other.authc("token").out
            kill(agent.child.pid, SIGCONT)
            #expect(try await until { try await agent.authc("token").out == token })
            #expect(try await agent.authc("refresh").status == 0)
            #expect(server.counts.reuses == 0)
            let newer = try await agent.authc("token").out
            #expect(try await until { try await other.authc("token").out == newer })
        }
    }

    @Test("are due when the token ends, on a host whose date is wrong, too", arguments: [-600, 600])
    func wrongDate(seconds: Int) async throws {
        let clock = try await WrongClock()
        try clock.set(seconds: seconds)
        try await play(tokenLifetime: .seconds(120), clock: clock) { scene, other, server, _ in
            let token = try await scene.agent.authc("token").out
            #expect(try await other.authc("token").out == token)
            let valid = try await other.json("token")["valid_ms"]?.integerValue ?? 0
            #expect((60_000...120_000).contains(valid), "\(valid)")
            // Nobody has taken the token for one that has ended.
            #expect(server.counts.refreshes == 0)
            #expect(try await scene.agent.authc("refresh").status == 0)
            let newer = try await scene.agent.authc("token").out
            #expect(try await until { try await other.authc("token").out == newer })
            let newest = try await other.json("token")["valid_ms"]?.integerValue ?? 0
            #expect((100_000...120_000).contains(newest), "\(newest)")
            #expect(server.counts.refreshes == 1)
        }
    }

    @Test("need no lease if the provider replaces nothing: each host renews by itself while etcd is gone")
    func apart() async throws {
        try await EtcdMembers.running { members in
            var configuration = OAuthStandIn.Configuration()
            configuration.tokenLifetime = .seconds(10)
            configuration.clientSecret = "service-secret"
            let profile = "[oauth]\nclient_auth = \"post\""
            try await OAuthScene.play(configuration, profile: profile, keyring: false) { scene, server in
                try SharedHosts.configure(scene.desktop, endpoints: members.endpoints)
                try await scene.restart(["--store", "etcd"])
                let login = try await scene.agent.authc(
                    "login", OAuthScene.provider, "--method", "service", "--password-stdin", input: "service-secret")
                #expect(login.status == 0, "\(login.err)")
                await members.kill(0)
                let services = server.counts.services
                try await server.waitForCounts { $0.services >= services + 2 }
                #expect(try await scene.agent.authc("token").status == 0)
                try await members.start(0)
                #expect(
                    try await until {
                        try await !scene.agent.status(OAuthScene.provider).unsaved
                    })
            }
        }
    }

    @Test("of two hosts without etcd, at a provider that keeps the refresh token, lead to one token when etcd is back")
    func reconciled() async throws {
        try await play(tokenLifetime: .seconds(10)) { scene, other, server, members in
            server.misbehave(.wrongTypes)
            let agent = try scene.agent
            func tokens() async throws -> [String] {
                let outputs = [try await agent.authc("token"), try await other.authc("token")]
                return outputs.map { $0.status == 0 ? $0.out : "" }
            }
            /// Both have the same one, which is not this one.
            func isShared(after former: String) async throws -> Bool {
                let found = try await tokens()
                return found[0] == found[1] && !["", former].contains(found[0])
            }
            // Each has a token from a renewal that has kept the refresh token.
            for _ in 1...2 {
                let former = try await tokens()[0]
                #expect(try await until { try await isShared(after: former) })
            }
            await members.kill(0)
            let former = Set(try await tokens())
            #expect(
                try await until {
                    let apart = Set(try await tokens())
                    return apart.count == 2 && apart.isDisjoint(with: former) && !apart.contains("")
                })
            try await members.start(0)
            #expect(try await until { try await isShared(after: "") })
            #expect(try await until { try await !agent.status(OAuthScene.provider).unsaved })
            #expect(try await until { try await !other.status(OAuthScene.provider).unsaved })
            // It stays the one of both.
            let shared = try await tokens()[0]
            #expect(try await until { try await isShared(after: shared) })
            #expect(server.counts.reuses == 0)
        }
    }
}
