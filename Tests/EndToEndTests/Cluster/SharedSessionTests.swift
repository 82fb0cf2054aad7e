import AuthWire
import Foundation
import StandInBackends
import Synchronization
import TestSupport
import Testing

/// Two hosts, each with its own home, state and agent, and one etcd.
@Suite("Sessions that hosts share", .serialized, .timeLimit(.minutes(3)))
struct SharedSessionTests {
    @Test("are there on another host after a kill, renewed and signed out everywhere, and etcd never saw a token")
    func shared() async throws {
        try await SharedHosts.play { scene, members in
            #expect(try await scene.login(.appTemplate).status == 0)
            let token = try await scene.agent.authc("token").out
            try await SharedHosts.withOther(scene, members) { other in
                try await SharedHosts.admit(other, by: scene)
                #expect(try await until { try await other.authc("token").out == token })
                // Renewed here, used there.
                #expect(try await other.authc("refresh").status == 0)
                let newer = try await other.authc("token").out
                #expect(newer != token)
                #expect(try await until { try await scene.agent.authc("token").out == newer })
                try await scene.agent.child.end(SIGKILL)
                #expect(try await other.authc("token").out == newer)
                #expect(try await other.authc("refresh").status == 0)
                let newest = try await other.authc("token").out
                try await scene.startAgent(["--store", "etcd"])
                #expect(try await scene.agent.authc("token").out == newest)
                let hosts = try await scene.agent.authc("cluster", "status")
                let lines = hosts.out.split(separator: "\n").filter { $0.hasPrefix("host ") }
                #expect(lines.count == 2 && lines.count { $0.contains("  this  ") } == 1, "\(hosts.out)")

                // A sign-in there appears here, and a sign-out here there.
                let login = try await other.authc(
                    "login", "envelope", "--environment", "local", "--field", "email=ada@example.org",
                    "--password-stdin", input: "Correct-horse1")
                #expect(login.status == 0, "\(login.err)")
                #expect(try await until { try await scene.agent.authc("token", "-s", "envelope").status == 0 })
                #expect(try await scene.agent.authc("logout", "-s", "app-template").status == 0)
                #expect(try await until { try await other.authc("token", "-s", "app-template").status != 0 })
                #expect(scene.signIns == 2)
            }
            let search = SecretSearch(scene.backends.secrets)
            #expect(!search.isEmpty)
            #expect(try await search.findings(in: ["etcd": members.dump()]).isEmpty)
            await members.end()
            #expect(try await members.found(scene.backends.secrets).isEmpty)
        }
    }

    @Test("come from sealed files and go back there, all of them")
    func migrated() async throws {
        try await SharedHosts.play { scene, members in
            try await scene.restart(["--store", "sealed-file"])
            #expect(try await scene.login(.appTemplate).status == 0)
            #expect(try await scene.login(.envelope).status == 0)
            try await scene.restart()
            // Without --store: the keyring, until a move has chosen another store.
            let state = scene.desktop.folder.path + "/state/authd"
            try Data("sealed-file\n".utf8).write(to: URL(fileURLWithPath: state + "/store"))
            try await scene.restart()
            let tokens = try await scene.tokens()
            #expect(tokens.count == 2)
            let there = try await scene.agent.authc("store", "migrate", "--to", "etcd")
            #expect(there.status == 0 && there.err.contains("moved to etcd: 2"), "\(there.err)")
            #expect(try await scene.tokens() == tokens)
            #expect(try await members.dump("/authd/ada/sessions/").contains("envelope"))
            let left = try FileManager.default.contentsOfDirectory(atPath: state + "/sessions")
            #expect(!left.contains { $0.hasSuffix(".session") })
            try await scene.agent.child.end(SIGKILL)
            try await scene.startAgent()
            #expect(try await scene.tokens() == tokens)
            #expect(try await scene.agent.authc("doctor").out.contains("etcd is open"))
            // Sessions of another host end with that, so it is not done unasked.
            try await SharedHosts.withOther(scene, members) { other in try await SharedHosts.admit(other, by: scene) }
            let refused = try await scene.agent.authc("store", "migrate", "--to", "sealed-file")
            #expect(refused.status == 64 && refused.err.contains("use --yes"), "\(refused.err)")
            #expect(try await members.dump("/authd/ada/sessions/").contains("envelope"))
            let back = try await scene.agent.authc("store", "migrate", "--to", "sealed-file", "--yes")
            #expect(back.status == 0 && back.err.contains("moved to sealed-file: 2"), "\(back.err)")
            #expect(try await scene.tokens() == tokens)
            #expect(try await !members.dump("/authd/ada/sessions/").contains("envelope"))
        }
    }

    @Test("are served from memory while etcd is gone, with a named cause, and saved when it is back")
    func unreachable() async throws {
        try await SharedHosts.play { scene, members in
            #expect(try await scene.login(.appTemplate).status == 0)
            let token = try await scene.agent.authc("token").out
            await members.kill(0)
            #expect(try await scene.agent.authc("token").out == token)
            #expect(
                try await until {
                    try await StoreInfo(scene.agent.json("version")["agent"]?["store"] ?? [:]).cause
                        == "cluster_unreachable"
                })
            let doctor = try await scene.agent.authc("doctor")
            #expect(doctor.status == 4 && doctor.out.contains("etcd cluster unreachable"), "\(doctor.out)")
            try await members.start(0)
            #expect(
                try await until {
                    try await StoreInfo(scene.agent.json("version")["agent"]?["store"] ?? [:]).state == .ready
                })
            #expect(try await scene.agent.authc("token").out == token)
        }
    }
}
