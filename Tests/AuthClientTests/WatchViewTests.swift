import AuthWire
import Foundation
import Synchronization
import TestSupport
import Testing

/// The live view of `authc watch` on terminals of several sizes, with an agent that says what a test wants.
@Suite("authc watch on a terminal", .timeLimit(.minutes(2)))
struct WatchViewTests {
    private static let frameEnd = "\u{1B}[?2026l"
    private static let names = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]

    /// Wide, combining, hostile and long words in all that comes from elsewhere. Nothing changes within the next half hour.
    private static func sessions() -> [JSON] {
        let now = Date().timeIntervalSince1970
        return names.enumerated().map { number, name in
            let account = ["ada@example.org", "日本語の名前@例え.jp", "e\u{301}ve🚀👩‍🚀", "a\u{1B}[2J\u{7}\u{202E}b"][number % 4]
            return Samples.status([
                "session": .string(name), "default": .bool(name == "gamma"),
                "provider": number == 5 ? .string(String(repeating: "p", count: 70)) : "app-template",
                "user": ["email": .string(account)],
                "state": number == 3 ? "sign_in_required" : "active", "renews": .bool(number != 4),
                "expires_at": .number(now + 90_000 + 1800),
                "refresh_at": .number(now + Double(number) * 86_400 + 91_800),
            ])
        }
    }

    private static func agent(
        _ sessions: [JSON] = sessions(), peer: Box<Peer>? = nil,
        _ answer: @escaping @Sendable (Peer, RPCRequest) -> Void = { _, _ in }
    ) throws -> TestAgent {
        try TestAgent { client, request in
            guard request.method == "events.subscribe" else { return answer(client, request) }
            peer?.value.withLock { $0 = client }
            client.reply(request, [:])
            client.send(Samples.snapshot(sessions))
        }
    }

    final class Box<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
    }

    /// What the terminal shows after its first whole picture.
    private static func screen(_ terminal: Terminal, _ columns: Int, _ rows: Int) async -> TerminalScreen {
        await terminal.waits(for: frameEnd)
        var screen = TerminalScreen(columns: columns, rows: rows)
        screen.feed(terminal.text)
        return screen
    }

    /// Sends the snapshot again, as after a gap: it is then listed as events.
    private static func repeatSnapshot(_ sessions: [JSON], _ peer: Box<Peer>, _ terminal: Terminal) async throws {
        terminal.mark()
        try #require(peer.value.withLock { $0 }).send(Samples.snapshot(sessions))
        await terminal.waits(for: frameEnd)
    }

    @Test(
        "fits any size: sessions first, then the next renewals and the latest events",
        arguments: [(80, 24), (40, 20), (200, 60), (30, 6), (20, 4), (12, 3), (5, 2), (2, 1), (1, 1)])
    func sizes(columns: Int, rows: Int) async throws {
        let peer = Box<Peer>()
        let sessions = Self.sessions()
        let agent = try Self.agent(sessions, peer: peer)
        defer { agent.stop() }
        for locale in ["C.UTF-8", "C"] {
            let terminal = try await Terminal(
                "authc watch", folder: agent.folder, columns: UInt16(columns), rows: UInt16(rows),
                environment: ["NO_COLOR": "1", "LC_ALL": locale])
            var screen = await Self.screen(terminal, columns, rows)
            #expect(!screen.hasOverflowed, "\(terminal.text)")
            if rows >= 20 {
                #expect(!terminal.text.contains("\u{7}") && !terminal.text.contains("\u{1B}[2Jb"))
                // What is there at the start is not an event.
                #expect(!screen.text.contains("EVENTS"), "\(screen.text)")
                try await Self.repeatSnapshot(sessions, peer, terminal)
                screen.feed(terminal.text)
                #expect(!screen.hasOverflowed, "\(terminal.text)")
            }
            #expect(!terminal.text.contains("\u{7}") && !terminal.text.contains("\u{1B}[2Jb"))
            if rows >= 20 {
                let text = screen.text
                #expect(text.contains("\n    SESSION") && text.contains("\n> * gamma"), "\(text)")
                #expect(text.contains("NEXT RENEWALS") && text.contains("EVENTS"), "\(text)")
                #expect(screen.lines[0].hasPrefix("authd") && screen.lines[0].contains("network online"), "\(text)")
                #expect(screen.lines[rows - 1].hasSuffix("q quit"), "\(text)")
                #expect(columns < 80 || text.contains("(ends)"), "\(text)")
            } else if columns >= 12, rows >= 3 {
                #expect(screen.lines.contains { $0.hasPrefix(">") }, "\(screen.text)")
            }
            terminal.type("q")
            await terminal.ends()
        }
    }

    @Test("draws these pictures at 80 and 40 columns")
    func pictures() async throws {
        let now = Date().timeIntervalSince1970
        let sessions = [
            Samples.status([
                "session": "work", "expires_at": .number(now + 90_000), "refresh_at": .number(now + 91_800),
            ]),
            Samples.status([
                "session": "wall", "default": false, "provider": "anonymous-wall", "environment": .null,
                "state": "sign_in_required", "cause": "token_expired", "message": "The token has ended.",
            ]),
        ]
        let callers = Samples.auditList([
            Samples.auditItem(3, "token.get", "/usr/bin/curl", secondsAgo: 7205),
            Samples.auditItem(4, "token.get", "/usr/bin/curl", secondsAgo: 7200 * 3),
            Samples.auditItem(
                5, "api.request", "/usr/libexec/git-core/git-remote-https", secondsAgo: 125, ["call": "GET /me"]),
        ])
        let peer = Box<Peer>()
        let agent = try Self.agent(sessions, peer: peer) { client, request in client.reply(request, callers) }
        defer { agent.stop() }
        for (columns, expected, title) in [
            (80, Self.wide, "authd · locked · network online · store ready · session 2 of 2"),
            (40, Self.narrow, "authd · locked · network online · store…"),
        ] {
            let terminal = try await Terminal(
                "authc watch", folder: agent.folder, columns: UInt16(columns), rows: 16,
                environment: ["NO_COLOR": "1"])
            // The agent is asked for callers after the first picture. This is the last line that changes then.
            await terminal.waits(for: "token.get work" + Self.frameEnd)
            try await Self.repeatSnapshot(sessions, peer, terminal)
            terminal.mark()
            terminal.type("j")
            await terminal.waits(for: Self.frameEnd)
            terminal.mark()
            // Draws all of it.
            terminal.type("\u{C}")
            var screen = await Self.screen(terminal, columns, 16)
            let text = screen.text.replacing(/\d{4}-\d\d-\d\d \d\d:\d\d/, with: "DATE")
                .replacing(/DATE:\d\d/, with: "DATE")
            #expect(text == expected, "\(text)")
            terminal.mark()
            try #require(peer.value.withLock { $0 }).send(Self.locked)
            await terminal.waits(for: Self.frameEnd)
            screen.feed(terminal.text)
            #expect(screen.lines[0] == title)
            terminal.mark()
            try #require(peer.value.withLock { $0 }).send(Self.metered)
            await terminal.waits(for: Self.frameEnd)
            screen.feed(terminal.text)
            #expect(screen.lines[0].hasPrefix("authd · locked · network online, metere"), "\(screen.lines[0])")
            terminal.type("q")
            await terminal.ends()
        }
    }

    private static let locked = RPCReply.notification(
        AgentEvent.method,
        [
            "topic": "agent", "event": "locked", "at": 1_700_000_000,
            "lock": ["locked": true, "since": 1_700_000_000, "why": "command"],
        ])

    private static let metered = RPCReply.notification(
        AgentEvent.method,
        [
            "topic": "network", "event": "changed", "at": 1_700_000_000,
            "network": ["state": "online", "since": 1_700_000_000, "metered": true, "transfers_wait": true],
        ])

    private static let wide = """
        authd · network online · store ready · session 2 of 2
            SESSION  STATE              LEFT  PROVIDER                   ACCOUNT
          * work     active             1 d   app-template (production)  ada@example.org
        >   wall     sign in required         anonymous-wall             ada@example.org
          The token has ended. Sign in: `authc login anonymous-wall -s wall`
        NEXT RENEWALS
        DATE  in 1 d 1 h  work  ───────────────────────────────────────────●
        CALLERS
        2 min ago  git-remote-https  api.request work: GET /me
        2 h ago    curl              token.get work
        EVENTS
        DATE network online
        DATE wall sign in required: token expired
        DATE work active, 1 d left

        up/down select  tab next list  r renew  s sign out  l lock  ? help  q quit
        """

    private static let narrow = """
        authd · network online · store ready · …
            SESSION  STATE                  LEFT
          * work     active                 1 d
        >   wall     sign in required
          The token has ended. Sign in:
          `authc login anonymous-wall -s wall`
        NEXT RENEWALS
        DATE  in 1 d 1 h  work
        CALLERS
        2 min ago  git-remot…  api.request work…
        2 h ago    curl        token.get work
        EVENTS
        DATE network online
        DATE wall sign in requir…
        DATE work active, 1 d le…
        tab list  r renew  s sign out  ?  q quit
        """

    @Test("callers are asked for with the events, after the last known entry")
    func callers() async throws {
        let peer = Box<Peer>()
        let agent = try Self.agent(peer: peer) { client, request in
            let isFirst = request.params?["after"] == nil
            client.reply(
                request,
                Samples.auditList(isFirst ? [Samples.auditItem(7, "token.get", "/usr/bin/curl", secondsAgo: 500)] : []))
        }
        defer { agent.stop() }
        let terminal = try await Terminal("authc watch", folder: agent.folder, environment: ["NO_COLOR": "1"])
        await terminal.waits(for: "curl  token.get work")
        try await Self.repeatSnapshot(Self.sessions(), peer, terminal)
        var afters: [JSON?] = []
        for await event in agent.events {
            guard case .request(_, let request) = event, request.method == "audit.list" else { continue }
            afters.append(request.params?["after"])
            if afters.count == 2 { break }
        }
        #expect(afters == [nil, 7])
        terminal.type("q")
        await terminal.ends()
    }

    @Test("after a refusal, callers are neither requested again nor shown")
    func refusedCallers() async throws {
        let agent = try Self.agent { client, request in
            guard request.method == "audit.list" else { return client.reply(request, Samples.status()) }
            client.fail(request, AgentError(.denied, "A rule denies it."))
            client.send(Samples.snapshot(Self.sessions()))
        }
        defer { agent.stop() }
        let terminal = try await Terminal("authc watch", folder: agent.folder, environment: ["NO_COLOR": "1"])
        await terminal.waits(for: "EVENTS")
        terminal.type("r")
        await terminal.waits(for: "gamma has a new token")
        #expect(agent.requests.map(\.method) == ["events.subscribe", "audit.list", "session.refresh"])
        #expect(!terminal.text.contains("CALLERS") && !terminal.text.contains("A rule denies it."))
        terminal.type("q")
        await terminal.ends()
    }

    @Test("keys select, renew, lock and sign out after a question; only lines that differ are drawn")
    func keys() async throws {
        let agent = try Self.agent { peer, request in
            switch request.method {
            case "session.refresh": peer.reply(request, Samples.status(["session": "delta"]))
            case "agent.lock":
                peer.fail(request, AgentError(.validation, "Set one with `authc lock --set-passphrase`."))
            default: peer.fail(request, AgentError(.providerUnreachable, "The provider is away."))
            }
        }
        defer { agent.stop() }
        // Callers are asked for when the time passes, too.
        var last: RPCRequest? { agent.requests.last { $0.method != "audit.list" } }
        let terminal = try await Terminal(
            "authc watch; echo \"exit $?\"", folder: agent.folder, environment: ["NO_COLOR": "1"])
        var screen = await Self.screen(terminal, 80, 24)
        #expect(!terminal.echoes && !terminal.readsLines)
        func press(_ keys: String, until words: String) async {
            terminal.mark()
            terminal.type(keys)
            await terminal.waits(for: words)
            await terminal.waits(for: Self.frameEnd)
            screen.mark()
            screen.feed(terminal.text)
        }
        // The default is first, the others follow by name.
        await press("j", until: ">   alpha")
        #expect(Set(screen.moves).count <= 4, "\(screen.moves)")
        await press("\u{1B}[B\u{1B}[B", until: ">   delta")
        #expect(screen.text.contains("Sign in: `authc login app-template -s delta`"), "\(screen.text)")
        await press("r", until: "delta has a new token")
        #expect(last?.method == "session.refresh" && last?.params == ["session": "delta"])
        await press("l", until: "Set one with `authc lock --set-passphrase`.")
        #expect(last?.method == "agent.lock")
        await press("s", until: "Sign out delta? [y/N]")
        #expect(screen.moves == [23], "\(screen.moves)")
        await press("n", until: "q quit")
        #expect(last?.method == "agent.lock")
        await press("G", until: ">   zeta")
        await press("s", until: "Sign out zeta? [y/N]")
        await press("y", until: "zeta: The provider is away.")
        #expect(last?.method == "session.logout")
        await press("?", until: "Any key continues.")
        await press("x", until: ">   zeta")
        await press("g", until: "> * gamma")
        terminal.type("q")
        await terminal.waits(for: "exit 0")
        #expect(terminal.echoes && terminal.readsLines)
        #expect(terminal.text.contains("\u{1B}[?2004l\u{1B}[?25h\u{1B}[?1049l"))
        await terminal.ends()
    }

    @Test(
        "every signal that ends a program restores the terminal first, and ends it as usual",
        arguments: [(SIGTERM, 143), (SIGHUP, 129), (SIGQUIT, 131), (SIGINT, 0)])
    func signals(number: Int32, status: Int) async throws {
        let peer = Box<Peer>()
        let agent = try Self.agent(peer: peer)
        defer { agent.stop() }
        let terminal = try await Terminal(
            "ulimit -c 0; authc watch; echo \"exit $?\"", folder: agent.folder)
        await terminal.waits(for: Self.frameEnd)
        kill(try #require(peer.value.withLock { $0 }?.processID), number)
        await terminal.waits(for: "exit \(status)")
        #expect(terminal.text.contains("\u{1B}[?1049l") && terminal.echoes && terminal.readsLines)
        await terminal.ends()
    }

    @Test("^Z gives the shell its terminal back, and fg draws everything again")
    func stopped() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let terminal = try await Terminal(
            "set -m; authc watch; echo stopped; read -r; fg >/dev/null; echo \"exit $?\"", folder: agent.folder)
        await terminal.waits(for: Self.frameEnd)
        terminal.type("\u{1A}")
        await terminal.waits(for: "stopped")
        #expect(terminal.echoes && terminal.readsLines && terminal.text.contains("\u{1B}[?1049l"))
        terminal.mark()
        terminal.type("\n")
        await terminal.waits(for: "\u{1B}[?1049h")
        await terminal.waits(for: "NEXT RENEWALS")
        #expect(!terminal.echoes)
        terminal.type("q")
        await terminal.waits(for: "exit 0")
        #expect(terminal.echoes && terminal.readsLines)
        await terminal.ends()
    }

    @Test("a resize draws for the new size, and a closed terminal ends the program")
    func resizedAndClosed() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let terminal = try await Terminal(
            "trap : HUP; authc watch 2> \"$XDG_RUNTIME_DIR/end\"; echo \"exit $?\" >> \"$XDG_RUNTIME_DIR/end\"",
            folder: agent.folder, environment: ["NO_COLOR": "1"])
        await terminal.waits(for: Self.frameEnd)
        for (columns, rows) in [(40, 20), (3, 2), (100, 30)] {
            terminal.mark()
            terminal.resize(columns: UInt16(columns), rows: UInt16(rows))
            let screen = await Self.screen(terminal, columns, rows)
            #expect(!screen.hasOverflowed, "\(columns)×\(rows)")
        }
        terminal.hangUp()
        for await event in agent.events {
            if case .ended = event { break }
        }
        await terminal.ends()
        // As SIGHUP ends a program, and without a message of authc; bash may report the signal.
        let end = try String(contentsOfFile: agent.folder + "/end", encoding: .utf8)
        #expect(end.hasSuffix("exit 129\n") && !end.contains("authc: "), "\(end)")
    }

    @Test("without an agent it says so, waits for one, and q still quits")
    func disconnected() async throws {
        let agent = try Self.agent()
        let terminal = try await Terminal(
            "authc watch; echo \"exit $?\"", folder: agent.folder, environment: ["NO_COLOR": "1"])
        await terminal.waits(for: Self.frameEnd)
        agent.vanish()
        await terminal.waits(for: "authd is not running; waiting for it to start")
        terminal.mark()
        let second = try TestAgent(folder: agent.folder) { peer, request in
            peer.reply(request, [:])
            peer.send(Samples.snapshot([Samples.status()]))
        }
        await terminal.waits(for: "session 1 of 1")
        second.vanish()
        await terminal.waits(for: "authd is not running")
        terminal.type("q")
        await terminal.waits(for: "exit 0")
        await terminal.ends()
        second.stop()
    }
}
