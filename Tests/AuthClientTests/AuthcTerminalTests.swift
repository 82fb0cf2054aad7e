import AuthWire
import Foundation
import TestSupport
import Testing

@Suite("authc on a terminal", .timeLimit(.minutes(2)))
struct AuthcTerminalTests {
    @Test("asks for what is missing, echoes input but no secret, and restores the echo")
    func login() async throws {
        let agent = try AuthcLoginTests.agent()
        defer { agent.stop() }
        let terminal = try await Terminal("authc login app-template; echo \"exit $?\"", folder: agent.folder)
        await terminal.waits(for: "E-mail: ")
        #expect(terminal.echoes)
        terminal.type("ada@example.org\n")
        await terminal.waits(for: "Password: ")
        #expect(!terminal.echoes)
        terminal.type("right\n")
        await terminal.waits(for: "exit ")
        #expect(terminal.text.contains("exit 0"))
        #expect(!terminal.text.contains("right"))
        #expect(terminal.echoes)
        await terminal.ends()
    }

    @Test(
        "a password at the prompt for an address is removed from the screen, and neither sent nor repeated",
        arguments: [(80, "Correct-horse1", 1), (40, String(repeating: "Correct-horse1", count: 4), 2)])
    func passwordAsAddress(columns: UInt16, password: String, rows: Int) async throws {
        let agent = try AuthcLoginTests.agent(emailKind: "email")
        defer { agent.stop() }
        let terminal = try await Terminal(
            "authc login app-template; echo \"exit $?\"", folder: agent.folder, columns: columns)
        await terminal.waits(for: "E-mail: ")
        terminal.type(password + "\n")
        await terminal.waits(for: "That is not an e-mail address, such as ada@example.org. It was not sent.")
        await terminal.waits(for: "sent.\r\nE-mail: ")
        // The screen of this test does not wrap: a row more would be two lines up.
        #expect(terminal.text.components(separatedBy: "\u{1B}[A\u{1B}[K").count == rows + 1, "\(terminal.text)")
        if rows == 1 {
            var screen = TerminalScreen(columns: Int(columns), rows: 24)
            screen.feed(terminal.text)
            #expect(!screen.text.contains(password) && screen.text.contains("That is not an e-mail"), "\(screen.text)")
        }
        terminal.type("ada@example.org\n")
        await terminal.waits(for: "Password: ")
        terminal.type("right\n")
        await terminal.waits(for: "exit 0")
        await terminal.ends()
        #expect(terminal.text.components(separatedBy: password).count == 2, "only the echo: \(terminal.text)")
        let sent = agent.requests.map { $0.params?.text() ?? "" }
        #expect(!sent.contains { $0.contains("Correct-horse1") } && sent.contains { $0.contains("ada@example.org") })
    }

    @Test("shows each line of a response that ends with CRLF as a line")
    func carriageReturns() async throws {
        let agent = try TestAgent(replies: [
            "api.request": .success([
                "status": 200, "headers": ["content-type": "text/plain"], "body": "one\r\ntwo\r\u{1B}[2J\r\n",
                "from_cache": false,
            ])
        ])
        defer { agent.stop() }
        let terminal = try await Terminal("authc request GET /x -s x; echo \"exit $?\"", folder: agent.folder)
        await terminal.waits(for: "exit 0")
        #expect(terminal.text.contains("one\r\ntwo\\u{d}\\u{1b}[2J\r\n"), "\(terminal.text)")
        await terminal.ends()
    }

    @Test("asks before another account replaces the session; Enter means no")
    func otherAccount() async throws {
        let agent = try AuthcLoginTests.agentOfAnother()
        defer { agent.stop() }
        for (answer, status) in [("", 65), ("n", 65), ("y", 0)] {
            let terminal = try await Terminal("authc login app-template; echo \"exit $?\"", folder: agent.folder)
            await terminal.waits(for: "Replace the account? [y/N] ")
            #expect(terminal.text.contains("Ada is signed in; you are Bob."))
            terminal.type(answer + "\n")
            await terminal.waits(for: "exit ")
            #expect(terminal.text.contains("exit \(status)"))
            await terminal.ends()
        }
    }

