import AuthWire
import Foundation
import TestSupport
import Testing

@Suite("What a shell completes without the full program", .timeLimit(.minutes(10)))
struct QuickCompletionTests {
    @Test("each argument is completed as by the full program, or left to it")
    func all() async throws {
        let agent = try CompletionSamples.agent()
        defer { agent.stop() }
        let script = try await Program.run(["completion", "bash"], folder: agent.folder, program: QuickAuthc.full)
        let arguments = Self.asked(script.output)
        #expect(arguments.count > 100, "\(arguments.count)")
        let known = [
            CompletionSamples.sessions, CompletionSamples.scopes, CompletionSamples.providers,
            CompletionSamples.entries,
        ]
        var counts: [String: Int] = [:]
        for argument in arguments {
            let command = argument.split(separator: " ").prefix { $0 != "--" }.map(String.init)
            let words = CompletionSamples.request(argument, command + [""])
            let full = try await Program.run(words, folder: agent.folder, program: QuickAuthc.full)
            #expect(full.errors.isEmpty && full.status == 0, "\(argument): \(full)")
            guard known.contains(full.output) else {
                try await QuickAuthc.expectLeft(words, agent.folder, [:], "\(argument)")
                continue
            }
            let alone = try await QuickAuthc.runAlone(words, agent.folder)
            #expect(alone.output == full.output && alone.errors.isEmpty && alone.status == 0, "\(argument): \(alone)")
            counts[full.output, default: 0] += 1
        }
        for (output, least) in zip(known, [41, 6, 6, 3]) {
            #expect(counts[output, default: 0] >= least, "\(output): \(counts)")
        }
    }

