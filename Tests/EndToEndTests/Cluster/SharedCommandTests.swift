import AuthModel
import AuthSealedFile
import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// What a user does on one host, seen on another one.
@Suite("Commands where hosts share sessions", .serialized, .timeLimit(.minutes(3)))
struct SharedCommandTests {
    /// Two hosts that are signed in at two providers.
    private func play(
        _ test: @escaping @Sendable (Scene, Agent, EtcdMembers) async throws -> Void
    ) async throws {
        try await SharedHosts.play { scene, members in
            #expect(try await scene.login(.appTemplate).status == 0)
            #expect(try await scene.login(.envelope).status == 0)
            try await SharedHosts.withOther(scene, members) { other in
                try await SharedHosts.admit(other, by: scene)
                let tokens = try await scene.tokens()
                #expect(tokens.count == 2)
                #expect(try await until { try await other.tokens() == tokens })
                try await test(scene, other, members)
            }
        }
    }

    @Test("a host that is removed reads nothing any more, and every session is renewed on the others")
    func forget() async throws {
        try await play { scene, other, _ in
            let former = try await scene.tokens()
            let hosts = try ClusterStatus(await scene.agent.json("cluster", "status")).hosts
            let removed = try #require(hosts.first { !$0.isThis }?.id)
            let forget = try await scene.agent.authc("cluster", "forget", removed)
            #expect(forget.status == 0 && forget.err.contains("is not a member any more"), "\(forget)")
            #expect(
                try await until {
                    let tokens = try await scene.tokens()
                    return tokens.count == 2 && tokens.allSatisfy { former[$0] != $1 && !$1.isEmpty }
                })
            let renewed = try await scene.tokens()
            #expect(try await until { try await other.authc("doctor").out.contains("cluster not admitted") })
            // It has what it had.
            let left = try await other.tokens()
            #expect(left.allSatisfy { former[$0] == $1 }, "\(left)")
            #expect(try await other.authc("refresh", "-s", "envelope").status == 4)
            await other.child.end(SIGKILL)
            try await SharedHosts.withAgent(of: scene, on: other.desktop) { again in
                for session in former.keys {
                    let token = try await again.authc("token", "-s", session)
                    #expect(token.status == 4, "\(token.err)")
                }
                let doctor = try await again.authc("doctor")
                #expect(doctor.out.contains("cluster not admitted"), "\(doctor.out)")
            }
            #expect(try await scene.tokens() == renewed)
            #expect(try ClusterStatus(await scene.agent.json("cluster", "status")).hosts.count == 1)
            #expect(scene.signIns == 2)
        }
    }

    @Test("a host that is removed while it renews still writes its tokens, and no refresh token is used twice")
    func forgetDuringRenewal() async throws {
        try await play { scene, other, _ in
            let refresh = "POST /auth/refresh"
            let before = scene.backends.counts[.appTemplate, refresh]
            var late = Misbehaviour(path: "/auth/refresh", times: 1, Behaviour())
            late.behaviour.lateResponse = .seconds(2)
            await scene.backends.misbehave(.appTemplate, late)
            try await withThrowingTaskGroup(of: Child.Output.self) { group in
                group.addTask { try await other.authc("refresh", "-s", "app-template") }
                try await scene.backends.waitForCalls { $0[.appTemplate, refresh] > before }
                let hosts = try ClusterStatus(await scene.agent.json("cluster", "status")).hosts
                let removed = try #require(hosts.first { !$0.isThis }?.id)
                let forget = try await scene.agent.authc("cluster", "forget", removed)
                #expect(forget.status == 0 && !forget.err.contains("Not renewed"), "\(forget)")
                for try await output in group { #expect(output.status == 0, "\(output.err)") }
            }
            // Its own renewal used the tokens of the other host.
            #expect(scene.backends.counts[.appTemplate, refresh] == before + 2)
            #expect(try await scene.agent.authc("refresh", "-s", "app-template").status == 0)
            #expect(try await scene.agent.status("app-template").state == .active)
            #expect(try await !scene.agent.json("cluster", "status").text().contains("rekeying"))
            #expect(scene.signIns == 2)
        }
    }

    @Test("a 401 that a program reports on one host renews the token on both, and an older token renews nothing")
    func reject() async throws {
        try await play { scene, other, _ in
            let former = try await scene.agent.authc("token", "-s", "app-template").out
            let rejected = try await other.authc("token", "--reject", "-s", "app-template", input: former)
            #expect(rejected.status == 0, "\(rejected)")
            let newer = try await other.authc("token", "-s", "app-template").out
            #expect(newer != former && !newer.isEmpty)
            #expect(try await until { try await scene.agent.authc("token", "-s", "app-template").out == newer })
            // The other host has replaced this one already.
            let late = try await scene.agent.authc("token", "--reject", "-s", "app-template", input: former)
            #expect(late.status == 0, "\(late)")
            #expect(try await scene.agent.authc("token", "-s", "app-template").out == newer)
            #expect(try await other.authc("token", "-s", "app-template").out == newer)
        }
    }

    @Test("what a user trusts on one host is trusted on the other one")
    func trust() async throws {
        try await play { scene, other, _ in
            let token = try await scene.agent.authc("token", "-s", "app-template").out
            let (from, to) = (scene.backends.url(.appTemplate), scene.backends.url(.envelope))
            try SharedHosts.changeSettings(of: scene.desktop) { $0.replacing(from, with: to) }
            try SharedHosts.changeSettings(of: other.desktop) { $0.replacing(from, with: to) }
            for agent in [try scene.agent, other] {
                #expect(try await agent.authc("reload").status == 0)
                #expect(try await agent.authc("token", "-s", "app-template").status == 3)
            }
            let trusted = try await scene.agent.authc("trust", "-s", "app-template", "--yes")
            #expect(trusted.status == 0 && trusted.out.contains("active"), "\(trusted)")
            #expect(try await until { try await other.authc("token", "-s", "app-template").out == token })
            #expect(try await other.status("app-template").state == .active)
        }
    }

    @Test("a host that is locked gives out nothing, while the other one renews; unlocked, it has the newest token")
    func lock() async throws {
        try await play { scene, other, _ in
            let former = try await scene.agent.authc("token", "-s", "app-template").out
            let files = LockFiles(in: scene.stateFolder, cost: PassphraseCost(logarithm: 10))
            try await files.set(Secret(Scene.lockPassphrase))
            try await scene.restart(["--store", "etcd"])
            #expect(try await until { try await scene.agent.authc("token", "-s", "app-template").out == former })
            try await scene.lock()
            let renewed = try await other.authc("refresh", "-s", "app-template")
            #expect(renewed.status == 0, "\(renewed)")
            let newer = try await other.authc("token", "-s", "app-template").out
            #expect(newer != former && !newer.isEmpty)
            let refused = try await scene.agent.authc("token", "-s", "app-template")
            #expect(refused.status != 0 && refused.out.isEmpty && refused.err.contains("authc unlock"), "\(refused)")
            // Each host has its own lock.
            #expect(try await other.authc("token", "-s", "app-template").out == newer)
            #expect(try await scene.unlock().status == 0)
            #expect(try await until { try await scene.agent.authc("token", "-s", "app-template").out == newer })
            #expect(scene.signIns == 2)
        }
    }

    @Test("come from the keyring, and go back there")
    func keyring() async throws {
        try await EtcdMembers.running { members in
            try await Scene.play { scene in
                try SharedHosts.configure(scene.desktop, endpoints: members.endpoints)
                try await scene.restart()
                #expect(try await scene.login(.appTemplate).status == 0)
                #expect(try await scene.login(.envelope).status == 0)
                let tokens = try await scene.tokens()
                #expect(tokens.count == 2)
                #expect(try await scene.desktop.keyringItems().count == 2)
                let there = try await scene.agent.authc("store", "migrate", "--to", "etcd")
                #expect(there.status == 0 && there.err.contains("moved to etcd: 2"), "\(there.err)")
                #expect(try await scene.desktop.keyringItems().isEmpty)
                #expect(try await members.dump("/authd/ada/sessions/").contains("envelope"))
                #expect(try await scene.tokens() == tokens)
                #expect(try await scene.agent.authc("refresh", "-s", "envelope").status == 0)
                let renewed = try await scene.tokens()
                try await scene.agent.child.end(SIGKILL)
                try await scene.startAgent()
                #expect(try await scene.tokens() == renewed)

                let back = try await scene.agent.authc("store", "migrate", "--to", "secret-service", "--yes")
                #expect(back.status == 0 && back.err.contains("moved to secret-service: 2"), "\(back.err)")
                #expect(try await scene.desktop.keyringItems().count == 2)
                #expect(try await !members.dump("/authd/ada/sessions/").contains("envelope"))
                await members.kill(0)
                try await scene.restart()
                #expect(try await scene.tokens() == renewed)
                #expect(scene.signIns == 2)
            }
        }
    }
}