    @Test(
        "a new passphrase is typed a second time only if the agent would accept its length",
        arguments: [("lock --set-passphrase", "of the lock"), ("store rekey --passphrase", "for your sessions")])
    func shortPassphrase(command: String, what: String) async throws {
        let agent = try TestAgent(replies: [
            "agent.ping": .success(["pid": 1]), "store.rekey": .success(["message": "Done."]),
            "agent.passphrase": .success(["locked": false, "passphrase_set": true]),
        ])
        defer { agent.stop() }
        let terminal = try await Terminal("authc \(command); echo \"exit $?\"", folder: agent.folder)
        let new = "New passphrase \(what)"
        for (question, answer) in [
            (new + ": ", "short"), ("Use at least 8 characters.\r\n" + new + ": ", "sévent"),
            ("Use at least 8 characters.\r\n" + new + ": ", "sévènty"), (new + ", again: ", "sévènty"),
        ] {
            await terminal.waits(for: question)
            terminal.mark()
            terminal.type(answer + "\n")
        }
        await terminal.waits(for: "exit 0")
        await terminal.ends()
        let sent = agent.requests.compactMap { $0.params?["passphrase"]?.stringValue }
        #expect(sent == ["sévènty"])
    }

    @Test("the lock's new passphrase is asked for again after a refusal, and the current one if the agent needs it")
    func lockPassphrase() async throws {
        let agent = try TestAgent { peer, request in
            guard request.method == "agent.passphrase" else { return peer.reply(request, ["pid": 1]) }
            let (new, current) = (request.params?["passphrase"], request.params?["current"])
            func fail(_ error: AgentError) { peer.send(RPCReply.failure(request.id ?? .null, error)) }
            if new == "refused passphrase" {
                fail(AgentError(.validation, "It is short.\nUse 12.", cause: "new_passphrase"))
            } else if current == nil || current == "wrong" {
                fail(AgentError(.refused, "It is wrong.", cause: "passphrase"))
            } else {
                peer.reply(request, ["locked": false, "has_passphrase": true])
            }
        }
        defer { agent.stop() }
        let terminal = try await Terminal("authc lock --set-passphrase; echo \"exit $?\"", folder: agent.folder)
        let new = "New passphrase of the lock"
        for (question, answer) in [
            (new + ": ", "refused passphrase"), (new + ", again: ", "refused passphrase"),
            ("It is short.\r\nUse 12.\r\n" + new + ": ", "long enough"),
            (new + ", again: ", "long enough"), ("Current passphrase of the lock: ", "wrong"),
            ("It is wrong.\r\nCurrent passphrase of the lock: ", "right"),
        ] {
            await terminal.waits(for: question)
            terminal.mark()
            terminal.type(answer + "\n")
        }
        await terminal.waits(for: "exit ")
        await terminal.ends()
        #expect(terminal.text.contains("The passphrase is set."), "\(terminal.text)")
        #expect(terminal.text.contains("exit 0"))
        #expect(agent.requests.count { $0.method == "agent.passphrase" } == 4)
    }

    @Test("a new passphrase of the store needs the current one, which is asked for without an echo")
    func storePassphrase() async throws {
        let agent = try TestAgent { peer, request in
            guard request.method == "store.rekey" else { return peer.reply(request, ["pid": 1]) }
            func fail(_ error: AgentError) { peer.send(RPCReply.failure(request.id ?? .null, error)) }
            switch request.params?["current"] {
            case nil: fail(AgentError(.validation, "Enter it.", cause: "passphrase"))
            case "right": peer.reply(request, ["message": "Every session is sealed with a new key."])
            default: fail(AgentError(.refused, "It is wrong.", cause: "passphrase"))
            }
        }
        defer { agent.stop() }
        let terminal = try await Terminal("authc store rekey --passphrase; echo \"exit $?\"", folder: agent.folder)
        let new = "New passphrase for your sessions"
        for (question, answer) in [
            (new + ": ", "long enough"), (new + ", again: ", "long enough"),
            ("Current passphrase of your sessions: ", "mistyped"),
            ("It is wrong.\r\nCurrent passphrase of your sessions: ", "right"),
        ] {
            await terminal.waits(for: question)
            #expect(!terminal.echoes)
            terminal.mark()
            terminal.type(answer + "\n")
        }
        await terminal.waits(for: "exit ")
        await terminal.ends()
        #expect(terminal.text.contains("Every session is sealed with a new key."), "\(terminal.text)")
        #expect(terminal.text.contains("exit 0") && !terminal.text.contains("mistyped"), "\(terminal.text)")
        let requests = agent.requests.filter { $0.method == "store.rekey" }
        #expect(requests.map { $0.params?["current"]?.stringValue } == [nil, "mistyped", "right"])
        #expect(requests.allSatisfy { $0.params?["passphrase"] == "long enough" })
    }

