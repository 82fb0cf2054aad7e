import AuthWire
import Foundation
import TestSupport
import Testing

/// `authc` alone in a folder, without the program that has every command: what it does by itself succeeds, and whatever it
/// leaves to that program is an error that says so.
@Suite("authc without the program of all its commands")
struct QuickCommandTests {
    private static let token: JSON = [
        "access_token": "secret-1", "token_type": "Bearer", "expires_at": 1_800_000_000, "session": "shop",
        "valid_ms": 60_000,
    ]

    /// What it prints if it would need the other program.
    private static let needsFullProgram =
        "authc: cannot start its commands: authc-full is not there. Install authd again.\n"

    private func run(_ arguments: [String], _ folder: String, _ environment: [String: String] = [:]) async throws
        -> Program
    {
        let program = folder + "/authc"
        if !FileManager.default.fileExists(atPath: program) {
            try FileManager.default.copyItem(atPath: Programs.authc, toPath: program)
        }
        return try await Program.run(arguments, folder: folder, environment: environment, program: program)
    }

    private func expectLeft(
        _ result: Program, _ comment: Comment? = nil, location: SourceLocation = #_sourceLocation
    ) {
        #expect(result.output.isEmpty, comment, sourceLocation: location)
        #expect(result.errors == Self.needsFullProgram, comment, sourceLocation: location)
        #expect(result.status == 70, comment, sourceLocation: location)
    }

    @Test("prints a token, of the session that is named, or in AUTHD_SESSION, or the agent's choice")
    func token() async throws {
        let agent = try TestAgent(replies: ["agent.ping": .success([:]), "token.get": .success(Self.token)])
        defer { agent.stop() }
        for (arguments, environment, session) in [
            (["token"], [:], nil), (["token", "-s", "a.b-c_9"], [:], "a.b-c_9"),
            (["token"], ["AUTHD_SESSION": "work"], "work"),
            (["token", "-s", "shop"], ["AUTHD_SESSION": "work", "AUTHD_SOCKET": agent.path], "shop"),
            (["token"], ["AUTHD_SESSION": "", "AUTHD_SOCKET": ""], nil),
        ] as [([String], [String: String], String?)] {
            let result = try await run(arguments, agent.folder, environment)
            #expect(result.output == "secret-1\n" && result.errors.isEmpty && result.status == 0, "\(arguments)")
            #expect(agent.requests.last?.method == "token.get")
            #expect(agent.requests.last?.params?["session"]?.stringValue == session)
        }
        #expect(agent.requests.count == 10)
    }

    @Test("prints a token for an origin, of the named session if there is one")
    func origin() async throws {
        let agent = try TestAgent(replies: ["agent.ping": .success([:]), "token.get": .success(Self.token)])
        defer { agent.stop() }
        for (environment, session) in [([:], nil), (["AUTHD_SESSION": "work"], "work")] as [([String: String], String?)]
        {
            let result = try await run(["token", "--for", "https://a.example:8443"], agent.folder, environment)
            #expect(result.output == "secret-1\n" && result.status == 0)
            #expect(agent.requests.last?.params?["origin"]?.stringValue == "https://a.example:8443")
            #expect(agent.requests.last?.params?["session"]?.stringValue == session)
        }
    }

