import AuthWire
import Foundation
import Synchronization
import TestSupport
import Testing

/// The live view of `authc watch` with many sessions, and with all of its parts, on terminals with LANG=C.
@Suite("authc watch with many sessions, and with all its parts", .timeLimit(.minutes(2)))
struct WatchLayoutTests {
    private static let frameEnd = "\u{1B}[?2026l"
    private static let variables = ["NO_COLOR": "1", "LC_ALL": "C"]

    private static func agent(
        _ sessions: [JSON], callers: [JSON] = [], peer: WatchViewTests.Box<Peer>? = nil
    ) throws -> TestAgent {
        try TestAgent { client, request in
            guard request.method == "events.subscribe" else {
                return client.reply(request, Samples.auditList(callers))
            }
            peer?.value.withLock { $0 = client }
            client.reply(request, [:])
            client.send(Samples.snapshot(sessions))
        }
    }

    @Test(
        "if there are more sessions than lines, they scroll with the selection, to the last one and back",
        arguments: [(80, 24), (40, 12)])
    func scrolls(columns: Int, rows: Int) async throws {
        let names = (101...140).map { "s\($0)" }
        let agent = try Self.agent(
            names.map { Samples.status(["session": .string($0), "default": .bool($0 == names[0])]) })
        defer { agent.stop() }
        let terminal = try await Terminal(
            "authc watch; echo \"exit $?\"", folder: agent.folder, columns: UInt16(columns), rows: UInt16(rows),
            environment: Self.variables)
        await terminal.waits(for: Self.frameEnd)
        var screen = TerminalScreen(columns: columns, rows: rows)
        screen.feed(terminal.text)
        // Title, heading and keys take the others.
        let room = rows - 3
        let back = names.indices.dropLast().reversed().map { ("k", $0) }
        for (key, selected) in [("G", names.count - 1)] + back + [("j", 1)] {
            terminal.mark()
            terminal.type(key)
            await terminal.waits(for: Self.frameEnd)
            screen.feed(terminal.text)
            let shown = screen.lines.compactMap { $0.firstMatch(of: /^[> ] [* ] (s\d+)\s/).map { String($0.1) } }
            let first = try #require(names.firstIndex { $0 == shown.first }, "\(screen.text)")
            #expect(shown.count == room && shown == Array(names[first...].prefix(room)), "\(screen.text)")
            let marked = screen.lines.filter { $0.hasPrefix(">") }
            #expect(marked.count == 1 && marked.first?.contains(" \(names[selected]) ") == true, "\(screen.text)")
            #expect(!screen.hasOverflowed)
        }
        terminal.type("q")
        await terminal.ends()
        #expect(terminal.text.contains("exit 0"))
    }

