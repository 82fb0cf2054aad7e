import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// A host with its sessions in etcd, and with a passphrase for its own key. It starts without a terminal, as at boot.
@Suite("Sessions in etcd with a passphrase", .serialized, .timeLimit(.minutes(2)))
struct SealedHostCommandTests {
    @Test("wait for it after a start without a terminal: status, doctor and the service manager name the command")
    func passphrase() async throws {
        try await EtcdMembers.running { members in
            let endpoints = members.endpoints
            try await Scene.play(keyring: false) { scene in
                try SharedHosts.configure(scene.desktop, endpoints: endpoints)
                try SharedHosts.changeSettings(of: scene.desktop) {
                    $0.replacing(/sealed_key = .*/, with: "sealed_key = \"passphrase\"")
                }
                let right = "correct horse battery"
                let folder = scene.desktop.folder.path + "/state/authd/cluster"
                try await SealedFileTests.chooseCheaply(right, in: folder)
                try await scene.restart(["--store", "etcd"])
                // etcd has no sessions yet.
                let refused = try await scene.login(.appTemplate)
                #expect(refused.status == 4 && refused.err.contains("authc store unlock"), "\(refused.err)")
                func unlock(_ passphrase: String) async throws -> Child.Output {
                    try await scene.agent.authc("store", "unlock", "--passphrase-stdin", input: passphrase + "\n")
                }
                #expect(try await unlock(right).status == 0)
                #expect(try await scene.login(.appTemplate).status == 0)
                let token = try await scene.agent.authc("token").out

                try await scene.agent.child.end(SIGKILL)
                try await scene.startAgent(["--store", "etcd"])
                let locked = try await scene.agent.authc("token", "-s", "app-template")
                #expect(locked.status == 4 && locked.err.contains("authc store unlock"), "\(locked.err)")
                let card = try await scene.agent.authc("status")
                #expect(card.status == 4 && card.out.contains("authc store unlock"), "\(card)")
                let doctor = try await scene.agent.authc("doctor")
                #expect(doctor.status == 4 && doctor.out.contains("etcd is locked"), "\(doctor.out)")
                #expect(doctor.out.contains("a systemd credential"), "\(doctor.out)")
                let line = "store etcd locked (authc store unlock), app-template keyring_locked"
                #expect(try await until { try scene.agent.notifications.received.contains(line) })
                let wrong = try await unlock("correct horse batterz")
                #expect(wrong.status == 65 && wrong.err.contains("The passphrase is wrong"), "\(wrong.err)")
                #expect(try await unlock(right).status == 0)
                #expect(try await scene.agent.authc("token").out == token)
                #expect(scene.signIns == 1)
                try await scene.expectNoSecretInLog()
            }
        }
    }
}
