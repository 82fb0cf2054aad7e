import AuthWire
import Foundation
import Testing

struct SocketPathTests {
    private func resolve(
        flag: String? = nil, _ environment: [String: String] = [:], isPrivate: Bool = false, userID: UInt32 = 1234
    ) throws(AgentError) -> String {
        try SocketPath.resolve(
            flag: flag, environment: { environment[$0] }, userID: userID,
            isPrivateFolder: { path, userID in isPrivate && path == "/run/user/1234" && userID == 1234 })
    }

    @Test("the flag comes first, then AUTHD_SOCKET, then XDG_RUNTIME_DIR, then the user's own run folder")
    func choosesInOrder() throws {
        let all = ["AUTHD_SOCKET": "/a/s", "XDG_RUNTIME_DIR": "/x"]
        #expect(try resolve(flag: "/f/s", all, isPrivate: true) == "/f/s")
        #expect(try resolve(all, isPrivate: true) == "/a/s")
        #expect(try resolve(["XDG_RUNTIME_DIR": "/x"], isPrivate: true) == "/x/authd/socket")
        #expect(try resolve(["XDG_RUNTIME_DIR": "/x/"]) == "/x/authd/socket")
        #expect(try resolve(isPrivate: true) == "/run/user/1234/authd/socket")
    }

    @Test("an empty variable is not set, and neither is a relative runtime folder")
    func passesOverEmpty() throws {
        #expect(try resolve(["AUTHD_SOCKET": "", "XDG_RUNTIME_DIR": "/x"]) == "/x/authd/socket")
        #expect(try resolve(["XDG_RUNTIME_DIR": ""], isPrivate: true) == "/run/user/1234/authd/socket")
        #expect(try resolve(["XDG_RUNTIME_DIR": "x"], isPrivate: true) == "/run/user/1234/authd/socket")
    }

    @Test("without a private folder it fails and says what to set")
    func goesNowhereElse() {
        let error = #expect(throws: AgentError.self) { try resolve() }
        #expect(error?.message.contains("XDG_RUNTIME_DIR") == true && error?.message.contains("--socket") == true)
        #expect(error?.message.contains("/run/user/1234") == true)
        #expect(error?.message.contains("XDG_RUNTIME_DIR is not set") == true)
        let relative = #expect(throws: AgentError.self) { try resolve(["XDG_RUNTIME_DIR": "x"]) }
        #expect(relative?.message.contains("XDG_RUNTIME_DIR is not an absolute path") == true)
    }

    @Test("under sudo, the message says to leave it out")
    func sudo() {
        let hint = "Run it without sudo."
        for (user, root, isHinted) in [("ada", 0, true), ("root", 0, false), ("", 0, false), ("ada", 1234, false)] {
            let error = #expect(throws: AgentError.self) { try resolve(["SUDO_USER": user], userID: UInt32(root)) }
            #expect(error?.message.hasSuffix(hint) == isHinted, "\(user) \(root)")
        }
    }

    @Test("a relative path, a path with a zero byte and a path too long for the system are refused by their source")
    func refusesBadPaths() throws {
        let longest = "/" + String(repeating: "s", count: SocketPath.longest - 1)
        #expect(try resolve(flag: longest) == longest)
        for (flag, environment, source) in [
            ("s", [:], "--socket"), ("", [:], "--socket"), (longest + "s", [:], "--socket"), ("/a\0b", [:], "--socket"),
            (nil, ["AUTHD_SOCKET": "./s"], "AUTHD_SOCKET"), (nil, ["AUTHD_SOCKET": longest + "s"], "AUTHD_SOCKET"),
            (nil, ["XDG_RUNTIME_DIR": longest], "XDG_RUNTIME_DIR"),
        ] as [(String?, [String: String], String)] {
            let error = #expect(throws: AgentError.self) { try resolve(flag: flag, environment) }
            #expect(error?.message.hasPrefix(source) == true)
        }
    }

    @Test("a folder is private when it is a real one, the user's own, and closed to others")
    func checksTheFolder() throws {
        let base = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: base, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: base) }
        let link = base + "-link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: base)
        defer { try? FileManager.default.removeItem(atPath: link) }

        #expect(chmod(base, 0o700) == 0)
        #expect(SocketPath.isPrivateFolder(base, getuid()))
        #expect(!SocketPath.isPrivateFolder(base, getuid() &+ 1))
        #expect(!SocketPath.isPrivateFolder(link, getuid()))
        #expect(!SocketPath.isPrivateFolder(base + "/none", getuid()))
        for mode in [0o755, 0o710, 0o701, 0o777] as [mode_t] {
            #expect(chmod(base, mode) == 0)
            #expect(!SocketPath.isPrivateFolder(base, getuid()))
        }
    }

    @Test("the prompt's file is beside the socket")
    func putsThePromptBeside() throws {
        #expect(PromptPath.beside(socket: "/run/user/1/authd/socket") == "/run/user/1/authd/prompt")
        #expect(PromptPath.beside(socket: "/s") == "/prompt")
    }
}
