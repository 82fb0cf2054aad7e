import AuthClient
import AuthWire
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("What authc does before it holds a secret", .timeLimit(.minutes(1)))
struct AuthcSecretTests {
    @Test(
        "the agent can identify it until the first response, and its memory is private when the token arrives",
        arguments: [["token"], ["token", "--timeout", "50s"]])
    func dumpable(arguments: [String]) async throws {
        // The owner of `/proc/PID/mem`: the user's while the process may be dumped, root's from then on (proc(5)).
        let owners = Mutex<[String: uid_t]>([:])
        let agent = try TestAgent { peer, request in
            var found = stat()
            while stat("/proc/\(peer.processID)/mem", &found) == 0 {
                owners.withLock { $0[request.method] = found.st_uid }
                // Both requests are sent at once. The answer to the first closes the memory.
                guard request.method == "token.get", found.st_uid != 0 else { break }
                sched_yield()
            }
            peer.reply(request, request.method == "token.get" ? Samples.token() : [:])
        }
        defer { agent.stop() }
        let (command, userID) = try Self.ordinaryUser(agent)
        let result = try await Program.run(
            Array(command.dropFirst()) + arguments, folder: agent.folder, program: command[0])
        #expect(result.status == 0, "\(result.errors)")
        #expect(owners.withLock { $0 } == ["agent.ping": userID, "token.get": 0])
    }

    /// The words that start authc as a user whose memory can be read, and that user. Root owns its processes in any case: another
    /// user plays then, with a copy where it can be read.
    private static func ordinaryUser(_ agent: TestAgent) throws -> (command: [String], userID: uid_t) {
        guard getuid() == 0 else { return ([Program.authc], getuid()) }
        let userID: uid_t = 65534
        let copy = try Program.copy(to: agent.folder)
        for (path, mode) in [(agent.folder, 0o755), (agent.folder + "/authd", 0o755), (agent.path, 0o666)] {
            #expect(chmod(path, mode_t(mode)) == 0)
        }
        let become = ["/usr/bin/setpriv", "--reuid=\(userID)", "--regid=\(userID)", "--clear-groups", "--"]
        return (become + [copy], userID)
    }

    @Test("its memory is private before it asks for a password")
    func prompt() async throws {
        let agent = try AuthcLoginTests.agent()
        defer { agent.stop() }
        let (command, _) = try Self.ordinaryUser(agent)
        let login = command + ["login", "app-template", "--field", "email=ada@example.org"]
        let terminal = try await Terminal(
            login.map { "'\($0)'" }.joined(separator: " ") + "; echo \"exit $?\"", folder: agent.folder)
        await terminal.waits(for: "Password: ")
        var processID: Int32?
        for await case .request(let peer, _) in agent.events {
            processID = peer.processID
            break
        }
        var found = stat()
        #expect(stat("/proc/\(try #require(processID))/mem", &found) == 0 && found.st_uid == 0)
        terminal.type("right\n")
        await terminal.ends()
        #expect(terminal.text.contains("exit 0"), "\(terminal.text)")
    }

    @Test("authc asks for no secret if the terminal would show it")
    func echo() async throws {
        let agent = try AuthcLoginTests.agent()
        defer { agent.stop() }
        let fifo = agent.folder + "/go"
        #expect(mkfifo(fifo, 0o600) == 0)
        // An orphaned process group may not change the terminal (tcsetattr(3), EIO).
        let login = "authc login app-template --field email=ada@example.org"
        let terminal = try await Terminal(
            "export -f authc; bash -c 'set -m; { read -r go <\(fifo); \(login); echo \"exit $?\"; } & disown'; "
                + "echo go >\(fifo); read -r end", folder: agent.folder)
        await terminal.waits(for: "exit ")
        #expect(terminal.text.contains("cannot hide the secret"), "\(terminal.text)")
        #expect(terminal.text.contains("exit 70"))
        #expect(!terminal.text.contains("Password: "))
        terminal.type("\n")
        await terminal.ends()
    }
}

