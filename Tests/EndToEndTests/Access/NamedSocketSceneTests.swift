import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// The real program with sockets of units that the user has added, as systemd passes them (LISTEN_FDS, LISTEN_FDNAMES).
@Suite("Named sockets, with sessions", .timeLimit(.minutes(2)))
struct NamedSocketSceneTests {
    /// A socket as a unit with `ListenStream=` has it, in its own folder. The manager keeps it when the agent restarts.
    private static func open(_ name: String, in scene: Scene, for manager: FakeDescriptorStore) throws -> String {
        let path = try scene.desktop.folder.folder("run/authd-\(UInt32.random(in: 0 ... .max))") + "/socket"
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0, listen(descriptor, 64) == 0 else {
            throw Failure("\(path): \(String(cString: strerror(errno)))")
        }
        manager.put(descriptor, as: name)
        return path
    }

    @Test(
        "each has what its own table lists, after a reload and a restart, too; wrong ones are reported, others served"
    )
    func permissions() async throws {
        try await Scene.play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            #expect(try await scene.login(.envelope).status == 0)
            let manager = FakeDescriptorStore()
            let box = try Self.open("box", in: scene, for: manager)
            let tool = try Self.open("tool", in: scene, for: manager)
            let bare = try Self.open("bare", in: scene, for: manager)
            for wrong in ["box", "Box", "dbus", "../api"] { _ = try Self.open(wrong, in: scene, for: manager) }
            var ends: [Int32] = [0, 0]
            #expect(pipe(&ends) == 0)
            defer { close(ends[1]) }
            manager.put(ends[0], as: "pipe")
            try scene.prependSettings(
                """
                [listener.extra]
                sessions = ["app-template", "envelope"]
                classes = ["status", "act"]
                [listener.box]
                sessions = ["app-template"]
                classes = ["status", "act"]
                endpoints = ["users"]
                [listener.tool]
                sessions = ["envelope"]
                classes = ["status"]
                [listener.missing]
                classes = ["status"]

                """)
            func expectRights(toolSees: Bool = true) async throws {
                let info = try await scene.ask("agent.info", [:])
                #expect(info["listeners"] == ["bare", "box", "tool"])
                let boxList = try await scene.authc(["list", "--socket", box])
                #expect(boxList.status == 0 && boxList.out.contains("app-template"), "\(boxList)")
                #expect(!boxList.out.contains("envelope"), "\(boxList)")
                let users = try await scene.authc(["call", "users", "--socket", box])
                #expect(users.status == 0 && users.out.contains("ada@example.org"), "\(users)")
                let toolList = try await scene.authc(["list", "--socket", tool])
                #expect(toolList.status == (toolSees ? 0 : 77) && toolList.out.contains("envelope") == toolSees)
                #expect(!toolList.out.contains("app-template"), "\(toolList)")
                for (socket, command) in [
                    (tool, ["request", "GET", "/users"]), (tool, ["token"]), (box, ["token"]),
                    (box, ["call", "preferences"]),
                    (bare, ["list"]), (bare, ["token"]), (box, ["logout"]),
                ] {
                    let refused = try await scene.authc(command + ["--socket", socket, "--no-input"])
                    #expect(refused.status == 77 && refused.out.isEmpty, "\(command): \(refused)")
                }
                let refused = try await scene.authc(["list", "--socket", bare])
                #expect(refused.err.contains("[listener.bare]"), "\(refused)")
            }
            try await scene.restart(descriptorStore: manager)
            try await expectRights()
            let log = try await scene.authc(["log"])
            #expect(log.out.contains("listener box") && log.out.contains("listener bare"), "\(log)")
            let tested = try await scene.authc(["policy", "test", "--as-listener", "box", "session.list"])
            #expect(tested.status == 0 && tested.out.contains("listener.box"), "\(tested)")
            let denied = try await scene.authc(["policy", "test", "--as-listener", "bare", "session.list"])
            #expect(
                denied.status == 77 && denied.out.hasPrefix("denied by listener.bare: [listener.bare]"), "\(denied)")

            // A reload, and then the next run, which the manager gives the same sockets.
            let file = scene.desktop.folder.path + "/config/authd/authd.toml"
            let settings = try String(contentsOfFile: file, encoding: .utf8)
            _ = try scene.desktop.folder.write(
                settings.replacing("[\"envelope\"]\nclasses = [\"status\"]", with: "[\"envelope\"]")
                    .replacing("[listener.missing]", with: "[listener.absent]"),
                to: "config/authd/authd.toml")
            let reload = try await scene.agent.authc("reload")
            #expect(reload.status == 0 && reload.err.contains("[listener.tool] is different"), "\(reload)")
            #expect(!reload.err.contains("FileDescriptorName=tool"), "\(reload)")
            #expect(reload.err.contains("FileDescriptorName=absent"), "\(reload)")
            #expect(!reload.err.contains("FileDescriptorName=missing"), "\(reload)")
            try await expectRights(toolSees: false)
            let first = try scene.agent
            try await scene.restart(descriptorStore: manager)
            try await expectRights(toolSees: false)

            let errors = await first.child.err.all()
            for text in [
                "more than one socket named 'box'", "The socket 'Box' from", "The socket 'dbus' from",
                "The socket '../api' from", "The descriptor 'pipe' from", "FileDescriptorName=", "ListenStream=",
                "[listener.missing] is not in use",
            ] {
                #expect(errors.contains(text), "\(text): \(errors)")
            }
        }
    }
}
