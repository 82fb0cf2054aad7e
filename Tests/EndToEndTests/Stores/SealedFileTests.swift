import AuthModel
import AuthSealedFile
import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// A machine without a keyring, from the user's view.
@Suite("Sessions in sealed files, end to end", .serialized, .timeLimit(.minutes(2)))
struct SealedFileTests {
    private static let key = "0123456789abcdef0123456789abcdef"

    private func folder(_ scene: Scene) -> String { scene.desktop.folder.path + "/state/authd/sessions" }

    private func store(_ scene: Scene) async throws -> StoreInfo {
        let socket = scene.desktop.folder.path + "/run/authd/socket"
        let info = try await onThread { try RawClient(socket, timeout: 30).ask("agent.info")["result"] }
        return try AgentInfo(info ?? .null).store
    }

    @Test("a passphrase is chosen on a terminal, typed twice, and not shown; before that there is no sign-in")
    func newPassphrase() async throws {
        try await Scene.play(keyring: false) { scene in
            try await scene.restart(["--store", "sealed-file"])
            #expect(try await scene.login(.appTemplate).err.contains("authc store unlock"))
            #expect(try await scene.agent.authc("store", "unlock", "--no-input").status == 65)
            let terminal = try await scene.terminal("authc store unlock")
            await terminal.waits(for: "New passphrase for your sessions: ")
            terminal.type("hunter\n")
            await terminal.waits(for: "Use at least 8 characters.\r\nNew passphrase for your sessions: ")
            #expect(!terminal.text.contains("again"))
            terminal.type("correct horse battery\n")
            await terminal.waits(for: "again: ")
            terminal.type("correct horse battery\n")
            await terminal.waits(for: "exit ")
            await terminal.ends()
            #expect(terminal.text.contains("The store is open (sealed-file).\r\nexit 0"), "\(terminal.text)")
            #expect(!terminal.text.contains("horse"))
            #expect(try await scene.login(.appTemplate).status == 0)
            #expect(try await scene.agent.authc("status").out.contains("sealed file"))
            #expect(try await scene.agent.authc("doctor").out.contains("sealed-file is open"))
        }
    }

    @Test("after a start it is required, and until then sessions are reported as locked")
    func passphrase() async throws {
        try await Scene.play(keyring: false) { scene in
            try await Self.chooseCheaply("correct horse battery", in: folder(scene))
            try await scene.restart(["--store", "sealed-file"])
            let right = "correct horse battery\n"
            #expect(try await scene.agent.authc("store", "unlock", "--passphrase-stdin", input: right).status == 0)
            #expect(try await scene.login(.appTemplate).status == 0)
            let token = try await scene.agent.authc("token").out

            try await scene.agent.child.end(SIGKILL)
            try await scene.startAgent(["--store", "sealed-file"])
            #expect(try await store(scene).state == .locked)
            let locked = try await scene.agent.authc("token", "-s", "app-template")
            #expect(locked.status == 4 && locked.err.contains("authc store unlock"), "\(locked.err)")
            let card = try await scene.agent.authc("status")
            #expect(card.status == 4 && card.out.contains("app-template"), "\(card.out)")
            let doctor = try await scene.agent.authc("doctor")
            #expect(doctor.status == 4 && doctor.out.contains("sealed-file is locked"), "\(doctor.out)")
            #expect(try await scene.agent.authc("prompt").out == "app-template!keyring_locked\n")
            let wrong = try await scene.agent.authc(
                "store", "unlock", "--passphrase-stdin", input: "correct horse batterz\n")
            #expect(wrong.status == 65 && wrong.err.contains("The passphrase is wrong"), "\(wrong.err)")
            #expect(try await scene.agent.authc("store", "unlock", "--passphrase-stdin", input: right).status == 0)
            #expect(try await scene.agent.authc("token").out == token)
            #expect(scene.signIns == 1)
            try await scene.expectNoSecretInLog()
            #expect(try !scene.agent.child.err.text.contains("horse"))
        }
    }

    /// As `authc store unlock` would, with less work than a debug build of scrypt needs seconds for.
    static func chooseCheaply(_ passphrase: String, in folder: String) async throws {
        let store = SealedFileStore(
            folder: DurableFolder(path: folder), source: .passphrase,
            cost: PassphraseCost(logarithm: 10))
        try await store.unlock(with: Secret(passphrase))
        await store.close()
    }