    @Test("leaves every other command line to that program")
    func otherCommands() async throws {
        let agent = try TestAgent(replies: ["agent.ping": .success([:]), "token.get": .success(Self.token)])
        defer { agent.stop() }
        for arguments in [
            [], ["status"], ["token", "--json"], ["token", "-s"], ["token", "-s", "Shop"], ["token", "-s", ""],
            ["token", "-s", #"a","method":"x"#], ["token", "--for", "-s"], ["token", "--for", #"a""#],
            ["token", "--for", #"a\b"#], ["token", "--for", "a\nb"], ["prompt", "--json"],
            ["tokens"],
            ["token", "-s", String(repeating: "a", count: 65)],
        ] {
            expectLeft(try await run(arguments, agent.folder), "\(arguments)")
        }
        expectLeft(try await run(["token"], agent.folder, ["AUTHD_SESSION": "No"]))
        expectLeft(try await run(["token"], agent.folder, ["AUTHD_SOCKET": "relative"]))
        expectLeft(try await run(["token"], agent.folder, ["AUTHD_SOCKET": "/" + String(repeating: "a", count: 200)]))
        // The settings name sessions for folders.
        try Data().write(to: URL(filePath: agent.folder + "/authd/folders"))
        expectLeft(try await run(["token"], agent.folder))
        #expect(try await run(["token", "-s", "shop"], agent.folder).output == "secret-1\n")
        #expect(agent.requests.count == 2)
    }

    @Test(
        "leaves every other answer to that program, and prints nothing of it",
        arguments: [
            #"{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"no","data":{"kind":"offline"}}}"#,
            #"{"jsonrpc":"2.0","id":2,"result":{"access_token":"a\u0022b","token_type":"Bearer"}}"#,
            #"{"jsonrpc":"2.0","id":2,"result":{"access_token":"","token_type":"Bearer"}}"#,
            #"{"jsonrpc":"2.0","id":2,"result":{"access_token":"open"#,
            #"{"jsonrpc":"2.0","id":3,"result":{"access_token":"other","token_type":"Bearer"}}"#,
            #"{"jsonrpc":"2.0","id":2,"result":{"token_type":"Bearer","access_token":"later"}}"#,
            "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"access_token\":\"red\u{1B}[31m\"}}",
            "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"access_token\":\"two\u{85}lines\"}}", "", "[]",
        ])
    func otherAnswers(answer: String) async throws {
        let agent = try TestAgent { peer, request in
            if request.method == "agent.ping" { return peer.send(RPCReply.result(request.id ?? .null, [:])) }
            peer.send(bytes: Array((answer + "\n").utf8))
        }
        defer { agent.stop() }
        expectLeft(try await run(["token"], agent.folder))
    }

    @Test("leaves an agent that does not answer at once, is not there, ends, or sends too much, to that program")
    func brokenAgents() async throws {
        let silent = try TestAgent { _, _ in }
        defer { silent.stop() }
        expectLeft(try await run(["token"], silent.folder))
        let ending = try TestAgent { peer, _ in peer.end() }
        defer { ending.stop() }
        expectLeft(try await run(["token"], ending.folder))
        let endless = try TestAgent { peer, _ in peer.send(bytes: [UInt8](repeating: 0x20, count: 1 << 20)) }
        defer { endless.stop() }
        expectLeft(try await run(["token"], endless.folder))
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        expectLeft(try await run(["token"], folder))
    }

    @Test("prints the prompt's line if the agent that wrote it runs, and leaves any other file to that program")
    func prompt() async throws {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder + "/authd", withIntermediateDirectories: false)
        let file = URL(filePath: folder + "/authd/prompt")
        let absent = try await run(["prompt"], folder)
        #expect(absent.output.isEmpty && absent.errors.isEmpty && absent.status == 0)
        let pid = ProcessInfo.processInfo.processIdentifier
        try Data("\(pid) shop:ada@example.org wiki!offline\nrest\n".utf8).write(to: file)
        let line = try await run(["prompt"], folder)
        #expect(line.output == "shop:ada@example.org wiki!offline\n" && line.errors.isEmpty && line.status == 0)
        try Data("\(pid)\n".utf8).write(to: file)
        let empty = try await run(["prompt"], folder)
        #expect(empty.output.isEmpty && empty.errors.isEmpty && empty.status == 0)
        // Above the highest process ID.
        try Data("4194305 shop\n".utf8).write(to: file)
        let ended = try await run(["prompt"], folder)
        #expect(ended.output.isEmpty && ended.errors.isEmpty && ended.status == 0)
        for text in [
            "", "shop\n", "0 shop\n", "-1 shop\n", "\(pid)shop\n", "\(pid) no end",
            "\(pid) caf\u{E9}\n",
            "\(pid) red\u{1B}[31m\n", "99999999999999999999 shop\n",
        ] {
            try Data(text.utf8).write(to: file)
            expectLeft(try await run(["prompt"], folder), "\(text.debugDescription)")
        }
    }

    @Test("a closed or full output is left to that program: a token is never written to another descriptor")
    func outputs() async throws {
        let agent = try TestAgent(replies: ["agent.ping": .success([:]), "token.get": .success(Self.token)])
        defer { agent.stop() }
        _ = try await run(["token"], agent.folder)
        let command = { (redirection: String) in ["-c", "\(agent.folder)/authc token \(redirection); exit $?"] }
        for redirection in [">&-", ">/dev/full", "<&- >&-"] {
            let result = try await Program.run(command(redirection), folder: agent.folder, program: "/bin/bash")
            #expect(result.errors == Self.needsFullProgram && result.status == 70, "\(redirection)")
        }
        let silent = try await Program.run(command("2>&- <&-"), folder: agent.folder, program: "/bin/bash")
        #expect(silent.output == "secret-1\n" && silent.status == 0)
    }

    @Test("finds that program in its own folder, or where make install puts it, also through a link")
    func places() async throws {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let files = FileManager.default
        for place in ["bin", "libexec/authd-session", "links"] {
            try files.createDirectory(atPath: folder + "/" + place, withIntermediateDirectories: true)
        }
        try files.copyItem(atPath: Programs.authc, toPath: folder + "/bin/authc")
        try files.copyItem(atPath: Programs.authc + "-full", toPath: folder + "/libexec/authd-session/authc-full")
        try files.createSymbolicLink(atPath: folder + "/links/authc", withDestinationPath: "../bin/authc")
        for program in ["bin/authc", "links/authc"] {
            let result = try await Program.run(["--version"], folder: folder, program: folder + "/" + program)
            #expect(result.output == Release.version + "\n" && result.status == 0)
        }
    }
}