/// `Tests/run-suites` leaves suites of this name out unless it runs as root: only root can become another user.
@Suite("An agent that another user runs (as root)", .timeLimit(.minutes(1)))
struct OtherUsersAgentRootTests {
    /// Listens at a path, and writes what so many clients send until their ends.
    private static let listener = """
        import json, os, socket, sys
        server = socket.socket(socket.AF_UNIX)
        server.bind(sys.argv[1])
        os.chmod(sys.argv[1], 0o777)
        server.listen()
        print("ready", flush=True)
        received = b""
        for _ in range(int(sys.argv[2])):
            client, _ = server.accept()
            while True:
                piece = client.recv(65536)
                if not piece:
                    break
                received += piece
                for line in piece.splitlines():
                    answer = {"jsonrpc": "2.0", "id": json.loads(line)["id"], "result": {"pid": 1}}
                    client.sendall(json.dumps(answer).encode() + b"\\n")
        print(received.decode(), flush=True)
        """

    /// Runs as the user nobody. The clients here run as another user, but not as root, which trusts root only.
    private func listening(to clients: Int = 1, _ test: (String) async throws -> Void) async throws -> String {
        let folder = try TemporaryFolder()
        #expect(chmod(folder.path, 0o777) == 0)
        let become = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
        let server = try await Child(
            become + ["python3", "-c", Self.listener, folder.path + "/socket", "\(clients)"],
            environment: ["PATH": "/usr/bin:/bin"])
        #expect(await server.out.wait(for: "ready"))
        try await test(folder.path + "/socket")
        return await server.output().out
    }

    @Test("does not get a secret from a blocking program, which may make other calls")
    func blocking() async throws {
        let received = try await listening { path in
            try await onThread {
                let connection = try AgentConnection(path: path, deadline: .after(.seconds(10)))
                #expect(throws: ClientError.otherUser(userID: 65534)) {
                    try connection.result(
                        of: LoginAnswer(login: "l", fields: ["password": "hunter2"]),
                        deadline: .after(.seconds(10)))
                }
                _ = try connection.result(of: AgentPing(), deadline: .after(.seconds(10)))
            }
        }
        #expect(received.contains("agent.ping") && !received.contains("hunter2"), "\(received)")
    }

    @Test("does not get a secret from an asynchronous program")
    func asynchronous() async throws {
        let received = try await listening { path in
            let client = try AuthClient(socket: path)
            await #expect(throws: ClientError.otherUser(userID: 65534)) {
                try await client.result(of: AgentUnlock(passphrase: "hunter2"))
            }
            _ = try await client.result(of: AgentPing())
            client.close()
        }
        #expect(received.contains("agent.ping") && !received.contains("hunter2"), "\(received)")
    }

    @Test("gets no subscription from a client that requires an agent of its user")
    func events() async throws {
        let received = try await listening { path in
            var events = try AuthClient(socket: path, requiresOwnAgent: true).events().makeAsyncIterator()
            await #expect(throws: ClientError.otherUser(userID: 65534)) { try await events.next() }
        }
        #expect(received.trimmingCharacters(in: .whitespacesAndNewlines) == "ready", "\(received)")
    }

    @Test(
        "is not called by authc if only a variable names its socket",
        arguments: [["status"], ["token"], ["list", "--json"], ["whoami"], ["proxy"]])
    func variable(words: [String]) async throws {
        // The small program looks at it as well, and leaves these to the other one.
        let isQuick = words != ["proxy"]
        for (program, clients) in [(QuickAuthc.full, 1), (Programs.authc, isQuick ? 2 : 1)] {
            let received = try await listening(to: clients) { path in
                let result = try await Program.run(
                    words, folder: Self.folder(of: path), environment: ["AUTHD_SOCKET": path], program: program)
                let text = result.output + result.errors
                #expect(result.status == 77 && text.contains("runs as user 65534, not as you"), "\(result)")
            }
            #expect(received.trimmingCharacters(in: .whitespacesAndNewlines) == "ready", "\(words): \(received)")
        }
    }

    private static func folder(of socket: String) -> String { URL(filePath: socket).deletingLastPathComponent().path }

    @Test("is called by authc if the command line names its socket")
    func option() async throws {
        let received = try await listening { path in
            _ = try await Program.run(["status", "--socket", path], folder: Self.folder(of: path))
        }
        #expect(received.contains("session.status"), "\(received)")
    }
}