    @Test(
        "events, callers and renewals also scroll to the last line and back, and a selected line is shown in full",
        arguments: [(80, 24), (40, 24), (40, 12)])
    func scrollsLists(columns: Int, rows: Int) async throws {
        let now = Date().timeIntervalSince1970
        let names = (101...130).map { "s\($0)" }
        let sessions = names.enumerated().map { number, name in
            Samples.status([
                "session": .string(name), "default": .bool(number == 0), "renews": true,
                "refresh_at": .number(now + Double(number + 1) * 86_400 + 1800),
            ])
        }
        // The last program has sent the newest request.
        let callers = (101...130).map { number in
            Samples.auditItem(
                number, "token.get", "/usr/bin/c\(number)", secondsAgo: Double(231 - number) * 3600 + 60,
                ["session": .string("s\(number)-with-a-long-name")])
        }
        let peer = WatchViewTests.Box<Peer>()
        let agent = try Self.agent(sessions, callers: callers, peer: peer)
        defer { agent.stop() }
        let terminal = try await Terminal(
            "authc watch; echo \"exit $?\"", folder: agent.folder, columns: UInt16(columns), rows: UInt16(rows),
            environment: Self.variables)
        var screen = TerminalScreen(columns: columns, rows: rows)
        func drawn(_ words: String, after change: () -> Void) async {
            terminal.mark()
            change()
            await terminal.waits(for: words)
            await terminal.waits(for: Self.frameEnd)
            screen.feed(terminal.text)
            #expect(!screen.hasOverflowed, "\(screen.text)")
        }
        // The agent is asked for callers after the first picture.
        await terminal.waits(for: "token.get s130")
        await terminal.waits(for: Self.frameEnd)
        screen.feed(terminal.text)
        // After a gap, the present state is listed as events.
        let client = try #require(peer.value.withLock { $0 })
        await drawn("EVENTS") { client.send(Samples.snapshot(sessions)) }
        let lists: [(heading: String, lines: [String])] = [
            ("NEXT RENEWALS", names), ("CALLERS", (101...130).reversed().map { "c\($0)" }),
            ("EVENTS", ["network online"] + names.reversed().map { "\($0) active" }),
        ]
        for (heading, lines) in lists {
            let last = lines.count - 1
            let back = (0..<last).reversed().map { ("k", $0) }
            for (key, selected) in [("\t", 0), ("G", last)] + back + [(" ", 10), ("b", 0), ("j", 1)] {
                let title = "\(heading) \(selected + 1) of \(lines.count)"
                await drawn(title) { terminal.type(key) }
                #expect(screen.lines.contains(title), "\(screen.text)")
                // The selected session has the same mark.
                let marked = screen.lines.filter { $0.hasPrefix(">") }
                #expect(marked.count == 2 && marked[1].contains(" \(lines[selected])"), "\(screen.text)")
                // The keys act on the session of the line, or its name is next to the keys.
                if heading == "NEXT RENEWALS" {
                    #expect(marked[0].contains(" \(lines[selected]) "), "\(screen.text)")
                } else {
                    #expect(screen.lines[rows - 1].contains(" s102 "), "\(screen.text)")
                }
                if heading == "CALLERS" {
                    #expect(screen.text.contains("s\(130 - selected)-with-a-long-name"), "\(screen.text)")
                }
                // The title, the keys, the heading and two lines of sessions take the other lines, and a long line
                // takes two more.
                let shown = lines.filter { line in screen.lines.contains { $0.contains(" \(line)") } }
                #expect(shown.count >= rows - 7, "\(screen.text)")
            }
        }
        // New events do not move the selected one.
        let marked = screen.lines.filter { $0.hasPrefix(">") }
        await drawn("EVENTS 33 of 62") { client.send(Samples.snapshot(sessions)) }
        #expect(screen.lines.filter { $0.hasPrefix(">") } == marked, "\(screen.text)")
        await drawn("EVENTS") { terminal.type("\u{1B}") }
        #expect(screen.lines.contains("EVENTS") && !screen.text.contains("EVENTS 33"), "\(screen.text)")
        terminal.type("q")
        await terminal.ends()
        #expect(terminal.text.contains("exit 0"))
    }

    @Test("if another list is chosen, the sessions keep the lines that no list needs", arguments: [3, 4, 5])
    func keepsSessions(count: Int) async throws {
        let now = Date().timeIntervalSince1970
        let names = (101..<(101 + count)).map { "s\($0)" }
        let sessions = names.enumerated().map { number, name in
            Samples.status([
                "session": .string(name), "default": .bool(number == 0), "renews": true,
                "refresh_at": .number(now + Double(number + 1) * 86_400 + 1800),
            ])
        }
        let agent = try Self.agent(
            sessions, callers: [Samples.auditItem(1, "token.get", "/usr/bin/curl", secondsAgo: 7205)])
        defer { agent.stop() }
        let terminal = try await Terminal("authc watch", folder: agent.folder, environment: Self.variables)
        // The agent is asked for callers after the first picture.
        await terminal.waits(for: "token.get work" + Self.frameEnd)
        var screen = TerminalScreen(columns: 80, rows: 24)
        screen.feed(terminal.text)
        for heading in ["NEXT RENEWALS 1 of \(count)", "CALLERS 1 of 1"] {
            terminal.mark()
            terminal.type("\t")
            await terminal.waits(for: heading)
            await terminal.waits(for: Self.frameEnd)
            screen.feed(terminal.text)
            let shown = screen.lines.compactMap { $0.firstMatch(of: /^[> ] [* ] (s\d+)\s/).map { String($0.1) } }
            #expect(shown == names, "\(screen.text)")
        }
        terminal.type("q")
        await terminal.ends()
    }

