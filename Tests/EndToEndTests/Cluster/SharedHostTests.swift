import AuthModel
import AuthSealedFile
import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// What each host has for itself although it shares its sessions.
@Suite("What hosts that share sessions do not share", .serialized, .timeLimit(.minutes(3)))
struct SharedHostTests {
    @Test("a host that is locked gives no tokens, the other one does, and a sign-out of all on the locked one ends all")
    func locked() async throws {
        try await SharedHosts.play { scene, members in
            let lock = LockFiles(in: scene.stateFolder, cost: PassphraseCost(logarithm: 10))
            try await lock.set(Secret(Scene.lockPassphrase))
            try await scene.restart(["--store", "etcd"])
            #expect(try await scene.login(.appTemplate).status == 0)
            #expect(try await scene.login(.envelope).status == 0)
            let tokens = try await scene.tokens()
            try await SharedHosts.withOther(scene, members) { other in
                try await SharedHosts.admit(other, by: scene)
                #expect(try await until { try await other.tokens() == tokens })
                try await scene.lock()
                #expect(try await scene.agent.authc("token", "-s", "envelope").status == 77)
                #expect(try await other.tokens() == tokens)
                let out = try await scene.agent.authc("logout", "--all", "--yes")
                #expect(out.status == 0, "\(out.err)")
                #expect(try await until { try await other.tokens().isEmpty })
            }
        }
    }

    @Test("writes that wait on one host are not sent after a sign-in to another account on another host")
    func outbox() async throws {
        let fork = "fork-in-the-road"
        try await SharedHosts.play { scene, members in
            #expect(try await scene.login(.forkInTheRoad).status == 0)
            try await SharedHosts.withOther(scene, members) { other in
                try await SharedHosts.admit(other, by: scene)
                #expect(try await until { try await !other.tokens().isEmpty })
                try await scene.backends.setListening(false, .forkInTheRoad)
                let call = ["call", "create-collection", "-s", fork, "--queue", "name=Ada's"]
                #expect(try await scene.authc(call).status == 0)
                #expect(try await other.authc("logout", "-s", fork).status == 0)
                #expect(try await until { try await scene.tokens().isEmpty })
                // Not before: the write would be sent as long as this host does not know of the sign-out.
                try await scene.backends.setListening(true, .forkInTheRoad)
                let eve = try await other.authc(
                    [
                        "register", fork, "--environment", "local", "--field", "email=eve@example.org", "--field",
                        "name=Eve", "--password-stdin",
                    ], input: "Correct-horse1")
                #expect(eve.status == 0, "\(eve.err)")
                #expect(try await until { try await scene.tokens() == other.tokens() })
                let flushed = try await scene.authc(["outbox", "flush"])
                #expect(flushed.status == 77 && flushed.out.contains("another account"), "\(flushed)")
                #expect(scene.backends.counts[.forkInTheRoad, "POST /api/collections"] == 0)
            }
        }
    }
}
