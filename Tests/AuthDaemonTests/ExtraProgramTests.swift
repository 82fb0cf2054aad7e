import AuthDaemon
import AuthSockets
import AuthWire
import Foundation
import TestSupport
import Testing

/// The real program with an extra socket.
@Suite("The program authd and its extra socket", .timeLimit(.minutes(2)))
struct ExtraProgramTests {
    private static let file = "config/authd/authd.toml"
    private let home: Home
    private var extra: String { home.runtime + "/authd-extra/socket" }

    init() throws {
        home = try Home()
    }

    private func ask(_ path: String, _ method: String) async throws -> JSON {
        try await onThread { try RawClient(path).ask(method) }
    }

    @Test("a reload opens it, with 0600 in a folder 0700, and closes it; its clients may do what the settings list")
    func settings() async throws {
        _ = try home.folder.write("", to: Self.file)
        let authd = try await Program(home, ["--store", "memory"])
        try await authd.ready()
        #expect(mode(of: extra) == nil)
        _ = try home.folder.write("[listener.extra]\nlisten = true\n", to: Self.file)
        #expect(try await ask(home.socket, "agent.reload")["result"] != nil)
        #expect(mode(of: extra) == 0o600)
        #expect(mode(of: home.runtime + "/authd-extra") == 0o700)
        #expect(try await ask(extra, "agent.ping")["result"]?["pid"] == .integer(Int64(authd.pid)))
        #expect(try await ask(extra, "session.list").errorKind == "denied")
        _ = try home.folder.write("[listener.extra]\nlisten = true\nclasses = [\"status\"]\n", to: Self.file)
        #expect(try await ask(home.socket, "agent.reload")["result"] != nil)
        #expect(try await ask(extra, "session.list")["result"]?["sessions"] == [])
        // Somebody has removed its file.
        try FileManager.default.removeItem(atPath: extra)
        #expect(try await ask(home.socket, "agent.reload")["result"] != nil)
        _ = try home.folder.write("", to: Self.file)
        let hasEnded = try await onThread { [extra, socket = home.socket] in
            let open = try RawClient(extra)
            guard try open.ask("agent.ping")["result"] != nil else { return false }
            _ = try RawClient(socket).ask("agent.reload")
            return (try? open.json()) == nil
        }
        #expect(hasEnded)
        #expect(mode(of: extra) == nil)
        #expect(await authd.end() == 0)
    }

    @Test("with --extra-socket it is there from the start; another authd goes on without it; no file is left")
    func option() async throws {
        let path = home.runtime + "/box/socket"
        let authd = try await Program(home, ["--store", "memory", "--extra-socket", path])
        try await authd.ready()
        #expect(try await ask(path, "agent.ping")["result"] != nil)
        let second = try await Program(
            home, ["--store", "memory", "--socket", home.runtime + "/two/socket", "--extra-socket", path])
        try await second.ready()
        #expect(await second.end() == 0)
        let errors = await second.errors()
        #expect(errors.contains("The extra socket is not open: another program listens at \(path)"), "\(errors)")
        #expect(try await ask(path, "agent.ping")["result"]?["pid"] == .integer(Int64(authd.pid)))
        #expect(await authd.end() == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: home.runtime + "/box").isEmpty)
    }

    @Test(
        "what a program has done to its folder does not keep authd from starting",
        arguments: ["open", "file", "link", "listener", "lock"])
    func spoiled(by way: String) async throws {
        let folder = home.runtime + "/authd-extra"
        mkdir(folder, 0o700)
        _ = try home.folder.write("[listener.extra]\nlisten = true\n", to: Self.file)
        var held: [CInt] = []
        defer { for descriptor in held { close(descriptor) } }
        switch way {
        case "open": chmod(folder, 0o777)
        case "file": held.append(unsafe open(extra, O_CREAT | O_WRONLY, 0o600))
        case "link": unsafe symlink("/nowhere", extra)
        case "listener": held.append(try SocketFile.bind(path: extra).descriptor)
        default: held.append(unsafe open(extra + ".lock", O_CREAT | O_RDWR, 0o000))
        }
        let authd = try await Program(home, ["--store", "memory"])
        try await authd.ready()
        #expect(try await ask(home.socket, "agent.ping")["result"] != nil)
        #expect(await authd.end() == 0)
        let errors = await authd.errors()
        #expect(errors.contains("The extra socket is not open") == (way != "lock"), "\(errors)")
    }

    @Test("it cannot be the agent's own socket, or be beside it")
    func besideMain() async throws {
        for (path, reason) in [
            (home.socket, "is the agent's own socket"),
            (home.runtime + "/authd/other", "is in the folder of the agent's own socket"),
        ] {
            let authd = try await Program(home, ["--store", "memory", "--extra-socket", path])
            try await authd.ready()
            #expect(try await ask(home.socket, "session.list")["result"] != nil)
            #expect(await authd.end() == 0)
            let errors = await authd.errors()
            #expect(errors.contains(reason), "\(errors)")
        }
    }

    @Test("a folder that others can enter is refused at a reload, which keeps everything else")
    func openFolder() async throws {
        let folder = home.runtime + "/authd-extra"
        mkdir(folder, 0o755)
        chmod(folder, 0o755)
        _ = try home.folder.write("", to: Self.file)
        let authd = try await Program(home, ["--store", "memory"])
        try await authd.ready()
        _ = try home.folder.write("log_level = \"debug\"\n[listener.extra]\nlisten = true\n", to: Self.file)
        let reload = try await ask(home.socket, "agent.reload")["result"]?["message"]?.stringValue ?? ""
        #expect(reload.contains("the extra socket is not open: \(folder) is accessible to others"), "\(reload)")
        #expect(reload.contains("the log level is debug"))
        #expect(await authd.end() == 0)
    }
}