    @Test("a key takes the place of a passphrase only if the present one is given")
    func presentPassphrase() async throws {
        try await Scene.play(keyring: false) { scene in
            let right = "correct horse battery"
            try await Self.chooseCheaply(right, in: folder(scene))
            try await scene.restart(["--store", "sealed-file"])
            let unlocked = try await scene.agent.authc("store", "unlock", "--passphrase-stdin", input: right + "\n")
            #expect(unlocked.status == 0, "\(unlocked.err)")
            #expect(try await scene.login(.appTemplate).status == 0)
            let file = try scene.desktop.folder.write(Self.key, to: "key")
            chmod(file, 0o600)
            let keys = URL(fileURLWithPath: folder(scene) + "/key")
            let before = try Data(contentsOf: keys)
            let command = "\"$0\" store rekey --no-input --key-file '\(file)'"
            let missing = try await scene.shell(command)
            #expect(missing.status == 65 && missing.err.contains("use --current-fd"), "\(missing.err)")
            let wrong = try await scene.shell(command + " --current-fd 3 3<<<'correct horse batterz'")
            #expect(wrong.status == 65 && wrong.err.contains("The passphrase is wrong"), "\(wrong.err)")
            #expect(try Data(contentsOf: keys) == before)
            let changed = try await scene.shell(command + " --current-fd 3 3<<<'\(right)'")
            #expect(changed.status == 0 && changed.err.contains("Set sealed_key in authd.toml"), "\(changed.err)")
            #expect(try Data(contentsOf: keys) != before)
            try await scene.expectNoSecretInLog()
            #expect(try !scene.agent.child.err.text.contains("horse"))
        }
    }

    @Test("with systemd's credential or a file it opens by itself, and rekeying moves from one to the other")
    func keys() async throws {
        try await Scene.play(keyring: false) { scene in
            let credentials = try scene.desktop.folder.folder("credentials")
            _ = try scene.desktop.folder.write(Self.key, to: "credentials/authd-key")
            let variables = ["CREDENTIALS_DIRECTORY": credentials]
            try await scene.restart(["--store", "sealed-file"], with: variables)
            #expect(try await scene.login(.appTemplate).status == 0)
            let token = try await scene.agent.authc("token").out
            try await scene.restart(["--store", "sealed-file"], with: variables)
            #expect(try await scene.agent.authc("token").out == token)

            let file = try scene.desktop.folder.write(String(repeating: "another key ", count: 4), to: "key")
            chmod(file, 0o600)
            let rekeyed = try await scene.agent.authc("store", "rekey", "--key-file", file)
            #expect(rekeyed.status == 0 && rekeyed.err.contains("Set sealed_key in authd.toml"), "\(rekeyed.err)")
            #expect(try await scene.agent.authc("refresh").status == 0)
            let newer = try await scene.agent.authc("token").out
            try await scene.restart(["--store", "sealed-file"], with: variables)
            let info = try await store(scene)
            #expect(info.state == .failed && info.message?.contains("is not the key") == true, "\(info)")
            #expect(try await scene.agent.authc("doctor").status == 4)

            let settings = "sealed_key = \"\(file)\"\nstore = \"sealed-file\"\n"
            try scene.prependSettings(settings)
            try await scene.restart(with: variables)
            #expect(try await scene.agent.authc("token").out == newer)
        }
    }

    @Test("a disk that is full, or read-only, loses nothing: tokens are served, and written when there is room again")
    func fullDisk() async throws {
        try await Scene.play(keyring: false) { scene in
            let disk = scene.desktop.folder.path + "/state/authd"
            try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
            let key = try scene.desktop.folder.write(Self.key, to: "key")
            chmod(key, 0o600)
            try scene.prependSettings("sealed_key = \"\(key)\"\nstore = \"sealed-file\"\n")
            let small = "mount -t tmpfs -o size=64k,mode=700 tmpfs \(disk) && exec \"$@\""
            let own = geteuid() == 0 ? ["unshare", "--mount"] : ["unshare", "--mount", "--map-root-user"]
            try await scene.restart(through: own + ["bash", "-c", small, "bash"])
            #expect(try await scene.login(.appTemplate).status == 0)
            let enter = ["nsenter", "--target", "\(try scene.agent.child.pid)", "--mount"]
            let inside = enter + (geteuid() == 0 ? [] : ["--user", "--preserve-credentials"]) + ["bash", "-c"]
            func there(_ line: String) async throws -> Child.Output { try await scene.desktop.run(inside + [line]) }

            for trouble in ["head -c 1M /dev/zero > \(disk)/filler", "mount -o remount,bind,ro \(disk)"] {
                let made = try await there(trouble)
                #expect(trouble.hasPrefix("head") ? made.err.contains("No space") : made.status == 0, "\(made.err)")
                #expect(try await scene.agent.authc("refresh").status == 0)
                let status = try await scene.agent.status("app-template")
                #expect(status.state == .active && status.unsaved)
                #expect(try await scene.agent.authc("token").status == 0)
                #expect(try await there("mount -o remount,bind,rw \(disk) && rm -f \(disk)/filler").status == 0)
                // What is unwritten is written by the next write, or by itself after a wait.
                #expect(try await scene.agent.authc("refresh").status == 0)
                #expect(try await scene.agent.status("app-template").unsaved == false)
            }
            let token = try await scene.agent.authc("token").out
            let copied = try await there("cp -a \(disk) \(scene.desktop.folder.path)/copy")
            #expect(copied.status == 0, "\(copied.err)")
            try await scene.agent.child.end(SIGKILL)
            try FileManager.default.removeItem(atPath: disk)
            try FileManager.default.moveItem(atPath: scene.desktop.folder.path + "/copy", toPath: disk)
            try await scene.startAgent()
            #expect(try await scene.agent.authc("token").out == token)
        }
    }
}