    @Test("in the renewals, keys act on the session of the marked line; a screen without room for sessions names it")
    func renewsMarked() async throws {
        let now = Date().timeIntervalSince1970
        let names = (101...120).map { "s\($0)" }
        // The first session has the last renewal.
        let sessions = names.enumerated().map { number, name in
            Samples.status([
                "session": .string(name), "default": .bool(number == 0), "renews": true,
                "refresh_at": .number(now + Double(names.count - number) * 86_400 + 1800),
            ])
        }
        let agent = try TestAgent { client, request in
            switch request.method {
            case "events.subscribe":
                client.reply(request, [:])
                client.send(Samples.snapshot(sessions))
            case "session.refresh": client.reply(request, sessions[1])
            default: client.reply(request, Samples.auditList([]))
            }
        }
        defer { agent.stop() }
        let terminal = try await Terminal(
            "authc watch", folder: agent.folder, columns: 60, rows: 4, environment: Self.variables)
        var screen = TerminalScreen(columns: 60, rows: 4)
        await terminal.waits(for: Self.frameEnd)
        screen.feed(terminal.text)
        func press(_ key: String, until words: String) async {
            terminal.mark()
            terminal.type(key)
            await terminal.waits(for: words)
            await terminal.waits(for: Self.frameEnd)
            screen.feed(terminal.text)
        }
        for (key, name, place) in [("\t", "s101", 1), ("k", "s102", 2)] {
            await press(key, until: "session \(name) (\(place) of 20)")
            let marked = screen.lines.filter { $0.hasPrefix(">") }
            #expect(marked.count == 1 && marked[0].contains(" \(name)"), "\(screen.text)")
        }
        await press("r", until: "s102 has a new token")
        #expect(agent.requests.last { $0.method == "session.refresh" }?.params == ["session": "s102"])
        terminal.type("q")
        await terminal.ends()
    }

    @Test("the selected caller stays selected when others make requests")
    func keepsCaller() async throws {
        let all = (1...4).map { number in
            Samples.auditItem(number, "token.get", "/usr/bin/c\(number)", secondsAgo: Double(1000 - number * 100))
        }
        let peer = WatchViewTests.Box<Peer>()
        let known = Mutex(Array(all.prefix(3)))
        let agent = try TestAgent { client, request in
            guard request.method == "events.subscribe" else {
                return client.reply(request, Samples.auditList(known.withLock { $0 }))
            }
            peer.value.withLock { $0 = client }
            client.reply(request, [:])
            client.send(Samples.snapshot([Samples.status()]))
        }
        defer { agent.stop() }
        let terminal = try await Terminal("authc watch", folder: agent.folder, environment: Self.variables)
        var screen = TerminalScreen(columns: 80, rows: 24)
        // The agent is asked for callers after the first picture. This is the last line that changes then.
        await terminal.waits(for: "tab next list  r renew  s sign out  l lock  ? help  q quit" + Self.frameEnd)
        screen.feed(terminal.text)
        func drawn(_ words: String, after change: () -> Void) async {
            terminal.mark()
            change()
            await terminal.waits(for: words)
            await terminal.waits(for: Self.frameEnd)
            screen.feed(terminal.text)
        }
        let client = try #require(peer.value.withLock { $0 })
        await drawn("CALLERS 1 of 3") { terminal.type("\u{1B}[Z") }
        await drawn("CALLERS 2 of 3") { terminal.type("j") }
        await drawn("CALLERS 3 of 4") {
            known.withLock { $0 = all }
            // The agent is asked for callers after an event.
            client.send(Samples.snapshot([Samples.status()]))
        }
        let marked = screen.lines.filter { $0.hasPrefix(">") }
        #expect(marked.count == 2 && marked[1].contains(" c2 "), "\(screen.text)")
        terminal.type("q")
        await terminal.ends()
    }

    @Test("a small screen shows all the help, and a smaller one shows how to quit", arguments: [12, 3])
    func help(rows: Int) async throws {
        let agent = try Self.agent([Samples.status()])
        defer { agent.stop() }
        let terminal = try await Terminal(
            "authc watch", folder: agent.folder, columns: 40, rows: UInt16(rows), environment: Self.variables)
        var screen = TerminalScreen(columns: 40, rows: rows)
        await terminal.waits(for: Self.frameEnd)
        terminal.mark()
        terminal.type("?")
        await terminal.waits(for: "Any key continues.")
        await terminal.waits(for: Self.frameEnd)
        screen.feed(terminal.text)
        #expect(screen.text.contains("q, ^C      quit") && !screen.text.contains("..."), "\(screen.text)")
        #expect(screen.text.contains("^L         draw again") == (rows == 12), "\(screen.text)")
        terminal.type("xq")
        await terminal.ends()
    }

