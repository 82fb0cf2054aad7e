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
        _ = try home.folder.write("", to: Self.file)
        #expect(try await ask(home.socket, "agent.reload")["result"] != nil)
        #expect(mode(of: extra) == nil)
        #expect(await authd.end() == 0)
    }

    @Test("with --extra-socket it is there from the start, and only its lock is left at the end")
    func option() async throws {
        let path = home.runtime + "/box/socket"
        let authd = try await Program(home, ["--store", "memory", "--extra-socket", path])
        try await authd.ready()
        #expect(try await ask(path, "agent.ping")["result"] != nil)
        let second = try await Program(
            home, ["--store", "memory", "--socket", home.runtime + "/two/socket", "--extra-socket", path])
        #expect(await second.ended() == 75)
        #expect(mode(of: home.runtime + "/two/socket") == nil)
        #expect(await authd.end() == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: home.runtime + "/box") == ["socket.lock"])
    }

    @Test("a folder that others can enter is refused: at the start, and at a reload, which keeps everything else")
    func openFolder() async throws {
        let folder = home.runtime + "/authd-extra"
        mkdir(folder, 0o755)
        chmod(folder, 0o755)
        _ = try home.folder.write("[listener.extra]\nlisten = true\n", to: Self.file)
        let refused = try await Program(home, ["--store", "memory"])
        #expect(await refused.ended() == 77)
        #expect(mode(of: home.socket) == nil)
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
