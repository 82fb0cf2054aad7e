import AuthWire
import Foundation
import Synchronization
import TestSupport
import Testing

/// What else may come from the terminal than a key, and terminals that are not the program's own.
@Suite("authc watch and its input", .timeLimit(.minutes(1)))
struct WatchInputTests {
    private static let frameEnd = "\u{1B}[?2026l"

    private static func agent(
        peer: WatchViewTests.Box<Peer>? = nil, _ answer: @escaping @Sendable (Peer, RPCRequest) -> Void = { _, _ in }
    ) throws -> TestAgent {
        let now = Date().timeIntervalSince1970
        let sessions = ["alpha", "beta"].map { name in
            Samples.status([
                "session": .string(name), "default": .bool(name == "alpha"), "expires_at": .number(now + 91_800),
                "refresh_at": .number(now + 91_800),
            ])
        }
        return try TestAgent { client, request in
            guard request.method == "events.subscribe" else { return answer(client, request) }
            peer?.value.withLock { $0 = client }
            client.reply(request, [:])
            client.send(Samples.snapshot(sessions))
        }
    }

    @Test(
        "text that was sent with the key that asks is not an answer, and pasted text is ignored, even in parts",
        arguments: [
            (["easy"], true), (["sy"], true), (["\u{1B}[200~easy\u{1B}[201~"], false),
            (["\u{1B}[20", "0~s", "y\u{1B}[2", "01~"], false),
        ])
    func pasted(parts: [String], asks: Bool) async throws {
        let agent = try Self.agent { peer, request in peer.reply(request, [:]) }
        defer { agent.stop() }
        let terminal = try await Terminal(
            "authc watch; echo \"exit $?\"", folder: agent.folder, environment: ["NO_COLOR": "1"])
        await terminal.waits(for: Self.frameEnd)
        #expect(terminal.text.contains("\u{1B}[?2004h"))
        terminal.mark()
        for part in parts { terminal.type(part) }
        if asks {
            await terminal.waits(for: "Sign out alpha? [y/N]")
            await terminal.waits(for: Self.frameEnd)
            terminal.mark()
            terminal.type("n")
            await terminal.waits(for: "q quit")
        }
        // Keys have their effect again.
        terminal.type("j")
        await terminal.waits(for: ">   beta")
        #expect(agent.requests.allSatisfy { ["events.subscribe", "audit.list"].contains($0.method) })
        terminal.type("q")
        await terminal.waits(for: "exit 0")
        #expect(terminal.text.contains("\u{1B}[?2004l"))
        await terminal.ends()
    }

    @Test("in the background it leaves the terminal alone, and SIGTERM ends it")
    func background() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let terminal = try await Terminal(
            "set -m; authc watch; echo stopped; bg; kill %1; wait %1; echo \"exit $?\"", folder: agent.folder)
        await terminal.waits(for: Self.frameEnd)
        terminal.type("\u{1A}")
        await terminal.waits(for: "stopped")
        await terminal.waits(for: "exit 143")
        #expect(terminal.echoes && terminal.readsLines)
        await terminal.ends()
    }

    @Test("without a terminal to read keys from, it prints lines")
    func noKeys() async throws {
        let peer = WatchViewTests.Box<Peer>()
        let agent = try Self.agent(peer: peer)
        defer { agent.stop() }
        let terminal = try await Terminal("authc watch < /dev/null; echo \"exit $?\"", folder: agent.folder)
        await terminal.waits(for: "beta active")
        #expect(!terminal.text.contains("\u{1B}[?1049h"))
        kill(try #require(peer.value.withLock { $0 }?.processID), SIGTERM)
        await terminal.waits(for: "exit 143")
        await terminal.ends()
    }

    @Test("a long name leaves room for the question's answers")
    func longName() async throws {
        let name = String(repeating: "n", count: 60)
        let agent = try TestAgent { client, request in
            client.reply(request, [:])
            client.send(Samples.snapshot([Samples.status(["session": .string(name)])]))
        }
        defer { agent.stop() }
        let terminal = try await Terminal("authc watch", folder: agent.folder, columns: 40)
        await terminal.waits(for: Self.frameEnd)
        terminal.type("s")
        await terminal.waits(for: "? [y/N]")
        terminal.type("n")
        terminal.type("q")
        await terminal.ends()
    }
}
