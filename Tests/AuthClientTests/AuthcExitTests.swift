import AuthWire
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("How authc ends")
struct AuthcExitTests {
    /// The contract's table.
    static let statuses: [ErrorKind: Int32] = [
        .notSignedIn: 3, .signInRequired: 3, .keyringLocked: 4, .keyringUnavailable: 4, .offline: 75,
        .captivePortal: 75, .providerUnreachable: 75, .providerError: 75, .badReply: 76, .rateLimited: 75,
        .refused: 65, .validation: 65, .forbidden: 65, .notFound: 65, .conflict: 65, .denied: 77, .agentLocked: 77,
        .timeout: 75, .busy: 75, .tooLarge: 76, .unknownSession: 64, .unknownProvider: 64, .unknownEndpoint: 64,
        .unsupported: 64, .internal_: 70,
    ]

    @Test("each kind of error has its exit status, in text and in JSON", arguments: ErrorKind.allCases)
    func kind(_ kind: ErrorKind) async throws {
        let agent = try TestAgent(replies: ["token.get": .failure(AgentError(kind, "It did not work."))])
        defer { agent.stop() }
        let expected = try #require(Self.statuses[kind])
        let text = try await Program.run(["token"], folder: agent.folder)
        #expect(text.status == expected)
        #expect(text.output.isEmpty)
        #expect(text.errors.hasPrefix("authc: It did not work.\n"))
        let json = try await Program.run(["token", "--json"], folder: agent.folder)
        #expect(json.status == expected)
        #expect(json.errors.isEmpty)
        let error = try JSON(parsing: json.output)["error"]
        #expect(error?["kind"]?.stringValue == kind.rawValue)
        #expect(error?["exit"]?.integerValue == Int64(expected))
    }

    @Test(
        "no agent on the socket is 69 for every command, and says how to start one",
        arguments: [
            ["token"], ["status"], ["list"], ["token", "-s", "x"], ["refresh"], ["watch"], ["login", "app-template"],
            ["provider", "list"], ["wait"], ["network"], ["whoami"], ["logout"],
        ])
    func noAgent(arguments: [String]) async throws {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try SystemdManager.add(to: folder)
        let result = try await Program.run(arguments, folder: folder)
        #expect(result.status == 69)
        #expect(result.errors.contains("systemctl --user start authd.socket"))
    }

    @Test("a profile cannot be checked without an agent: the error says so and names an alternative, as the help does")
    func checkWithoutAgent() async throws {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for more in [[], ["--against", "https://shop.example.org"]] {
            let check = try await Program.run(
                ["provider", "check", "-"] + more, folder: folder, input: "name = \"shop\"\n")
            let words = "the agent checks profiles; without it, `authd --check`"
            #expect(check.status == 69 && check.errors.contains(words), "\(check)")
        }
        let help = try await Program.run(["provider", "check", "--help"], folder: folder)
        #expect(help.output.contains("The agent checks the profile, so it must be running."), "\(help)")
    }

    @Test("an agent that does not answer is 75 after --timeout")
    func timeout() async throws {
        let agent = try TestAgent { _, _ in }
        defer { agent.stop() }
        let result = try await Program.run(["status", "--timeout", "30ms"], folder: agent.folder)
        #expect(result.status == 75)
        #expect(result.errors.contains("session.status: the agent did not answer within 30 ms"))
    }

    @Test("an agent that ends within a response is 69")
    func vanishing() async throws {
        let agent = try TestAgent { peer, _ in
            peer.send(bytes: Array("{".utf8))
            peer.end()
        }
        defer { agent.stop() }
        #expect(try await Program.run(["token"], folder: agent.folder).status == 69)
    }

    @Test("a response that is too large is 76, whether the agent or authc notices it")
    func tooLarge() async throws {
        let agent = try TestAgent { peer, request in
            guard request.method == "session.status" else { return peer.reply(request, [:]) }
            for _ in 0..<16 { peer.send(bytes: [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)) }
        }
        defer { agent.stop() }
        let result = try await Program.run(["status", "--json"], folder: agent.folder)
        let error = try JSON(parsing: result.output)["error"]
        #expect(error?["kind"]?.stringValue == ErrorKind.tooLarge.rawValue, "\(result.output)")
        #expect(result.status == 76 && error?["exit"]?.integerValue == 76)
    }

