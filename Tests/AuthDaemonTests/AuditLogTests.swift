import AuthModel
import AuthWire
import Foundation
import Glibc
import Logging
import Synchronization
import TestSupport
import Testing

@testable import AuthDaemon

/// The audit log of an agent on a real socket, as `audit.list` and the log show it.
@Suite("The audit log", .timeLimit(.minutes(1)))
struct AuditLogTests {
    static func list(_ rig: TestServer) throws -> [AuditItem] {
        try AuditList(try #require(try rig.dial().ask("audit.list")["result"])).entries
    }

    /// The form that is answered from its bytes.
    static func askPlainly(_ client: RawClient, for session: String? = nil) throws -> JSON {
        let params = session.map { "\"session\":\"\($0)\"" } ?? ""
        try client.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"token.get\",\"params\":{\(params)}}\n")
        return try client.json()
    }

    @Test("plain requests of a connection for one token are one entry, with the program and a hash of the token")
    func repeated() async throws {
        try await TestServer.run { rig in
            try await onThread {
                for _ in 1...2 {
                    let client = try rig.dial()
                    for _ in 1...3 { #expect(try Self.askPlainly(client)["result"] != nil) }
                }
                let entries = try Self.list(rig)
                try #require(entries.count == 2)
                let entry = entries[0]
                #expect(entry.method == "token.get" && entry.rule == "default.token" && entry.error == nil)
                #expect(entry.enforced == nil)
                #expect(entries.map(\.count) == [3, 3])
                #expect(entry.session?.text == TestServer.session)
                #expect(entry.token?.count == 16 && entry.token == entries[1].token)
                #expect(entry.listener == "api" && entry.pid == getpid() && entry.uid == Int(geteuid()))
                #expect(entry.exe == (try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")))
                let started = try #require(entry.startedAt)
                #expect(started <= entry.at && started > entry.at - 86_400)
                #expect(entry.lastAt.map { $0 >= entry.at && $0 < entry.at + 60 } == true)
            }
        }
    }

    @Test("requests in every form are recorded; those with another session or purpose are separate entries")
    func forms() async throws {
        try await TestServer.run(names: ["shop", "work"]) { rig in
            try await onThread {
                let client = try rig.dial()
                for session in ["shop", "work", "shop"] { _ = try Self.askPlainly(client, for: session) }
                _ = try client.ask("token.get", ["session": "work", "purpose": "a backup"])
                let one = RawClient.request("token.get", ["session": "work", "min_valid_ms": 1])
                try client.send("[\(one.dropLast()),\(one.dropLast())]\n")
                _ = try client.json()
                _ = try client.ask("token.get", ["session": "work", "origin": "https://a.example"])
                let entries = try Self.list(rig)
                #expect(entries.map { $0.session?.text } == ["shop", "work", "work", "work"])
                #expect(entries.map(\.count) == [2, 3, 1, 1])
                #expect(entries[2].purpose == "a backup" && entries[3].origin == "https://a.example")
                // An origin is refused here: there is no profile.
                #expect(Set(entries.dropLast().map(\.token)).count == 1)
            }
        }
    }

    @Test("requests of a connection that are repeated are counted, whatever they are and however many in between")
    func repetitions() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dial()
                for _ in 1...3 {
                    _ = try client.ask("api.request", ["method": "GET", "path": "/a"])
                    _ = try client.ask("api.request", ["method": "GET", "path": "/b"])
                    _ = try client.ask("token.get", ["session": "missing"])
                    _ = try client.ask("token.get", ["purpose": "x"])
                    _ = try Self.askPlainly(client)
                }
                let entries = try Self.list(rig)
                #expect(entries.map(\.count) == [6, 3, 3, 3])
                #expect(entries.map(\.method) == ["api.request", "token.get", "token.get", "token.get"])
                // More than are counted at the same time.
                for _ in 1...2 {
                    for number in 0...RepeatedEntries.most {
                        _ = try client.ask("token.get", ["purpose": .string("\(number)")])
                    }
                }
                #expect(try Self.list(rig).dropFirst(4).allSatisfy { $0.count == 1 })
            }
        }
    }

    @Test("requests that only list or check are distinguished from those that change something")
    func readOnly() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dial()
                _ = try client.ask("session.trust")
                _ = try client.ask("session.trust", ["origins": ["https://a.example", "https://b.example"]])
                _ = try client.ask("agent.reload", ["check": true])
                _ = try client.ask("agent.reload")
                for method in ["user.get", "user.update", "outbox.list", "outbox.flush", "outbox.drop"] {
                    _ = try client.ask(method, method == "user.update" ? ["fields": [:]] : [:])
                }
                let entries = try Self.list(rig)
                #expect(
                    entries.map(\.method) == [
                        "session.trust", "session.trust", "agent.reload", "agent.reload", "user.get", "user.update",
                        "outbox.flush", "outbox.drop",
                    ])
                #expect(entries.map(\.readOnly) == [true, nil, true, nil, nil, nil, nil, nil])
                #expect(entries[1].origin == "https://a.example https://b.example")
                #expect(entries[4].session?.text == TestServer.session && entries[6].session == nil)
            }
        }
    }

    @Test("a client that reads on gets each entry once, and knows another run by its start")
    func readingOn() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dial()
                for number in 1...150 { _ = try client.ask("token.get", ["purpose": .string("\(number)")]) }
                func read(_ params: JSON) throws -> AuditList {
                    try AuditList(try #require(try client.ask("audit.list", params)["result"]))
                }
                #expect(try read([:]).entries.map(\.number) == Array(51...150))
                #expect(try read(["limit": 1024]).entries.map(\.number) == Array(1...150))
                var found: [Int] = []
                for _ in 1...4 {
                    let list = try read(["after": .integer(Int64(found.last ?? 0)), "limit": 40])
                    found += list.entries.map(\.number)
                    #expect(list.startedAt > 0 && list.entries.allSatisfy { list.startedAt <= $0.at })
                }
                #expect(found == Array(1...150))
            }
        }
    }

    @Test("what was refused is recorded with the kind of its error, and values that a client sends are not")
    func refused() async throws {
        let value = "a-value-of-a-client"
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dial()
                _ = try client.ask(
                    "token.get", ["session": "missing", "scopes": ["a", "b"], "audience": "https://a.example"])
                _ = try client.ask("token.proof", ["method": "GET", "url": .string("https://a.example/\(value)")])
                _ = try client.ask("api.request", ["method": .string(value), "path": .string("/\(value)")])
                _ = try client.ask("api.call", ["endpoint": .string(value), "args": ["a": .string(value)]])
                _ = try client.ask("session.export", ["passphrase": .string(value)])
                _ = try client.ask("session.trust")
                _ = try client.ask("agent.reload", ["check": true])
                _ = try client.ask("agent.lock")
                _ = try client.ask("session.import", ["parcel_base64": 7])
                // It cannot be read, so it is not known which session it names.
                _ = try client.ask("token.get", ["session": "missing", "no_such_key": 1])
                let entries = try Self.list(rig)
                #expect(
                    entries.map(\.method) == [
                        "token.get", "token.proof", "api.request", "api.call", "session.export", "session.trust",
                        "agent.reload", "agent.lock", "session.import", "token.get",
                    ])
                #expect(entries[0].error == .unknownSession && entries[0].scopes == "a b")
                #expect(entries[0].audience == "https://a.example" && entries[0].token == nil)
                #expect(entries[2].call == "* *" && entries[2].error != nil)
                #expect(entries[3].endpoint == nil && entries[3].error != nil)
                #expect(entries[6].error == nil && entries[7].error == .validation && entries[8].error == .validation)
                #expect(entries[9].error != nil && entries[9].session == nil)
                #expect(!entries.map { $0.json.text() }.joined().contains(value))
                #expect(!entries.map { $0.json.text() }.joined().contains(TestServer.token))
            }
        }
    }

    @Test("a process that becomes another program is recorded as that, on the same connection")
    func execution() async throws {
        try await TestServer.run { rig in
            let answers = try await SenderTests.responses("become", rig.path)
            #expect(answers.count == 2 && answers.allSatisfy { $0["result"] != nil }, "\(answers)")
            let entries = try await onThread { try Self.list(rig) }
            try #require(entries.count == 2)
            // The boundary between two hundredths may lie between two readings of the clocks.
            let starts = try entries.map { try #require($0.startedAt) }
            #expect(entries[0].pid == entries[1].pid && abs(starts[0] - starts[1]) < 0.015, "\(starts)")
            for (entry, program) in zip(entries, ["/usr/bin/python3", "/bin/sh"]) {
                let file = URL(filePath: program).resolvingSymlinksInPath().path
                #expect(entry.exe == file, "\(entry.exe ?? "-")")
            }
        }
    }

    @Test("methods of other classes are not recorded, nor is reading the log")
    func others() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dial()
                for method in [
                    "session.list", "session.status", "agent.ping", "audit.list", "network.status", "no.method",
                ] {
                    _ = try client.ask(method)
                }
                #expect(try Self.list(rig).isEmpty)
            }
        }
    }

    @Test("clients of the extra socket are recorded with their listener and rule, and cannot read the log")
    func confined() async throws {
        var rules = ListenerRules()
        rules.sessions = [try SessionName(TestServer.session)]
        rules.classes = [.act]
        try await TestServer.run(rules: rules) { rig in
            try await onThread {
                let client = try rig.dialExtra()
                #expect(try client.ask("token.get", ["session": "other"]).errorKind == "denied")
                #expect(try client.ask("session.export").errorKind == "denied")
                #expect(try client.ask("audit.list").errorKind == "denied")
                let call: JSON = ["session": "other", "endpoint": "users"]
                #expect(try client.ask("api.call", call).errorKind == "unknown_session")
                let entries = try Self.list(rig)
                #expect(entries.map(\.method) == ["token.get", "session.export", "api.call"])
                #expect(entries.map(\.error) == [.denied, .denied, .unknownSession])
                // The first one was refused before its params were read.
                #expect(entries.map { $0.session?.text } == [nil, nil, "other"])
                for entry in entries {
                    #expect(entry.rule == "listener.extra" && entry.listener == "extra" && entry.pid == getpid())
                }
            }
        }
    }

    @Test("the log gets a line for each entry, and one more with the number of requests that were repeated")
    func lines() async throws {
        let lines = Lines()
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dial()
                _ = try client.ask("token.get", ["purpose": "a rule=default \"x\""])
                for _ in 1...3 { _ = try Self.askPlainly(client) }
                #expect(try Self.list(rig).count == 2)
            }
            // The connection has ended.
            let token = rig.audit.list(after: 0, limit: 9).entries.first?.token
            let logging = Task { await rig.audit.run(logger: lines.logger) }
            var written: [String] = []
            #expect(
                try await until {
                    _ = try await onThread { try rig.dial().ask("agent.ping") }
                    written += lines.taken()
                    return written.count == 3
                })
            logging.cancel()
            await logging.value
            #expect(written.allSatisfy { $0.hasPrefix("info: Audit: token.get for shop answered") }, "\(written)")
            #expect(written[0].contains(" purpose=a rule=default \"x\" "), "\(written[0])")
            for field in [
                "audit=1", "listener=api", "peer_pid=\(getpid())", "rule=default.token", "token_hash=\(token ?? "")",
            ] {
                #expect(written[0].contains(" \(field)"), "\(field)")
            }
            #expect(written[2].contains("answered 3 times") && written[2].contains(" audit=2 "), "\(written[2])")
            #expect(!written.joined().contains(TestServer.token))
        }
    }

    @Test("the log gets the lines whatever its level is", arguments: [Logger.Level.info, .notice, .critical])
    func levels(level: Logger.Level) async {
        let lines = Mutex<[String]>([])
        let audit = AuditLog(clock: BootClock())
        audit.record(AuditedRequest(method: "agent.reload"), by: nil, rule: AuditEntry.signalRule)
        let agent = AgentLog(level: .info)
        agent.level = level
        let write: @Sendable (LogLine) -> Void = { line in
            lines.withLock { $0.append("\(line.level): \(line.message)") }
        }
        agent.logger(to: write).info("Other")
        let logging = Task { await audit.run(logger: agent.auditLogger(to: write)) }
        logging.cancel()
        await logging.value
        let others = level == .info ? ["info: Other"] : []
        #expect(lines.withLock { $0 } == others + ["info: Audit: agent.reload answered"])
    }

    @Test("if the log is slower than its backlog, the entries that are missing there are counted")
    func backlog() {
        let log = AuditLog(clock: BootClock(), capacity: 4)
        for _ in 1...AuditLog.backlog + 3 {
            log.record(AuditedRequest(method: "agent.reload"), by: nil, rule: AuditEntry.signalRule)
        }
        let list = log.list(after: 0, limit: 10)
        #expect(list.unlogged == 3)
        #expect(list.dropped == AuditLog.backlog)
        #expect(list.entries.count == 3)
    }

    @Test("if an entry is replaced in memory, the log gets its number then, unless it has it already")
    func replaced() async {
        let (log, lines, repeated) = (AuditLog(clock: BootClock(), capacity: 2), Lines(), RepeatedEntries())
        let caller = CallerIdentity(listener: .api, processID: 7, userID: 1000)
        for purpose in ["a", "a", "b", "b"] {
            let request = AuditedRequest(method: "token.get", purpose: purpose)
            let answered = AnsweredRequest(request: request, caller: caller, rule: "default.token")
            repeated.record(answered, token: nil, generation: 0, in: log)
        }
        repeated.end(in: log)
        log.record(AuditedRequest(method: "agent.reload"), by: nil, rule: AuditEntry.signalRule)
        let logging = Task { await log.run(logger: lines.logger) }
        logging.cancel()
        await logging.value
        let written = lines.taken()
        #expect(written.map { $0.contains("answered 2 times") } == [false, true, false, true, false], "\(written)")
        #expect(written.map { $0.contains(" purpose=a ") } == [true, true, false, false, false], "\(written)")
    }

    @Test("an entry covers requests for a minute, until settings or rules change; a plain one by the token's number")
    func covered() {
        let start = BootInstant(sinceBoot: .seconds(100))
        var request = AuditedRequest(method: "token.get", session: try? SessionName("shop"))
        let place = AuditLog(clock: BootClock()).record(request, by: nil, rule: "default.token")
        let caller = CallerIdentity(listener: .api, processID: 7, userID: 1000)
        func entry(_ token: AnsweredRequest.Token?) -> RepeatedEntry {
            let answered = AnsweredRequest(
                request: request, caller: caller, rule: "default.token", token: token)
            return RepeatedEntry(answered, at: place, began: start, generation: 3)
        }
        #expect(entry(.number(7)).covers(start + .seconds(59), generation: 3))
        #expect(!entry(.number(7)).covers(start + .seconds(60), generation: 3))
        #expect(!entry(.number(7)).covers(start, generation: 4))
        #expect(entry(.number(7)).plainToken == 7)
        #expect(entry(.hash("a")).plainToken == nil && entry(nil).plainToken == nil)
        request = AuditedRequest(method: "token.get", session: request.session, purpose: "x")
        #expect(entry(.number(7)).plainToken == nil)
    }
}
