import AuthWire
import Foundation
import TestSupport
import Testing

/// The real program, started by a user and by systemd.
@Suite("The program authd", .timeLimit(.minutes(2)))
struct ProgramTests {
    private let home: Home

    init() throws {
        home = try Home()
    }

    @Test("it serves on a socket 0600 in a folder 0700, reports READY, and leaves only its lock")
    func life() async throws {
        let authd = try await Program(home, ["--store", "memory"], watchdog: .milliseconds(200))
        #expect(try await authd.waitForState { $0.contains("READY=1") }.contains("STATUS=nobody signed in"))
        #expect(mode(of: home.socket) == 0o600)
        #expect(mode(of: home.runtime + "/authd") == 0o700)
        let pid = try await onThread { [home] in try RawClient(home.socket).ask("agent.info")["result"]?["pid"] }
        #expect(pid == .integer(Int64(authd.pid)))
        try await authd.waitForState { $0 == "WATCHDOG=1" }
        #expect(
            try await until {
                (try? String(contentsOfFile: home.runtime + "/authd/prompt", encoding: .utf8)) == "\(authd.pid)\n"
            })
        #expect(await authd.end() == 0)
        try await authd.waitForState { $0.contains("STOPPING=1") }
        #expect(try FileManager.default.contentsOfDirectory(atPath: home.runtime + "/authd") == ["socket.lock"])
    }

    @Test("a second one names the first, exits with 75 and does not disturb it")
    func second() async throws {
        let first = try await Program(home, ["--store", "memory"])
        try await first.ready()
        let second = try await Program(home, ["--store", "memory"])
        #expect(await second.ended() == 75)
        #expect(await second.errors().contains("already running, pid \(first.pid)"))
        let socket = home.socket
        let pong = try await onThread { try RawClient(socket).ask("agent.ping") }
        #expect(pong["result"] != nil)
        #expect(await first.end() == 0)
    }

    @Test("leftovers of a killed one do not matter")
    func afterKill() async throws {
        let killed = try await Program(home, ["--store", "memory"])
        try await killed.ready()
        #expect(await killed.end(SIGKILL) == 128 + SIGKILL)
        #expect(mode(of: home.socket) == 0o600)
        let next = try await Program(home, ["--store", "memory"])
        try await next.ready()
        let socket = home.socket
        let pong = try await onThread { try RawClient(socket).ask("agent.ping") }
        #expect(pong["result"] != nil)
    }

    @Test("SIGHUP applies valid settings and keeps the old ones if the new are invalid")
    func reload() async throws {
        _ = try home.folder.write("log_level = \"info\"\n", to: "config/authd/authd.toml")
        let authd = try await Program(home, ["--store", "memory"])
        try await authd.ready()
        _ = try home.folder.write("log_level = \"debug\"\n", to: "config/authd/authd.toml")
        authd.signal(SIGHUP)
        try await authd.waitForState { $0.contains("RELOADING=1") }
        try await authd.ready()
        _ = try home.folder.write("log_level = 3\n", to: "config/authd/authd.toml")
        authd.signal(SIGHUP)
        try await authd.waitForState { $0.contains("RELOADING=1") }
        try await authd.ready()
        let socket = home.socket
        let refusal = try await onThread { try RawClient(socket).ask("agent.reload") }
        #expect(refusal.errorKind == "validation")
        #expect(refusal["error"]?["data"]?["details"]?[0]?.stringValue?.contains("authd.toml:1: log_level:") == true)
        #expect(await authd.end() == 0)
        #expect(await authd.errors().contains("the log level is debug"))
    }

    @Test("a change that only a restart applies is reported with the commands until it is undone")
    func changeForRestart() async throws {
        _ = try home.folder.write("store = \"memory\"\n", to: "config/authd/authd.toml")
        let authd = try await Program(home, [])
        try await authd.ready()
        _ = try home.folder.write("store = \"sealed-file\"\n", to: "config/authd/authd.toml")
        let (socket, pid) = (home.socket, authd.pid)
        func reloaded(_ params: JSON = [:]) async throws -> JSON? {
            try await onThread { try RawClient(socket).ask("agent.reload", params)["result"] }
        }
        let commands = "`kill \(pid)`, then `authd`"
        for params in [[:], [:], ["check": true]] as [JSON] {
            let result = try await reloaded(params)
            #expect(result?["message"]?.stringValue == "store has changed and needs a restart: \(commands)")
            #expect(result?["restart_needed"] == ["store"] && result?["changes"] == nil)
        }
        _ = try home.folder.write("store = \"memory\"\n", to: "config/authd/authd.toml")
        #expect(try await reloaded() == ["message": .string(ReloadResult.unchanged)])
        #expect(await authd.end() == 0)
    }

    @Test("the settings do not change a store that the command line names")
    func fixedStore() async throws {
        let authd = try await Program(home, ["--store", "memory"])
        try await authd.ready()
        _ = try home.folder.write("store = \"sealed-file\"\n", to: "config/authd/authd.toml")
        let socket = home.socket
        let reloaded = try await onThread { try RawClient(socket).ask("agent.reload")["result"] }
        #expect(reloaded == ["message": .string(ReloadResult.unchanged)])
        #expect(await authd.end() == 0)
    }

    @Test("it reports that its program was replaced; without a service manager, a restart is refused")
    func replaced() async throws {
        let path = home.folder.path + "/authd"
        #expect(symlink(Programs.authd, path) == 0)
        let authd = try await Program(home, ["--store", "memory"], program: path)
        try await authd.ready()
        let socket = home.socket
        try await onThread {
            let client = try RawClient(socket)
            #expect(try client.ask("agent.info")["result"]?["restart_pending"] == nil)
            #expect(try client.ask("agent.restart").errorKind == "unsupported")
            #expect(symlink("/bin/true", path + ".new") == 0 && rename(path + ".new", path) == 0)
            let info = try client.ask("agent.info")["result"]
            #expect(info?["restart_pending"] == true)
            #expect(info?["restart"] == ["command": "authd --store memory", "obstacle": "no_manager"])
        }
        #expect(await authd.end() == 0)
    }

    @Test("--check names file, line, key and what was expected")
    func check() async throws {
        #expect(try await Program(home, ["--check"]).ended() == 0)
        let file = try home.folder.write("\n\nlog_level = 3\n", to: "broken.toml")
        let check = try await Program(home, ["--check", "--config", file])
        #expect(await check.ended() == 78)
        #expect(await check.output().hasPrefix("\(file):3: log_level: expected "))
        #expect(try await Program(home, ["--check", "--config", file + ".none"]).ended() == 78)
    }

    @Test("it never starts with a weaker store, and wrong usage is 64")
    func refusals() async throws {
        let key = try home.folder.write("0123456789abcdef0123456789abcdef", to: "key")
        chmod(key, 0o644)
        _ = try home.folder.write("sealed_key = \"\(key)\"\n", to: "config/authd/authd.toml")
        let sealed = try await Program(home, ["--store", "sealed-file"])
        try await sealed.ready()
        let socket = home.socket
        let store = try await onThread { try RawClient(socket).ask("agent.info")["result"]?["store"] }
        #expect(store?["kind"] == "sealed-file" && store?["state"] == "failed")
        #expect(store?["message"]?.stringValue?.contains("chmod 600 \(key)") == true)
        #expect(await sealed.end() == 0)
        #expect(try await Program(home, ["--store", "clouds"]).ended() == 64)
    }

    @Test("without a keyring on the bus it starts, reports that, and refuses sign-ins")
    func withoutKeyring() async throws {
        let authd = try await Program(home, [])
        try await authd.ready()
        let socket = home.socket
        let (info, refusal) = try await onThread {
            let client = try RawClient(socket)
            let fields: JSON = ["email": "ada@example.org", "password": "correct horse"]
            let refusal = try client.ask("login.start", ["provider": "envelope", "fields": fields])
            return (try client.ask("agent.info"), refusal)
        }
        #expect(info["result"]?["store"]?["kind"] == "secret-service")
        #expect(info["result"]?["store"]?["state"] == "missing")
        #expect(refusal.errorKind == "keyring_unavailable")
    }

    @Test("with few descriptors it serves some clients, refuses others with the reason, and serves them later")
    func shortOfDescriptors() async throws {
        let authd = try await Program(
            home, ["--store", "memory"], program: "/bin/sh",
            first: ["-c", "ulimit -n 64; exec \"$@\"", "sh", Programs.authd])
        try await authd.ready()
        let socket = home.socket
        try await onThread {
            let first = try RawClient(socket)
            #expect(try first.ask("agent.ping")["result"] != nil)
            var others: [RawClient] = []
            var refusal: JSON?
            while refusal == nil, others.count < 64 {
                let client = try RawClient(socket)
                let answer = try client.ask("agent.ping")
                if answer["result"] == nil { refusal = answer }
                others.append(client)
            }
            #expect(refusal?.errorKind == "busy")
            others = []
            #expect(try first.ask("agent.ping")["result"] != nil)
            // The agent notices a moment later that the others have closed.
            while (try? RawClient(socket).ask("agent.ping"))?["result"] == nil { sched_yield() }
        }
        #expect(await authd.end() == 0)
    }

    @Test("with systemd's socket it serves clients that were waiting, and leaves the socket to systemd")
    func socketActivation() async throws {
        try FileManager.default.createDirectory(
            atPath: home.runtime + "/authd", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let activator = try await Program(
            home, ["--store", "memory"], through: ["systemd-socket-activate", "--fdname=api", "-l", home.socket])
        let socket = home.socket
        // The agent is not running: this connection starts it. The socket has its name before it listens.
        let answer = try await onThread {
            while true {
                if let client = try? RawClient(socket) { return try client.ask("agent.ping") }
                sched_yield()
            }
        }
        #expect(answer["result"]?["pid"] == .integer(Int64(activator.pid)))
        try await activator.ready()
        #expect(await activator.end() == 0)
        #expect(mode(of: home.socket) != nil)
    }
}

@Suite("The units", .timeLimit(.minutes(1)))
struct UnitTests {
    @Test("systemd accepts them without a warning")
    func verify() async throws {
        let home = try Home()
        let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path
        let names = ["authd.service", "authd.socket", "authd-extra.socket", "authd-http.service", "authd-http.socket"]
        for unit in names {
            let text = try String(contentsOfFile: "\(repository)/systemd/\(unit)", encoding: .utf8)
            let built = text.replacing("/usr/bin/authd", with: Programs.authd).replacing(
                "/usr/bin/authc", with: Programs.authc)
            _ = try home.folder.write(built, to: "units/\(unit)")
        }
        let units = home.folder.path + "/units/"
        let verify = try await Program(
            home, names.map { units + $0 }, program: "systemd-analyze", through: [],
            first: ["verify", "--user", "--man=no"])
        #expect(await verify.ended() == 0)
        // Unknown keys only cause warnings.
        #expect(await verify.errors() == "")
    }
}