    @Test("shows the former and the new place before a session's tokens may be sent there")
    func trust() async throws {
        let status: JSON = ["session": "shop", "provider": "app-template", "state": "active", "default": true]
        let agent = try TestAgent(replies: [
            "session.trust": .success([
                "former": ["https://api.example"], "origins": ["https://elsewhere.example"], "trusted": false,
                "status": status,
            ])
        ])
        defer { agent.stop() }
        for (answer, status, requests) in [("n", 77, 1), ("y", 0, 3)] {
            let terminal = try await Terminal("authc trust; echo \"exit $?\"", folder: agent.folder)
            await terminal.waits(for: "Send the tokens to the new origins? [y/N] ")
            #expect(terminal.text.contains("before: https://api.example"))
            #expect(terminal.text.contains("now:    https://elsewhere.example"))
            terminal.type(answer + "\n")
            await terminal.waits(for: "exit ")
            #expect(terminal.text.contains("exit \(status)"))
            #expect(agent.requests.count == requests)
            await terminal.ends()
        }
        #expect(agent.requests.last?.params == ["session": "shop", "origins": ["https://elsewhere.example"]])
    }

    @Test("without a terminal on stderr there is no prompt")
    func unseen() async throws {
        let agent = try AuthcLoginTests.agent()
        defer { agent.stop() }
        let terminal = try await Terminal(
            "authc login app-template 2>$XDG_RUNTIME_DIR/log; echo \"exit $?\"; cat $XDG_RUNTIME_DIR/log",
            folder: agent.folder)
        await terminal.waits(for: "there is no terminal")
        #expect(terminal.text.contains("exit 64"))
        await terminal.ends()
    }

    @Test("^C while a secret is typed cancels the sign-in and leaves the terminal as it was")
    func interrupted() async throws {
        let agent = try AuthcLoginTests.agent()
        defer { agent.stop() }
        let terminal = try await Terminal(
            "trap : INT; authc login app-template --field email=a@b; echo \"exit $?\"", folder: agent.folder)
        await terminal.waits(for: "Password: ")
        terminal.type("\u{3}")
        await terminal.waits(for: "exit ")
        #expect(terminal.text.contains("exit 130"))
        #expect(terminal.echoes)
        #expect(agent.requests.last?.method == "login.cancel")
        await terminal.ends()
    }

    @Test(
        "^C at the question of any other command ends it as the signal does",
        arguments: ["call create-user email=a", "provider new"])
    func interruptedElsewhere(command: String) async throws {
        let agent = try AuthcOptionTests.agentWithSecretArgument()
        defer { agent.stop() }
        let terminal = try await Terminal("trap : INT; authc \(command); echo \"exit $?\"", folder: agent.folder)
        await terminal.waits(for: ": ")
        terminal.type("\u{3}")
        await terminal.waits(for: "exit ")
        #expect(terminal.text.contains("exit 130"), "\(terminal.text)")
        #expect(terminal.echoes)
        await terminal.ends()
    }

    @Test("^D at a question cancels it")
    func endOfInput() async throws {
        let agent = try AuthcLoginTests.agent()
        defer { agent.stop() }
        let terminal = try await Terminal("authc login app-template; echo \"exit $?\"", folder: agent.folder)
        await terminal.waits(for: "E-mail: ")
        terminal.type("\u{4}")
        await terminal.waits(for: "exit ")
        #expect(terminal.text.contains("exit 77"))
        #expect(agent.requests.last?.method == "login.cancel")
        await terminal.ends()
    }