    /// The arguments for whose values a script for bash asks.
    private static func asked(_ script: String) -> [String] {
        script.matches(of: /'([a-z -]+)'\) rows='([^']*)'/).flatMap { match in
            var place = -1
            return match.2.split(separator: "\n").compactMap { row -> String? in
                if row.hasPrefix("|") { place += 1 }
                guard row.hasSuffix("|=@") || row.hasSuffix("|+@") else { return nil }
                let name = row.prefix { $0 != "|" }.split(separator: " ").last.map(String.init)
                return "\(match.1) -- \(name ?? "positional@\(place)")"
            }
        }
    }

    @Test(
        "the values do not depend on the words of the line",
        arguments: [
            [""], ["token", "--session", ""], ["token", "-s", "sh"], ["-s", "", "token"],
            ["--json", "token", "-s", "x"], ["token", "--session", "'of the", "work'"],
            ["token", "-s", "\"sh", "--for", "x"], ["token", "-s", "é", "-h"], ["token", "--version"],
            ["exec", "-s", "", "--", "env", "--help"], ["token", "-s", "Not a name", "--json"],
            ["exec", "--"] + [String](repeating: "word", count: 5000),
        ])
    func lines(line: [String]) async throws {
        let agent = try CompletionSamples.agent()
        defer { agent.stop() }
        for place in [["3", "0"], ["0", "2"], ["007", "999999999"]] {
            let words = ["---completion", "token", "--", "--session"] + place + ["authc"] + line
            try await QuickAuthc.expectSame(
                CompletionSamples.sessions, of: words, agent.folder, [:], "\(place) \(line.prefix(9))")
        }
    }

    @Test("the outbox and scopes are those of the session on the line, or in AUTHD_SESSION")
    func session() async throws {
        let agent = try CompletionSamples.agent()
        defer { agent.stop() }
        let cases: [(line: [String], variable: String, session: String?)] = [
            ([""], "", nil), ([""], "home", "home"), (["-s", "work", ""], "", "work"),
            (["-s", "work", ""], "home", "work"), (["--session", "work", ""], "No", "work"),
            (["-s=work", ""], "", "work"), (["--session=work", ""], "", "work"), (["", "-s", "work"], "", "work"),
            (["", "-s"], "home", "home"), (["", "--session"], "", nil), (["-s", "a", "--session", "b"], "", "a"),
            (["--session=a", "-s", "b", ""], "", "a"), (["-swork", ""], "", nil), (["--", "-s", "work"], "", "work"),
        ]
        let arguments = [
            ("outbox show -- positional@0", "outbox.list", CompletionSamples.entries),
            ("token -- --scope", "session.status", CompletionSamples.scopes),
        ]
        for (line, variable, session) in cases {
            for (argument, method, output) in arguments {
                let words = CompletionSamples.request(argument, line)
                try await QuickAuthc.expectSame(
                    output, of: words, agent.folder, ["AUTHD_SESSION": variable], "\(line)")
                // One request of each program.
                let requests = agent.requests.suffix(2)
                #expect(requests.map(\.method) == [method, method], "\(line)")
                for request in requests { #expect(request.params?["session"]?.stringValue == session, "\(line)") }
            }
        }
    }

    @Test("a session that only the full program can choose is left to it")
    func otherSessions() async throws {
        let agent = try CompletionSamples.agent()
        defer { agent.stop() }
        let (outbox, scope) = ("outbox drop -- positional@0", "exec -- --scope")
        for (line, variable) in [
            (["-s", "No", ""], ""), (["--session=", ""], ""), (["-s", "'work'", ""], ""), ([""], "No"),
        ] {
            for argument in [outbox, scope] {
                let words = CompletionSamples.request(argument, line)
                try await QuickAuthc.expectLeft(words, agent.folder, ["AUTHD_SESSION": variable], "\(line)")
            }
        }
        // The settings name sessions for folders.
        try Data().write(to: URL(filePath: agent.folder + "/authd/folders"))
        try await QuickAuthc.expectLeft(CompletionSamples.request(scope), agent.folder)
        let named = try await QuickAuthc.run(CompletionSamples.request(scope, ["-s", "work", ""]), agent.folder)
        #expect(named.output == CompletionSamples.scopes)
        try await QuickAuthc.expectSame(CompletionSamples.entries, of: CompletionSamples.request(outbox), agent.folder)
    }

    @Test(
        "zsh gets another value at the end, which its script of earlier versions removes",
        arguments: ["zsh", "bash", "fish", "ksh", ""])
    func shells(shell: String) async throws {
        let agent = try CompletionSamples.agent(["session.status": Samples.status(["scopes": ["read", ""]])])
        defer { agent.stop() }
        let none = try CompletionSamples.agent(["session.list": ["sessions": []]])
        defer { none.stop() }
        let session = CompletionSamples.request("use -- positional@0")
        let scope = CompletionSamples.request("token -- --scope")
        let (end, environment) = (shell == "zsh" ? " \n" : "", ["SAP_SHELL": shell])
        try await QuickAuthc.expectSame(CompletionSamples.sessions + end, of: session, agent.folder, environment)
        try await QuickAuthc.expectSame("read\n\n" + end, of: scope, agent.folder, environment)
        try await QuickAuthc.expectSame(end.isEmpty ? "\n" : end, of: session, none.folder, environment)
    }

    @Test("a session without scopes has none to offer")
    func noScopes() async throws {
        let agent = try CompletionSamples.agent(["session.status": Samples.status()])
        defer { agent.stop() }
        try await QuickAuthc.expectSame("\n", of: CompletionSamples.request("token -- --scope"), agent.folder)
    }

    @Test(
        "every other form of the request is left to the full program",
        arguments: [
            "", "token", "token --", "token -- --session", "token -- --session 3", "token -- --session 3 0",
            "token --session 3 0 authc", "-- --session 3 0 authc", "-- token --session 3 0 authc",
            "token -- -- --session 3 0 authc", "token -- -s 3 0 authc", "token -- --sessions 3 0 authc",
            "token -- _ 3 0 authc", "list -- --session 3 0 authc", "tokens -- --session 3 0 authc",
            "_ -- --session 3 0 authc", "token _ -- --session 3 0 authc", "helper_git -- --session 3 0 authc",
            "helper -- --session 3 0 authc", "helper -- git_--session 3 0 authc", "use -- positional@1 3 0 authc",
            "token -- --session -1 0 authc", "token -- --session +3 0 authc", "token -- --session x 0 authc",
            "token -- --session _ 0 authc", "token -- --session 3 -1 authc", "token -- --session 3 _0 authc",
            "token -- --session 3 1234567890 authc", "token -- --session 3 0 authc --socket /x",
            "token -- --session 3 0 authc --socket=/x token", "token -- --session 3 0 authc token -s _ --socket",
        ])
    func otherRequests(line: String) async throws {
        let agent = try CompletionSamples.agent()
        defer { agent.stop() }
        // An underscore is an empty word, or a space in a word.
        let words = line.split(separator: " ").map { $0 == "_" ? "" : String($0).replacing("_", with: " ") }
        try await QuickAuthc.expectLeft(["---completion"] + words, agent.folder, [:], "\(line)")
        #expect(agent.requests.isEmpty)
    }

    @Test("a closed or full output is left to the full program", arguments: [">&-", ">/dev/full", "2>&- >&-"])
    func outputs(redirection: String) async throws {
        let agent = try CompletionSamples.agent()
        defer { agent.stop() }
        let program = try QuickAuthc.install(in: agent.folder)
        let words = CompletionSamples.request("use -- positional@0", ["use"]).joined(separator: " ")
        let result = try await Program.run(
            ["-c", "\(program) \(words) \(redirection); exit $?"], folder: agent.folder, program: "/bin/bash")
        #expect(result.output.isEmpty && result.status == 70, "\(result)")
    }
}