    @Test("prints the message of an active session once")
    func activeMessage() async throws {
        let words = "The provider no longer grants mail."
        for (cause, places) in [(JSON.string("scope_reduced"), [true, false]), (.null, [false, true])] {
            let status = Samples.status(["cause": cause, "message": .string(words)])
            let agent = try TestAgent(replies: ["session.status": .success(status)])
            defer { agent.stop() }
            let result = try await Program.run(["status"], folder: agent.folder)
            #expect([result.output.contains(words), result.errors.contains(words)] == places, "\(cause)")
        }
    }

    @Test("advises a sign-in that can be typed to a session that there is not")
    func noSuchSession() async throws {
        let status = Samples.status([
            "session": "nope", "provider": "", "environment": .null, "state": "signed_out", "user": .null,
            "default": false,
        ])
        let agent = try TestAgent(replies: ["session.wait": .success(status)])
        defer { agent.stop() }
        let result = try await Program.run(["wait", "-s", "nope", "--until", "signed_out"], folder: agent.folder)
        #expect(result.status == 0 && result.output.hasPrefix("  session nope\n"), "\(result.output)")
        #expect(result.output.contains("`authc login -s nope`"))
    }

    @Test("a wait without a limit goes on when the agent is started again")
    func waitOn() async throws {
        let waits = Atomic<Int>(0)
        let agent = try TestAgent { peer, request in
            if waits.add(1, ordering: .relaxed).newValue == 1 { return peer.end() }
            peer.reply(request, Samples.status())
        }
        defer { agent.stop() }
        // The small program would wait first, and leave the rest to the other one.
        let result = try await Program.run(["wait", "--until", "active"], folder: agent.folder)
        #expect(result.status == 0, "\(result.errors)")
        #expect(waits.load(ordering: .relaxed) == 2)
        let limited = try TestAgent { peer, _ in peer.end() }
        defer { limited.stop() }
        #expect(try await Program.run(["wait", "--timeout", "20s"], folder: limited.folder).status == 69)
    }

    @Test("a closed stdout ends it quietly, whether SIGPIPE is ignored or not", arguments: ["trap '' PIPE; ", ""])
    func closedPipe(before: String) async throws {
        let agent = try TestAgent(replies: ["token.get": .success(Samples.token())])
        defer { agent.stop() }
        // The reader goes before the writer begins.
        let pipe = "mkfifo p; exec 3<>p 4>p 3<&-"
        let shell = "\(before)\(pipe); \"\(Program.authc)\" token >&4; echo $?"
        let result = try await Program.run(
            ["-c", "cd \"$XDG_RUNTIME_DIR\"; " + shell], folder: agent.folder, program: "/bin/bash")
        #expect(result.output == "141\n")
        #expect(result.errors.isEmpty)
    }

