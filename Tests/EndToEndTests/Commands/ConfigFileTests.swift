import AuthWire
import Foundation
import Glibc
import TestSupport
import Testing

/// What `authc config` does with files of other kinds, modes and owners, and with `--file`.
@Suite("authc config and its file", .timeLimit(.minutes(2)))
struct ConfigFileTests {
    private static let file = "/config/authd/authd.toml"

    private static func attribute(_ key: FileAttributeKey, of path: String) throws -> Int? {
        (try FileManager.default.attributesOfItem(atPath: path)[key] as? NSNumber)?.intValue
    }

    @Test("only a regular file is read or replaced")
    func kinds() async throws {
        try await Scene.play(keyring: false) { scene in
            let folder = scene.desktop.folder.path
            let pipe = folder + "/pipe.toml"
            #expect(mkfifo(pipe, 0o600) == 0)
            let socket = folder + "/socket.toml"
            let listener = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            defer { close(listener) }
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(socket.utf8)) }
            let bound = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            #expect(bound == 0)
            for (path, type) in [(pipe, S_IFIFO), (socket, S_IFSOCK)] {
                for command in [
                    ["get", "log_level"], ["list"], ["set", "log_level", "info"], ["unset", "log_level"],
                ] {
                    let output = try await scene.agent.authc(["config"] + command + ["--file", path])
                    #expect(output.status == 64, "\(command): \(output)")
                    #expect(output.err.contains("\(path) is not a regular file"), "\(output.err)")
                }
                let edit = try await scene.shell("EDITOR=true \"$0\" config edit --file '\(path)'")
                #expect(edit.status == 64 && edit.err.contains("is not a regular file"), "\(edit)")
                var info = stat()
                #expect(lstat(path, &info) == 0 && info.st_mode & S_IFMT == type)
            }
            let dash = try await scene.agent.authc("config", "set", "log_level", "info", "--file", "-")
            #expect(dash.status == 64 && dash.err.contains("--file: expected the path of a file"), "\(dash)")
        }
    }

    @Test("a file that authd refuses because of its mode is not changed, and the error has the command")
    func mode() async throws {
        try await Scene.play(keyring: false) { scene in
            let path = scene.desktop.folder.path + Self.file
            let settings = try String(contentsOfFile: path, encoding: .utf8)
            #expect(chmod(path, 0o666) == 0)
            let refused = try await scene.agent.authc("config", "set", "notifications", "false")
            #expect(refused.status == 78 && refused.err.contains("`chmod o-w \(path)`"), "\(refused)")
            #expect(refused.err.contains(path) && !refused.err.contains(".authd-"), "\(refused)")
            #expect(try String(contentsOfFile: path, encoding: .utf8) == settings)
        }
    }

    @Test("a change keeps the owner, and with --file it reloads only the agent that --socket names")
    func namedFile() async throws {
        try await Scene.play(keyring: false) { scene in
            let file = try scene.desktop.folder.write("log_level = \"info\"\n", to: "other.toml")
            let path = "\(file)"
            // Only root can give a file away.
            let owner = getuid() == 0 ? 1 : getuid()
            #expect(chown(path, owner, gid_t.max) == 0 && chmod(path, 0o640) == 0)
            let set = try await scene.agent.authc("config", "set", "log_level", "notice", "--file", path)
            #expect(set.status == 0, "\(set)")
            #expect(set.err.contains("saved; reload the agent that uses this file"), "\(set)")
            #expect(!set.err.contains("authd:"), "\(set)")
            #expect(try Self.attribute(.ownerAccountID, of: path) == Int(owner))
            #expect(try Self.attribute(.posixPermissions, of: path) == 0o640)
            let json = try await scene.agent.authc("config", "set", "log_level", "info", "--file", path, "--json")
            #expect(json.out.contains(#""reloaded":false"#), "\(json)")
        }
    }

    @Test("an editor that changes nothing creates no file")
    func unchanged() async throws {
        try await Scene.play(keyring: false) { scene in
            let folder = scene.desktop.folder.path
            #expect(unlink(folder + Self.file) == 0)
            let edit = try await scene.shell("EDITOR=true \"$0\" config edit")
            #expect(edit.status == 0 && edit.err.contains("nothing was changed"), "\(edit)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/config/authd").isEmpty)
        }
    }

    @Test("without a terminal and after SIGTERM, the user's version stays", arguments: [false, true])
    func kept(ends: Bool) async throws {
        try await Scene.play(keyring: false) { scene in
            let folder = scene.desktop.folder.path
            let settings = try String(contentsOfFile: folder + Self.file, encoding: .utf8)
            let kill = ends ? "kill -TERM $PPID" : ":"
            _ = try scene.desktop.folder.write("echo 'store = 7' >> \"$1\"; \(kill)\n", to: "editor.sh")
            let edit = try await scene.shell("EDITOR='sh \(folder)/editor.sh' \"$0\" config edit")
            #expect(edit.status == (ends ? 143 : 78), "\(edit)")
            #expect(edit.err.contains("your version is in \(folder + Self.file).edited"), "\(edit)")
            #expect(try String(contentsOfFile: folder + Self.file, encoding: .utf8) == settings)
            let kept = try String(contentsOfFile: folder + Self.file + ".edited", encoding: .utf8)
            #expect(kept == settings + "store = 7\n")
        }
    }
}
