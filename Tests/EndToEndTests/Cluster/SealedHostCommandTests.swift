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
                let list = try await scene.agent.authc("list")
                #expect(list.out.hasPrefix("app-template  keyring_locked  "), "\(list)")
                #expect(list.status == 0 && list.err.contains("authc store unlock"), "\(list)")
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

    @Test("are not named if etcd cannot be reached: each command and the prompt say that they are locked")
    func unreachable() async throws {
        try await Scene.play(keyring: false) { scene in
            // Nobody listens there.
            try SharedHosts.configure(scene.desktop, endpoints: ["http://127.0.0.1:\(try FreePort.find())"])
            try SharedHosts.changeSettings(of: scene.desktop) {
                $0.replacing(/sealed_key = .*/, with: "sealed_key = \"passphrase\"")
            }
            let folder = scene.desktop.folder.path + "/state/authd/cluster"
            try await SealedFileTests.chooseCheaply("correct horse battery", in: folder)
            try await scene.restart(["--store", "etcd"])
            for command in ["list", "status", "token", "whoami"] {
                let output = try await scene.agent.authc(command)
                #expect(output.status == 4 && output.out.isEmpty, "\(command): \(output)")
                #expect(output.err.contains("authc store unlock"), "\(command): \(output.err)")
            }
            let doctor = try await scene.agent.authc("doctor")
            #expect(doctor.status == 4 && doctor.out.contains("etcd is locked"), "\(doctor.out)")
            #expect(doctor.out.contains("`authc store unlock`"), "\(doctor.out)")
            #expect(doctor.out.contains("not known until the store can be read"), "\(doctor.out)")
            #expect(try await until { try await scene.agent.authc("prompt").out == "!keyring_locked\n" })
            let line = "store etcd locked (authc store unlock)"
            #expect(try await until { try scene.agent.notifications.received.contains(line) })
            let unlocked = try await scene.agent.authc(
                "store", "unlock", "--passphrase-stdin", input: "correct horse battery\n")
            #expect(unlocked.status == 4, "\(unlocked)")
            #expect(unlocked.err.contains("This host's key is open. No member of etcd can be reached"), "\(unlocked)")
            #expect(try await until { try await scene.agent.authc("prompt").out.isEmpty })
        }
    }
}