    @Test("a closed stderr changes neither the result nor the exit status", arguments: ["trap '' PIPE; ", ""])
    func closedErrors(before: String) async throws {
        let agent = try TestAgent(replies: ["token.get": .success(Samples.token())])
        defer { agent.stop() }
        let pipe = "mkfifo p; exec 3<>p 4>p 3<&-"
        // No token of the sample lasts that long, which is said on stderr.
        let commands = "\"$0\" token --min-valid 8000h 2>&4; echo $?; \"$0\" status --socket /none 2>&4; echo $?"
        let result = try await Program.run(
            ["-c", "cd \"$XDG_RUNTIME_DIR\"; \(before)\(pipe); \(commands)", Program.authc], folder: agent.folder,
            program: "/bin/bash")
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 3 && lines.dropFirst() == ["0", "69"], "\(result)")
    }

    @Test("a watch whose reader has gone ends, even if that was the other end of a socket")
    func unwatchedSocket() async throws {
        let agent = try TestAgent { peer, request in
            peer.reply(request, .object([:]))
            if request.method == "events.subscribe" { peer.send(Samples.snapshot([])) }
        }
        defer { agent.stop() }
        let script = """
            import socket, subprocess, sys
            ours, theirs = socket.socketpair()
            watch = subprocess.Popen([sys.argv[1], "watch", "--json"], stdout=theirs)
            theirs.close()
            ours.makefile().readline()
            ours.close()
            try:
                print(watch.wait(60))
            finally:
                watch.kill()
            """
        let result = try await Program.run(
            ["-c", script, Program.authc], folder: agent.folder, program: "/usr/bin/python3")
        #expect(result.output == "141\n", "\(result)")
    }

    @Test("a watch whose reader has gone ends at once, and not with the next event")
    func unwatched() async throws {
        let agent = try TestAgent { peer, request in
            peer.reply(request, .object([:]))
            if request.method == "events.subscribe" { peer.send(Samples.snapshot([])) }
        }
        defer { agent.stop() }
        let result = try await Program.run(
            ["-c", "\"\(Program.authc)\" watch --json | head -n 1; echo ${PIPESTATUS[0]}"], folder: agent.folder,
            program: "/bin/bash")
        #expect(result.output.hasPrefix("{") && result.output.hasSuffix("\n141\n"), "\(result.output)")
    }

    @Test(
        "without a free descriptor every command line is 70 with the reason, and none is taken for a request for help",
        arguments: [["status"], ["token", "--json"], ["request", "GET", "/"], ["--version"], ["--help"], []])
    func noDescriptor(words: [String]) async throws {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let result = try await Program.run(
            ["-c", "ulimit -n 3 && exec \"$0\" \"$@\"", QuickAuthc.full] + words, folder: folder, program: "/bin/bash")
        #expect(result.status == 70 && result.output.isEmpty, "\(result)")
        #expect(result.errors.hasPrefix("authc: cannot read the command line (Too many open files)\n"), "\(result)")
    }

    @Test("a full disk is reported")
    func fullDisk() async throws {
        let agent = try TestAgent(replies: ["token.get": .success(Samples.token())])
        defer { agent.stop() }
        let result = try await Program.run(
            ["-c", "\"\(Program.authc)\" token >/dev/full"], folder: agent.folder, program: "/bin/bash")
        #expect(result.status == 70)
        #expect(result.errors.contains("cannot write the result"))
    }

    /// The socket would get the closed descriptor's number, and the token or the message would be written into it.
    @Test(
        "a stdout or stderr that was closed before the start is not mistaken for the socket",
        arguments: [(["token"], ">&-", 70), (["token"], "2>&-", 0), (["status"], "2>&-", 64), (["token"], "<&-", 0)])
    func missingDescriptor(arguments: [String], closing: String, status: Int32) async throws {
        let agent = try TestAgent(replies: [
            "token.get": .success(Samples.token()), "session.status": .failure(AgentError(.unsupported, "No.")),
        ])
        defer { agent.stop() }
        let command = "\"\(Program.authc)\" \(arguments.joined(separator: " ")) \(closing)"
        let result = try await Program.run(["-c", command], folder: agent.folder, program: "/bin/bash")
        #expect(result.status == status)
        #expect(agent.requests.count { $0.method != "agent.ping" } == 1)
    }

    @Test(
        "a command that there is not is reported, with the one that was meant, whatever comes after it",
        arguments: [
            (["stauts", "--json"], "authc status"), (["logot", "-s", "x"], "authc logout"), (["tokne"], "authc token"),
            (["frobnicate"], "authc --help"),
        ])
    func noSuchCommand(arguments: [String], meant: String) async throws {
        let agent = try TestAgent(replies: [:])
        defer { agent.stop() }
        let result = try await Program.run(arguments, folder: agent.folder)
        #expect(result.status == 64)
        let reported = arguments.contains("--json") ? result.output : result.errors
        #expect(reported.contains("there is no command '\(arguments[0])'") && reported.contains(meant), "\(reported)")
    }

    @Test("an empty -s is a mistake, not the default session; an empty variable is none")
    func emptySession() async throws {
        let agent = try TestAgent(replies: ["session.logout": .success(Samples.status([:]))])
        defer { agent.stop() }
        let refused = try await Program.run(["logout", "-s", ""], folder: agent.folder)
        #expect(refused.status == 64 && refused.errors.contains("not a session name"), "\(refused.errors)")
        #expect(agent.requests.isEmpty)
        let done = try await Program.run(
            ["-c", "AUTHD_SESSION= \"\(Program.authc)\" logout"], folder: agent.folder, program: "/bin/bash")
        #expect(done.status == 0, "\(done.errors)")
    }

    @Test("a token with invalid characters is not printed")
    func activeToken() async throws {
        let agent = try TestAgent(replies: ["token.get": .success(Samples.token("a\nHost: evil"))])
        defer { agent.stop() }
        let result = try await Program.run(["token"], folder: agent.folder)
        #expect(result.status == 76)
        #expect(result.output.isEmpty)
        #expect(!result.errors.contains("evil"))
    }

    @Test("a provider's text cannot control the terminal", arguments: [["status"], ["status", "--json"], ["list"]])
    func harmless(arguments: [String]) async throws {
        let evil = "ada\u{1B}]0;x\u{7}\u{9B}31m\u{202E}\nnext"
        let status = Samples.status(["user": ["email": .string(evil)], "state": "stale", "cause": .string(evil)])
        let agent = try TestAgent(
            replies: ["session.status": .success(status), "session.list": .success(["sessions": [status]])])
        defer { agent.stop() }
        let result = try await Program.run(arguments, folder: agent.folder)
        let active = result.output.unicodeScalars.filter { scalar in
            (scalar.value < 0x20 && scalar != "\n") || (0x7F...0x9F).contains(scalar.value) || scalar.value == 0x202E
        }
        #expect(active.isEmpty)
        #expect(result.output.contains("ada"))
        #expect(!result.output.contains("\nnext"))
    }

    @Test("a session is chosen by -s, else by the environment, else by the agent")
    func session() async throws {
        let agent = try TestAgent(replies: ["token.get": .success(Samples.token())])
        defer { agent.stop() }
        _ = try await Program.run(["token"], folder: agent.folder)
        _ = try await Program.run(["token"], folder: agent.folder, environment: ["AUTHD_SESSION": "two"])
        _ = try await Program.run(
            ["token", "-s", "three"], folder: agent.folder, environment: ["AUTHD_SESSION": "two"])
        let asked = agent.requests.filter { $0.method == "token.get" }
        #expect(asked.map { $0.params?["session"]?.stringValue } == [nil, "two", "three"])
    }

    @Test("prompt does not call the agent, and prints nothing without a prompt file")
    func prompt() async throws {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let result = try await Program.run(["prompt"], folder: folder)
        #expect(result.status == 0)
        #expect(result.output.isEmpty && result.errors.isEmpty)
    }

    @Test("the prompt line of an agent that is gone is not shown, by authc or by the shell's own read")
    func promptOfKilledAgent() async throws {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder + "/authd", withIntermediateDirectories: true)
        // One that has ended and was waited for.
        let ended = try await Program.run(["-c", "printf %s $$"], folder: folder, program: "/bin/bash").output
        for (agent, isShown) in [("\(getpid())", true), (ended, false)] {
            try "\(agent) shop:ada@example.org\n".write(
                toFile: folder + "/authd/prompt", atomically: true, encoding: .utf8)
            let result = try await Program.run(["prompt"], folder: folder)
            #expect(result.output == (isShown ? "shop:ada@example.org\n" : ""))
            let shell = try await Program.run(
                ["-c", Self.recipe + "; printf %s \"$session\""], folder: folder, program: "/bin/sh")
            #expect(shell.output == (isShown ? "shop:ada@example.org" : ""))
        }
    }

    /// As the README has it.
    static let recipe =
        #"read -r agent session < "$XDG_RUNTIME_DIR/authd/prompt" && kill -0 "$agent" 2>/dev/null || session="#
}