/// What a subscriber is notified of.
@Suite("The events of a cluster", .serialized, .timeLimit(.minutes(3)))
struct ClusterEventTests {
    private func play(
        _ options: EtcdMembers.Options, _ test: @escaping @Sendable (Scene, Child, EtcdMembers) async throws -> Void
    ) async throws {
        try await SharedHosts.play(options) { scene, members in
            #expect(try await scene.login(.appTemplate).status == 0)
            let watch = try await scene.agent.starts("watch", "--json")
            #expect(await watch.out.wait(for: "snapshot"))
            let result: Result<Void, any Error>
            do {
                try await test(scene, watch, members)
                result = .success(())
            } catch {
                result = .failure(error)
            }
            await watch.end(SIGKILL)
            try result.get()
        }
    }

    private static func event(_ name: String) -> String { #"{"topic":"store","event":"\#(name)""# }

    @Test("name a lost majority, and the return of the store")
    func quorum() async throws {
        var options = EtcdMembers.Options()
        options.count = 3
        try await play(options) { scene, watch, members in
            await members.kill(1)
            await members.kill(2)
            #expect(await watch.out.wait(for: Self.event("cluster_no_quorum")), "\(watch.out.text)")
            #expect(await watch.out.wait(for: #""cause":"cluster_no_quorum""#), "\(watch.out.text)")
            try await members.start(1)
            let isBack = /"event":"changed","at":[0-9.]+,"store":\{"kind":"etcd","state":"ready"\}/
            #expect(try await until { watch.out.text.contains(isBack) }, "\(watch.out.text)")
            #expect(try await scene.agent.authc("refresh").status == 0)
        }
    }

    @Test("name a NOSPACE alarm")
    func space() async throws {
        var options = EtcdMembers.Options()
        options.quota = 400_000
        try await play(options) { scene, watch, members in
            let value = String(repeating: "x", count: 60_000)
            while try await !members.control("alarm", "list").contains("NOSPACE") {
                _ = try? await members.control("put", "other", value)
            }
            #expect(try await scene.agent.authc("refresh").status == 4)
            #expect(await watch.out.wait(for: Self.event("cluster_no_space")), "\(watch.out.text)")
            #expect(await watch.out.wait(for: #""cause":"cluster_no_space""#), "\(watch.out.text)")
        }
    }
}
