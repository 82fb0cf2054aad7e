import AuthWire
import Foundation
import TestSupport
import Testing

/// What ssh and sudo do at a password prompt: every signal leaves the terminal as it was.
@Suite("Signals while authc asks for a secret", .timeLimit(.minutes(2)))
struct AuthcSignalTests {
    /// A sign-in has something to cancel; a call has not.
    private static let commands = ["login app-template --field email=a@b", "call create-user email=a"]

    private static func agent(_ command: String) throws -> TestAgent {
        command.hasPrefix("login") ? try AuthcLoginTests.agent() : try AuthcOptionTests.agentWithSecretArgument()
    }

    /// The program at the other end of the first connection.
    private static func process(of agent: TestAgent) async -> pid_t? {
        for await event in agent.events {
            if case .request(let peer, _) = event { return peer.processID }
        }
        return nil
    }

    @Test(
        "a signal that ends a program restores the echo first, cancels the sign-in, and ends it as usual",
        arguments: commands, [(SIGHUP, 129), (SIGTERM, 143), (SIGINT, 130), (SIGQUIT, 131)])
    func ended(command: String, signal: (number: Int32, status: Int)) async throws {
        let agent = try Self.agent(command)
        defer { agent.stop() }
        let terminal = try await Terminal(
            "trap : INT QUIT; ulimit -c 0; authc \(command); echo \"exit $?\"", folder: agent.folder)
        let process = try #require(await Self.process(of: agent))
        await terminal.waits(for: "assword: ")
        #expect(!terminal.echoes)
        kill(process, signal.number)
        await terminal.waits(for: "exit ")
        await terminal.waits(for: "exit \(signal.status)")
        #expect(terminal.echoes && terminal.readsLines)
        #expect(!command.hasPrefix("login") || agent.requests.last?.method == "login.cancel")
        await terminal.ends()
    }

    @Test("a resize changes nothing: the secret is asked for once, without echo, and accepted", arguments: commands)
    func resized(command: String) async throws {
        let agent = try Self.agent(command)
        defer { agent.stop() }
        let terminal = try await Terminal("authc \(command); echo \"exit $?\"", folder: agent.folder)
        let process = try #require(await Self.process(of: agent))
        await terminal.waits(for: "assword: ")
        terminal.type("ri")
        terminal.resize(columns: 30, rows: 10)
        kill(process, SIGWINCH)
        #expect(!terminal.echoes)
        terminal.type("ght\n")
        await terminal.waits(for: "exit ")
        #expect(terminal.text.components(separatedBy: "assword: ").count == 2, "\(terminal.text)")
        let sent = agent.requests.compactMap { $0.params?["fields"]?["password"] ?? $0.params?["args"]?["password"] }
        #expect(sent == ["right"], "\(sent)")
        #expect(terminal.echoes)
        await terminal.ends()
    }

    @Test("a resize while a visible answer is typed loses none of it, and the question is not repeated")
    func resizedVisible() async throws {
        let agent = try AuthcLoginTests.agent()
        defer { agent.stop() }
        let terminal = try await Terminal("authc login app-template; echo \"exit $?\"", folder: agent.folder)
        let process = try #require(await Self.process(of: agent))
        await terminal.waits(for: "E-mail: ")
        #expect(terminal.echoes)
        terminal.type("eve@")
        await terminal.waits(for: "E-mail: eve@")
        for (columns, rows) in [(30, 10), (100, 40)] as [(UInt16, UInt16)] {
            terminal.resize(columns: columns, rows: rows)
            kill(process, SIGWINCH)
        }
        terminal.type("example.org\n")
        await terminal.waits(for: "assword: ")
        terminal.type("right\n")
        await terminal.waits(for: "exit ")
        await terminal.ends()
        #expect(terminal.text.contains("E-mail: eve@example.org\r\n") && terminal.text.contains("exit 0"))
        #expect(terminal.text.components(separatedBy: "E-mail: ").count == 2, "\(terminal.text)")
        let sent = agent.requests.compactMap { $0.params?["fields"] }
        #expect(sent.last?["email"] == "eve@example.org" && sent.last?["password"] == "right", "\(sent)")
    }

    @Test("^Z gives the shell its echo, and fg asks again without one", arguments: commands)
    func stopped(command: String) async throws {
        let agent = try Self.agent(command)
        defer { agent.stop() }
        let terminal = try await Terminal(
            "set -m; authc \(command); echo stopped; read -r; fg >/dev/null; echo \"exit $?\"", folder: agent.folder)
        await terminal.waits(for: "assword: ")
        #expect(!terminal.echoes)
        // What was typed before is not part of the answer.
        terminal.type("wro\u{1A}")
        await terminal.waits(for: "stopped")
        #expect(terminal.echoes && terminal.readsLines)
        terminal.mark()
        terminal.type("\n")
        await terminal.waits(for: "assword: ")
        #expect(!terminal.echoes)
        terminal.type("right\n")
        await terminal.waits(for: "exit ")
        let sent = agent.requests.compactMap { $0.params?["fields"]?["password"] ?? $0.params?["args"]?["password"] }
        #expect(sent == ["right"], "\(sent)")
        #expect(terminal.echoes)
        await terminal.ends()
    }

    @Test("a terminal that is closed cancels the sign-in and ends the program", arguments: commands)
    func closed(command: String) async throws {
        let agent = try Self.agent(command)
        defer { agent.stop() }
        let terminal = try await Terminal("authc \(command)", folder: agent.folder)
        await terminal.waits(for: "assword: ")
        terminal.hangUp()
        // A sign-in has two connections, one after the other.
        var (open, isCancelled) = (0, !command.hasPrefix("login"))
        for await event in agent.events {
            switch event {
            case .connected: open += 1
            case .ended: open -= 1
            case .request(_, let request): isCancelled = isCancelled || request.method == "login.cancel"
            }
            if open == 0, isCancelled { break }
        }
        await terminal.ends()
        #expect(!command.hasPrefix("login") || agent.requests.last?.method == "login.cancel")
    }
}
