import AuthWire
import Foundation
import Glibc
import StandInBackends
import TestSupport
import Testing

/// The real agent without a service manager, with Landlock switched on.
@Suite("Landlock", .timeLimit(.minutes(2)))
struct LandlockTests {
    /// - Returns: `false` if this kernel does not have it. Then the agent says so, and there is nothing more to see.
    private func isOn(_ scene: Scene) async throws -> Bool {
        let state = try AgentInfo(try await scene.ask("agent.info", [:])).landlock
        guard state != .unsupported else {
            #expect(try scene.agent.child.err.text.contains("this kernel does not have it"))
            return false
        }
        let log = try scene.agent.child.err.text
        #expect(state == .on, "\(log)")
        return true
    }

    private static let on = ["AUTHD_LANDLOCK": "on"]

    @Test("the main job works, and the agent still knows the programs of its clients")
    func mainJob() async throws {
        try await Scene.play { scene in
            try await scene.restart(with: Self.on)
            guard try await isOn(scene) else { return }
            #expect(try await scene.login(.appTemplate).status == 0)
            let first = try await scene.authc(["token"]).out
            #expect(try await scene.authc(["refresh"]).status == 0)
            #expect(try await scene.authc(["call", "users", "limit=1"]).status == 0)
            #expect(try await scene.authc(["reload"]).status == 0)
            // Another process, which is the program of this one.
            let checked = try await scene.agent.authc("provider", "check", "-", input: "name = \"shop\"\n")
            #expect(checked.status == 78 && (checked.out + checked.err).contains("environments"), "\(checked)")
            let second = try await scene.authc(["token"]).out
            #expect(first != second && !second.isEmpty)
            let entries = try AuditList(try await scene.agent.json("log", "-n", "100")).entries
            let tokens = entries.filter { $0.method == "token.get" }
            #expect(
                !tokens.isEmpty
                    && tokens.allSatisfy {
                        $0.exe?.hasSuffix("/authc-full") == true || $0.exe?.hasSuffix("/authc") == true
                    }, "\(entries)")
            // Another run has the session from the keyring.
            try await scene.restart(with: Self.on)
            #expect(try await scene.authc(["wait", "--timeout", "30s"]).status == 0)
            #expect(try await scene.authc(["token"]).out == second)
            #expect(try await scene.authc(["logout"]).status == 0)
        }
    }

    @Test("sealed files, queued writes, the lock and the extra socket need nothing else")
    func stores() async throws {
        try await Scene.play(keyring: false) { scene in
            let key = try scene.desktop.folder.write(String(repeating: "k", count: 40), to: "keys/authd.key")
            chmod(key, 0o600)
            try scene.prependSettings("sealed_key = \"\(key)\"\n")
            try await scene.restart(["--store", "sealed-file"], with: Self.on)
            guard try await isOn(scene) else { return }
            #expect(try await scene.login(.appTemplate).status == 0)
            let token = try await scene.authc(["token"]).out
            try await scene.restart(["--store", "sealed-file"], with: Self.on)
            #expect(try await scene.authc(["token"]).out == token)
            // Each of these writes to the state folder for the first time.
            let queued = try await scene.ask("outbox.list", [:])
            #expect(queued["entries"] != nil, "\(queued)")
            #expect(try await scene.authc(["logout"]).status == 0)
            // A reload opens the extra socket in a folder that exists since the start.
            let file = scene.desktop.folder.path + "/config/authd/authd.toml"
            let settings = try String(contentsOfFile: file, encoding: .utf8)
            try (settings + "\n[listener.extra]\nlisten = true\n").write(
                toFile: file, atomically: true, encoding: .utf8)
            let reloaded = try await scene.authc(["reload"])
            #expect(reloaded.status == 0 && !reloaded.err.contains("not open"), "\(reloaded)")
            let extra = scene.desktop.folder.path + "/run/authd-extra/socket"
            #expect(FileManager.default.fileExists(atPath: extra))
        }
    }

    @Test("what the agent starts, in its domain, reads and writes only what the rules name")
    func refused() async throws {
        try await Scene.play { scene in
            let folder = scene.desktop.folder.path
            let secret = try scene.desktop.folder.write("the other secret", to: "home/.ssh/id_ed25519")
            let outside = folder + "/home/.bashrc"
            let report = folder + "/run/authd/report"
            let attempts =
                "cat \(secret); echo x > \(outside); mkdir \(folder)/home/new; kill -0 \(getpid()); echo ended"
            // A file directly in the home opens no other one, however its path is written.
            try scene.prependSettings(
                """
                sealed_key = "\(folder)/home//.ssh/../authd.key"

                [[hook]]
                on = "session.added"
                command = ["/bin/bash", "-c", "{ \(attempts); } > \(report) 2>&1"]

                """)
            func seen() async throws -> String {
                #expect(try await scene.login(.appTemplate).status == 0)
                var text = ""
                #expect(
                    try await until {
                        text = (try? String(contentsOfFile: report, encoding: .utf8)) ?? ""
                        return text.contains("ended")
                    })
                return text
            }
            try await scene.restart(with: Self.on)
            guard try await isOn(scene) else { return }
            let text = try await seen()
            #expect(text.components(separatedBy: "Permission denied").count == 4, "\(text)")
            #expect(!text.contains("the other secret"))
            #expect(!FileManager.default.fileExists(atPath: outside))
            // Signals stay in the domain.
            #expect(text.contains("kill: (\(getpid())) - Operation not permitted"), "\(text)")
            #expect(try await scene.authc(["logout"]).status == 0)

            // The same without it, so that the refusals are Landlock's.
            try FileManager.default.removeItem(atPath: report)
            try await scene.restart(with: ["AUTHD_LANDLOCK": "off"])
            #expect(try AgentInfo(try await scene.ask("agent.info", [:])).landlock == .off)
            #expect(try await seen().contains("the other secret"))
            #expect(FileManager.default.fileExists(atPath: outside))
        }
    }

    @Test("a link to a file elsewhere can be read if it was there at the start, and a reload says so")
    func links() async throws {
        try await Scene.play { scene in
            try await scene.restart(with: Self.on)
            guard try await isOn(scene) else { return }
            let folder = scene.desktop.folder.path
            _ = try scene.desktop.folder.write("notifications = false\n", to: "dotfiles/authd.toml")
            let file = folder + "/config/authd/authd.toml"
            try FileManager.default.removeItem(atPath: file)
            symlink(folder + "/dotfiles/authd.toml", file)
            let refused = try await scene.authc(["reload"])
            #expect(refused.status == 78 && refused.err.contains("authc agent restart"), "\(refused)")
            try await scene.restart(with: Self.on)
            _ = try scene.desktop.folder.write("notifications = true\n", to: "dotfiles/authd.toml")
            let reloaded = try await scene.authc(["reload"])
            #expect(reloaded.status == 0 && reloaded.err.contains("notifications are shown"), "\(reloaded)")
        }
    }

    @Test("if the process that identifies clients ends, clients get nothing, and the agent ends with a failure")
    func reader() async throws {
        try await Scene.play { scene in
            try await scene.restart(with: Self.on)
            guard try await isOn(scene) else { return }
            #expect(try await scene.login(.appTemplate).status == 0)
            #expect(try await scene.authc(["token"]).status == 0)
            let child = try scene.agent.child
            kill(try Self.reader(of: child.pid), SIGKILL)
            #expect(
                try await until {
                    let refused = try await scene.authc(["token"])
                    // 69: it does not accept clients any more.
                    return [69, 77].contains(refused.status) && refused.out.isEmpty
                })
            #expect(await child.ended() == 70)
            #expect(child.err.text.contains("The process that identifies clients has ended"), "\(child.err.text)")
        }
    }

    private static func reader(of agent: Int32) throws -> Int32 {
        let children = try String(contentsOfFile: "/proc/\(agent)/task/\(agent)/children", encoding: .utf8)
        return try #require(
            children.split(separator: " ").compactMap { Int32($0) }.first {
                (try? String(contentsOfFile: "/proc/\($0)/comm", encoding: .utf8)) == "authd-reader\n"
            })
    }

    @Test("while the process that identifies clients is stopped, clients get nothing; afterwards they are served again")
    func lateReader() async throws {
        try await Scene.play { scene in
            try await scene.restart(with: Self.on)
            guard try await isOn(scene) else { return }
            #expect(try await scene.login(.appTemplate).status == 0)
            let reader = try Self.reader(of: scene.agent.child.pid)
            kill(reader, SIGSTOP)
            let refused = try await scene.authc(["token"])
            #expect(refused.status == 77 && refused.err.contains("not known whether this client is in a sandbox"))
            let doctor = try await scene.authc(["doctor"])
            #expect(doctor.status == 77 && doctor.out.contains("limited access"), "\(doctor)")
            kill(reader, SIGCONT)
            #expect(try await until { try await scene.authc(["token"]).status == 0 })
        }
    }
}