    @Test("^Z restores the echo for the shell, and continuing asks again without echo")
    func stopped() async throws {
        let agent = try AuthcLoginTests.agent()
        defer { agent.stop() }
        let terminal = try await Terminal(
            "set -m; authc login app-template --field email=a@b; echo stopped; read -r; fg >/dev/null; echo \"exit $?\"",
            folder: agent.folder)
        await terminal.waits(for: "Password: ")
        terminal.type("\u{1A}")
        await terminal.waits(for: "stopped")
        #expect(terminal.echoes)
        terminal.mark()
        terminal.type("\n")
        await terminal.waits(for: "Password: ")
        #expect(!terminal.echoes)
        terminal.type("right\n")
        await terminal.waits(for: "exit ")
        #expect(terminal.text.contains("exit 0"))
        #expect(terminal.echoes)
        await terminal.ends()
    }

    @Test("status at 40 columns has no longer line and every word")
    func narrow() async throws {
        let now = Date().timeIntervalSince1970
        let status = Samples.status([
            "issued_at": .number(now - 300), "expires_at": .number(now + 600), "refresh_at": .number(now + 300),
            "unsaved": true, "needs_password": true,
        ])
        let agent = try TestAgent(replies: ["session.status": .success(status)])
        defer { agent.stop() }
        let terminal = try await Terminal(
            "authc status; echo end", folder: agent.folder, columns: 40, environment: ["NO_COLOR": "1"])
        await terminal.waits(for: "end\r\n")
        let lines = terminal.text.split(whereSeparator: \.isNewline)
        #expect(lines.allSatisfy { $0.count <= 40 })
        let words = lines.flatMap { $0.split(separator: " ") }.joined(separator: " ")
        #expect(
            words.contains("not saved: the store cannot be written now; authd keeps the session in memory until it can")
        )
        #expect(words.contains("█") && words.contains("░"))
        await terminal.ends()
    }

    @Test("colours on a terminal only, and not with NO_COLOR")
    func colours() async throws {
        let agent = try TestAgent(replies: ["session.status": .success(Samples.status())])
        defer { agent.stop() }
        let coloured = try await Terminal("authc status; echo end", folder: agent.folder)
        await coloured.waits(for: "end\r\n")
        #expect(coloured.text.contains("\u{1B}[32mactive\u{1B}[0m"))
        let plain = try await Terminal("authc status; echo end", folder: agent.folder, environment: ["NO_COLOR": "1"])
        await plain.waits(for: "end\r\n")
        #expect(!plain.text.contains("\u{1B}"))
        // Nobody has said what this terminal can do.
        let unknown = try await Terminal("unset TERM; authc status; echo end", folder: agent.folder)
        await unknown.waits(for: "end\r\n")
        #expect(!unknown.text.contains("\u{1B}"))
        await unknown.ends()
        #expect(try await !Program.run(["status"], folder: agent.folder).output.contains("\u{1B}"))
        await coloured.ends()
        await plain.ends()
    }

    @Test("watch shows the sessions on a second screen, follows changes and resizing, and ^C ends it")
    func watch() async throws {
        let agent = try TestAgent { peer, request in
            peer.reply(request, [:])
            peer.send(Samples.snapshot([Samples.status()]))
        }
        defer { agent.stop() }
        let terminal = try await Terminal("authc watch; echo \"exit $?\"", folder: agent.folder)
        await terminal.waits(for: "ada@example.org")
        #expect(terminal.text.contains("\u{1B}[?1049h"))
        terminal.mark()
        terminal.resize(columns: 30)
        await terminal.waits(for: "active")
        terminal.type("\u{3}")
        await terminal.waits(for: "exit ")
        #expect(terminal.text.contains("\u{1B}[?1049l"))
        #expect(terminal.text.contains("exit 0"))
        await terminal.ends()
    }

    @Test("watch continues when the agent is restarted")
    func watchReconnects() async throws {
        let first = try TestAgent { peer, request in
            peer.reply(request, [:])
            peer.send(Samples.snapshot([Samples.status()]))
        }
        let terminal = try await Terminal("authc watch --json; echo \"exit $?\"", folder: first.folder)
        await terminal.waits(for: "snapshot")
        first.vanish()
        await terminal.waits(for: "disconnected")
        terminal.mark()
        let second = try TestAgent(folder: first.folder) { peer, request in
            peer.reply(request, [:])
            peer.send(Samples.snapshot([]))
        }
        defer { second.stop() }
        await terminal.waits(for: "snapshot")
        terminal.type("\u{3}")
        await terminal.ends()
    }
}