/// `Tests/run-suites` leaves suites of this name out unless it runs as root: only root can become another user.
@Suite("The prompt line (as root)", .timeLimit(.minutes(1)))
struct PromptLineRootTests {
    /// What authc and a shell show to an ordinary user.
    private static func shown(_ agent: String, beginning: [String] = []) async throws -> [String] {
        let folder = try TemporaryFolder()
        // Where another user can read it.
        let authc = try Program.copy(to: folder.path)
        try FileManager.default.createDirectory(atPath: folder.path + "/authd", withIntermediateDirectories: true)
        let file = folder.path + "/authd/prompt"
        try "\(agent) shop:ada@example.org\n".write(toFile: file, atomically: true, encoding: .utf8)
        for (path, mode) in [(folder.path, 0o755), (folder.path + "/authd", 0o755), (file, 0o644), (authc, 0o755)] {
            #expect(chmod(path, mode_t(mode)) == 0)
        }
        var shown: [String] = []
        for command in [[authc, "prompt"], ["/bin/sh", "-c", AuthcExitTests.recipe + "; printf %s \"$session\""]] {
            let result = try await Program.run(
                ["--reuid=65534", "--regid=65534", "--clear-groups", "--"] + command, folder: folder.path,
                program: "/usr/bin/setpriv")
            #expect(result.status == 0, "\(result.errors)")
            shown.append(result.output.trimmingCharacters(in: .newlines))
        }
        return shown
    }

    @Test("is not shown if the agent's number belongs to a process of another user by now")
    func othersProcess() async throws {
        #expect(try await Self.shown("\(getpid())") == ["", ""])
    }

    @Test("is shown while the agent runs")
    func ownProcess() async throws {
        let become = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
        let agent = try await Child(
            become + ["sh", "-c", "echo ready; read -r end"], environment: ["PATH": "/usr/bin:/bin"],
            input: .held)
        #expect(await agent.out.wait(for: "ready"))
        #expect(try await Self.shown("\(agent.pid)") == ["shop:ada@example.org", "shop:ada@example.org"])
        await agent.end()
    }
}