    @Test(
        "sessions, renewals, network, callers, events and keys are on the screen together, in ASCII",
        arguments: [80, 40])
    func pictures(columns: Int) async throws {
        let now = Date().timeIntervalSince1970
        let names = ["work", "wiki", "forge", "shop", "mail"]
        let active = names.enumerated().map { number, name in
            Samples.status([
                "session": .string(name), "default": .bool(name == "work"), "renews": true,
                "expires_at": .number(now + 91_800), "refresh_at": .number(now + 91_800 + Double(number) * 86_400),
            ])
        }
        let ended = Samples.status([
            "session": "wall", "default": false, "provider": "anonymous-wall", "environment": .null,
            "state": "sign_in_required", "cause": "token_expired",
        ])
        let callers = [
            Samples.auditItem(3, "token.get", "/usr/bin/curl", secondsAgo: 7205),
            Samples.auditItem(
                4, "api.request", "/usr/libexec/git-core/git-remote-https", secondsAgo: 125,
                ["call": "GET /me", "exe_uncertain": true]),
        ]
        let peer = WatchViewTests.Box<Peer>()
        let agent = try Self.agent(active + [ended], callers: callers, peer: peer)
        defer { agent.stop() }
        let terminal = try await Terminal(
            "authc watch; echo \"exit $?\"", folder: agent.folder, columns: UInt16(columns), rows: 24,
            environment: Self.variables)
        // The agent is asked for callers after the first picture. This is the last line that changes then.
        await terminal.waits(for: "token.get work" + Self.frameEnd)
        terminal.mark()
        // After a gap, the present state is listed as events.
        try #require(peer.value.withLock { $0 }).send(Samples.snapshot(active + [ended]))
        await terminal.waits(for: Self.frameEnd)
        terminal.mark()
        // Draws all of it.
        terminal.type("\u{C}")
        await terminal.waits(for: Self.frameEnd)
        var screen = TerminalScreen(columns: columns, rows: 24)
        screen.feed(terminal.text)
        let text = screen.text.replacing(/\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?/, with: "DATE")
        #expect(text == (columns == 80 ? Self.wide : Self.narrow), "\(text)")
        #expect(!screen.hasOverflowed && terminal.text.utf8.allSatisfy { $0 < 0x80 })
        terminal.type("q")
        await terminal.ends()
        #expect(terminal.text.contains("exit 0"))
    }

    private static let wide = """
        authd - network online - store ready - session 1 of 6
            SESSION  STATE             LEFT     PROVIDER                 ACCOUNT
        > * work     active            1 d 1 h  app-template (produc...  ada@example.org
            forge    active            1 d 1 h  app-template (produc...  ada@example.org
            mail     active            1 d 1 h  app-template (produc...  ada@example.org
            shop     active            1 d 1 h  app-template (produc...  ada@example.org
            wall     sign in required           anonymous-wall           ada@example.org
            wiki     active            1 d 1 h  app-template (produc...  ada@example.org
        NEXT RENEWALS
        DATE  in 1 d 1 h  work   -----------*
        DATE  in 2 d 1 h  wiki   ---------------------*
        DATE  in 3 d 1 h  forge  --------------------------------*
        DATE  in 4 d 1 h  shop   ------------------------------------------*
        CALLERS
        2 min ago  git-remote-https  (path not verified) api.request work: GET /me
        2 h ago    curl              token.get work
        EVENTS
        DATE network online
        DATE wiki active, 1 d 1 h left
        DATE wall sign in required: token expired
        DATE shop active, 1 d 1 h left
        DATE mail active, 1 d 1 h left
        DATE forge active, 1 d 1 h left
        up/down select  tab next list  r renew  s sign out  l lock  ? help  q quit
        """

    private static let narrow = """
        authd - network online - store ready ...
            SESSION  STATE               LEFT
        > * work     active              1 d 1 h
            forge    active              1 d 1 h
            mail     active              1 d 1 h
            shop     active              1 d 1 h
            wall     sign in required
            wiki     active              1 d 1 h
        NEXT RENEWALS
        DATE  in 1 d 1 h  work
        DATE  in 2 d 1 h  wiki
        DATE  in 3 d 1 h  forge
        DATE  in 4 d 1 h  shop
        CALLERS
        2 min ago  git-rem...  (path not veri...
        2 h ago    curl        token.get work
        EVENTS
        DATE network online
        DATE wiki active, 1 d ...
        DATE wall sign in requ...
        DATE shop active, 1 d ...
        DATE mail active, 1 d ...
        DATE forge active, 1 d...
        tab list  r renew  s sign out  ?  q quit
        """
}
