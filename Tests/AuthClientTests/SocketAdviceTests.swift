import AuthWire
import Foundation
import TestSupport
import Testing

@Suite("What to do if the agent cannot be reached", .timeLimit(.minutes(1)))
struct SocketAdviceTests {
    @Test("without a systemd user manager, the advice is to start authd, and doctor has no fix")
    func withoutManager() async throws {
        let folder = try TemporaryFolder()
        let status = try await Program.run(["status"], folder: folder.path)
        #expect(status.status == 69 && status.errors.contains("\n  start it: `authd` in another"), "\(status)")
        let doctor = try await Program.run(["doctor", "--json"], folder: folder.path)
        #expect(doctor.status == 69 && doctor.output.contains("start the agent: `authd` in another"), "\(doctor)")
        for result in [status, doctor] { #expect(!(result.output + result.errors).contains("systemctl"), "\(result)") }

        try SystemdManager.add(to: folder.path)
        let managed = try await Program.run(["doctor", "--json"], folder: folder.path)
        #expect(managed.output.contains("`systemctl --user enable --now authd.socket`, or `authd`"), "\(managed)")
        #expect(managed.output.contains("\"fix\":\"systemctl --user start authd.socket\""), "\(managed)")
    }

    @Test("the advice starts an agent at the socket that was named")
    func otherSockets() async throws {
        let folder = try TemporaryFolder()
        let place = folder.path.hasSuffix("/") ? String(folder.path.dropLast()) : folder.path
        let cases = [
            ("/authd-work/socket", "authd@work.socket"), ("/authd-extra/socket", "authd-extra.socket"),
            ("/authd-http/socket", nil), ("/authd-a b/socket", nil), ("/other/socket", nil),
        ]
        for isManaged in [false, true] {
            if isManaged { try SystemdManager.add(to: folder.path) }
            for (path, unit) in cases {
                let socket = place + path
                let command = "`authd --socket \(ShellWord.quoted(socket))` in another terminal"
                for (words, verb) in [(["status"], "start"), (["doctor", "--json"], "enable --now")] {
                    let result = try await Program.run(
                        words, folder: folder.path, environment: ["AUTHD_SOCKET": socket])
                    let expected = isManaged ? unit.map { "`systemctl --user \(verb) \($0)`" } ?? command : command
                    let text = result.output + result.errors
                    #expect(result.status == 69 && text.contains("start"), "\(result)")
                    #expect(text.contains(": " + expected), "\(expected): \(result)")
                    #expect(!text.contains("`authd`") && !text.contains(" authd.socket"), "\(result)")
                }
            }
        }
    }

    @Test("the command for another socket starts an agent there")
    func startsThere() async throws {
        let folder = try TemporaryFolder()
        let socket = try folder.folder("it's here") + "/socket"
        let status = try await Program.run(["status", "--socket", socket], folder: folder.path)
        let command = try #require(status.errors.firstMatch(of: /`(authd [^`]*)`/)).1
        let check = try await Program.run(
            ["-c", "exec \(Programs.folder)/\(command) --check"], folder: folder.path, program: "/bin/sh")
        #expect(check.status == 0 && command.hasPrefix("authd --socket "), "\(check)")
    }

    /// An agent in a folder whose name has to be quoted.
    private static func agent(_ folder: TemporaryFolder) throws -> TestAgent {
        let refusal = AgentError(.notSignedIn, "Nobody is signed in.")
        return try TestAgent(
            folder: folder.folder("it's here"),
            replies: [
                "agent.ping": .success([:]), "token.get": .failure(refusal),
                "session.list": .success(["sessions": []]), "cluster.join": .success(["code": "AB-CD"]),
                "session.status": .success(Samples.status(["state": "signed_out"])),
                "provider.check": .success(["problems": []]),
                "agent.reload": .success(["message": .string(ReloadResult.added(profile: "github"))]),
                "policy.show": .failure(AgentError(.agentLocked, "The agent is locked.")),
                "cluster.admit": .failure(
                    AgentError(.refused, "a ` here: `authc cluster join` there, `authc help log` or `authc log`")),
            ])
    }

    /// SOCKET stands for the option with the quoted path.
    @Test(
        "a command in a message has the --socket that was given, and so calls the same agent",
        arguments: [
            ("token", "`authc SOCKET login app-template -s shop`"),
            ("token --json", "`authc SOCKET login app-template -s shop`"), ("list", "`authc SOCKET login`"),
            ("status", "`authc SOCKET login app-template -s shop`"), ("policy show", "`authc SOCKET unlock`"),
            ("provider add github --client-id a --force", "  authc SOCKET login github\n"),
            // These call no agent, or another host's.
            ("token --jsno", "`authc token --help`"), ("cluster join", "`authc cluster admit AB-CD`"),
            ("cluster admit AB-CD", "a ` here: `authc cluster join` there, `authc help log` or `authc SOCKET log`"),
        ])
    func givenSocket(line: String, advice: String) async throws {
        let folder = try TemporaryFolder()
        let agent = try Self.agent(folder)
        defer { agent.stop() }
        let words = line.split(separator: " ").map(String.init)
        let expected = advice.replacing("SOCKET", with: "--socket \(ShellWord.quoted(agent.path))")
        for arguments in [
            words + ["--socket", agent.path], words + ["--socket=\(agent.path)"], ["--socket", agent.path] + words,
        ] {
            let result = try await Program.run(arguments, folder: folder.path)
            let text = line.hasSuffix("--json") ? try Self.hint(result) : result.output + result.errors
            #expect(text.contains(expected), "\(result)")
        }
    }

    private static func hint(_ result: Program) throws -> String {
        try JSON(parsing: result.output)["error"]?["hint"]?.stringValue ?? ""
    }

    @Test("the command runs as shown; a socket that a variable names, or that cannot be used, is not in it")
    func runsThere() async throws {
        let folder = try TemporaryFolder()
        let agent = try Self.agent(folder)
        defer { agent.stop() }
        let refused = try await Program.run(["token", "--socket", agent.path], folder: folder.path)
        let login = try #require(refused.errors.firstMatch(of: /`(authc [^`]*)`/)).1
        let path = ["PATH": Programs.folder + ":/usr/bin:/bin"]
        let run = try await Program.run(
            ["-c", String(login)], folder: folder.path, environment: path, program: "/bin/sh")
        #expect(agent.requests.contains { $0.method == "login.start" }, "\(run)")

        let variable = try await Program.run(
            ["token"], folder: folder.path, environment: ["AUTHD_SOCKET": agent.path])
        #expect(variable.errors.hasSuffix("sign in: `authc login app-template -s shop`\n"), "\(variable)")
        let relative = try await Program.run(["doctor", "--socket", "relative"], folder: folder.path)
        #expect(relative.output.contains("`authc doctor`"), "\(relative)")
    }

    @Test("the advice about XDG_RUNTIME_DIR names a folder that exists, or creates one")
    func runtimeFolder() async throws {
        let folder = try TemporaryFolder()
        // Too long for the path of a socket.
        let long = ["XDG_RUNTIME_DIR": "/" + String(repeating: "x", count: SocketPath.longest)]
        let result = try await Program.run(["doctor", "--json"], folder: folder.path, environment: long)
        let checks = try #require(try JSON(parsing: result.output)["checks"]?.arrayValue, "\(result)")
        let hint = try #require(checks.first { $0["check"] == "socket" }?["hint"]?.stringValue)
        let status = try await Program.run(["status"], folder: folder.path, environment: long)
        #expect(status.status == 69 && status.errors.hasSuffix("\n  \(hint)\n"), "\(status)")
        let login = "/run/user/\(getuid())"
        guard !SocketPath.isPrivateFolder(login, getuid()) else {
            #expect(hint.contains("`export XDG_RUNTIME_DIR=\(login)`"))
            return
        }
        let commands = hint.matches(of: /`([^`]+)`/).map { String($0.1) }
        let line = commands.joined(separator: " && ") + " && exec \"$0\" doctor --json"
        let fixed = try await Program.run(
            ["-c", line, Program.authc], folder: folder.path, environment: long, program: "/bin/sh")
        #expect(fixed.output.contains("there is no socket at \(folder.path)/"), "\(hint): \(fixed)")
        let mode = try FileManager.default.attributesOfItem(atPath: folder.path + "/.authd-run")[.posixPermissions]
        #expect(mode as? Int == 0o700)
    }
}

/// `Tests/run-suites` leaves suites of this name out unless it runs as root: only root can become another user.
@Suite("What to do if a socket is not accessible (as root)", .timeLimit(.minutes(1)))
struct SocketAdviceRootTests {
    private static let user = 65534

    /// - Parameters:
    ///   - owner: of the socket and its folder.
    ///   - modes: of the folder and of the socket.
    /// - Returns: what an ordinary user is shown, and the socket's path.
    private static func results(
        owner: Int, modes: (mode_t, mode_t), in folder: TemporaryFolder
    ) async throws -> (results: [Program], path: String) {
        // The other user can start the program there.
        let authc = try Program.copy(to: folder.path)
        let agent = try TestAgent(folder: folder.path, replies: [:])
        defer { agent.stop() }
        #expect(chmod(folder.path, 0o755) == 0 && chown(agent.path, uid_t(owner), gid_t(owner)) == 0)
        let inner = folder.path + "/authd"
        #expect(chown(inner, uid_t(owner), gid_t(owner)) == 0)
        #expect(chmod(inner, modes.0) == 0 && chmod(agent.path, modes.1) == 0)
        var results: [Program] = []
        for words in [["status"], ["doctor", "--json"]] {
            results.append(
                try await Program.run(
                    ["--reuid=\(user)", "--regid=\(user)", "--clear-groups", "--", authc] + words, folder: folder.path,
                    program: "/usr/bin/setpriv"))
        }
        return (results, agent.path)
    }

    /// The folder of temporary files may end in a slash.
    private static func plain(_ path: String) -> String { path.replacing("//", with: "/") }

    @Test("because it belongs to another user: the hint names the owner and the mode, and how to reach one's own agent")
    func others() async throws {
        for (modes, path, mode, use) in [
            ((0o700, 0o666), "/authd", "0700", "enter it"), ((0o755, 0o600), "/authd/socket", "0600", "write to it"),
        ] as [((mode_t, mode_t), String, String, String)] {
            let folder = try TemporaryFolder()
            let (results, _) = try await Self.results(owner: 0, modes: modes, in: folder)
            let place = Self.plain(folder.path) + path
            let reason = "\(place) belongs to root, and its mode \(mode) does not let you \(use)"
            for result in results {
                let text = result.output + result.errors
                #expect(result.status == 69 && text.contains(reason), "\(result)")
                #expect(text.contains("`unset AUTHD_SOCKET XDG_RUNTIME_DIR`"), "\(result)")
                #expect(!text.contains("start it") && !text.contains("start the agent"), "\(result)")
            }
        }
    }

    @Test("because of an ACL: the hint says so, and no command changes the mode")
    func accessList() async throws {
        let folder = try TemporaryFolder()
        let authc = try Program.copy(to: folder.path)
        let agent = try TestAgent(folder: folder.path, replies: [:])
        defer { agent.stop() }
        let inner = folder.path + "/authd"
        #expect(chmod(folder.path, 0o755) == 0 && chmod(inner, 0o755) == 0 && chmod(agent.path, 0o666) == 0)
        // posix_acl_xattr.h: version 2, then tag, permissions and user of the owner, this user, the group, the mask and others.
        let script = """
            import errno, os, struct, sys
            entries = [(1, 7, -1), (2, 0, \(Self.user)), (4, 5, -1), (16, 5, -1), (32, 5, -1)]
            data = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
            try: os.setxattr(sys.argv[1], "system.posix_acl_access", data)
            except OSError as error: sys.exit(3 if error.errno == errno.EOPNOTSUPP else 1)
            """
        let list = try await Program.run(["-c", script, inner], folder: folder.path, program: "/usr/bin/python3")
        // Not every file system has ACLs.
        guard list.status != 3 else { return }
        #expect(list.status == 0, "\(list)")
        let result = try await Program.run(
            ["--reuid=\(Self.user)", "--regid=\(Self.user)", "--clear-groups", "--", authc, "status"],
            folder: folder.path, program: "/usr/bin/setpriv")
        let place = Self.plain(inner)
        #expect(result.status == 69, "\(result)")
        let reason = "\(place) belongs to root, and its mode 0755 lets you enter it, but"
        #expect(result.errors.contains(reason), "\(result)")
        #expect(result.errors.contains("an ACL refuses it; `journalctl -k` may show which"), "\(result)")
        #expect(!result.errors.contains("chmod"), "\(result)")
    }

    @Test("because of its mode: the hint is the command that corrects the mode")
    func own() async throws {
        for (modes, command) in [((0o600, 0o600), "u+x"), ((0o700, 0o400), "u+w")] as [((mode_t, mode_t), String)] {
            let folder = try TemporaryFolder()
            let (results, path) = try await Self.results(owner: Self.user, modes: modes, in: folder)
            let place = Self.plain(command == "u+x" ? folder.path + "/authd" : path)
            for result in results {
                let text = result.output + result.errors
                #expect(result.status == 69 && text.contains("`chmod \(command) \(place)`"), "\(result)")
            }
        }
    }
}
