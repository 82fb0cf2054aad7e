import AuthWire
import Foundation
import TestSupport
import Testing

/// `authc` alone in a folder: what it does by itself succeeds, and whatever it leaves to the full program is an error that
/// says so.
@Suite("authc without the full program")
struct QuickCommandTests {
    private static let token: JSON = [
        "access_token": "secret-1", "token_type": "Bearer", "expires_at": 1_800_000_000, "session": "shop",
        "valid_ms": 60_000,
    ]

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
            try await QuickAuthc.expectSame("secret-1\n", of: arguments, agent.folder, environment)
            #expect(agent.requests.last?.method == "token.get")
            #expect(agent.requests.last?.params?["session"]?.stringValue == session)
        }
        #expect(agent.requests.count == 20)
    }

    @Test("prints a token for an origin, of the named session if there is one")
    func origin() async throws {
        let agent = try TestAgent(replies: ["agent.ping": .success([:]), "token.get": .success(Self.token)])
        defer { agent.stop() }
        for (environment, session) in [([:], nil), (["AUTHD_SESSION": "work"], "work")] as [([String: String], String?)]
        {
            try await QuickAuthc.expectSame(
                "secret-1\n", of: ["token", "--for", "https://a.example:8443"], agent.folder, environment)
            #expect(agent.requests.last?.params?["origin"]?.stringValue == "https://a.example:8443")
            #expect(agent.requests.last?.params?["session"]?.stringValue == session)
        }
    }

    @Test("prints its version, which is the full program's")
    func version() async throws {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await QuickAuthc.expectSame("authc \(Release.version)\n", of: ["--version"], folder)
        // It needs no agent, and no place for one.
        try await QuickAuthc.expectSame(
            "authc \(Release.version)\n", of: ["--version"], folder,
            ["AUTHD_SOCKET": "relative", "AUTHD_SESSION": "No"])
    }

    @Test("leaves every other command line to the full program")
    func otherCommands() async throws {
        let agent = try TestAgent(replies: ["agent.ping": .success([:]), "token.get": .success(Self.token)])
        defer { agent.stop() }
        for arguments in [
            [], ["--help"], ["version"], ["status", "--json", "state"], ["token", "-s"], ["token", "-s", "Shop"],
            ["token", "-s", ""],
            ["token", "-s", #"a","method":"x"#], ["token", "--for", "-s"], ["token", "--for", #"a""#],
            ["token", "--for", #"a\b"#], ["token", "--for", "a\nb"], ["prompt", "--json", "--json"],
            ["tokens"], ["list", "-s", "shop"], ["token", "--json", "--json"], ["--version", "--json"],
            ["-s", "shop", "token"],
            ["wait", "--until", "active"], ["whoami", "--fresh"], ["network", "--watch"], ["status", "--for", "x"],
            ["token", "--json", "-s", "shop", "--for", "https://a.example", "--no-input"],
            ["token", "-s", String(repeating: "a", count: 65)],
        ] {
            try await QuickAuthc.expectLeft(arguments, agent.folder, [:], "\(arguments)")
        }
        try await QuickAuthc.expectLeft(["token"], agent.folder, ["AUTHD_SESSION": "No"])
        try await QuickAuthc.expectLeft(["token"], agent.folder, ["AUTHD_SOCKET": "relative"])
        try await QuickAuthc.expectLeft(
            ["token"], agent.folder, ["AUTHD_SOCKET": "/" + String(repeating: "a", count: 200)])
        // The settings name sessions for folders.
        try Data().write(to: URL(filePath: agent.folder + "/authd/folders"))
        try await QuickAuthc.expectLeft(["token"], agent.folder)
        #expect(try await QuickAuthc.runAlone(["token", "-s", "shop"], agent.folder).output == "secret-1\n")
        #expect(agent.requests.count == 2)
    }

    @Test(
        "leaves every other answer to the full program, and prints nothing of it",
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
        try await QuickAuthc.expectLeft(["token"], agent.folder)
    }

    @Test("leaves an agent that does not answer at once, is not there, ends, or sends too much, to the full program")
    func brokenAgents() async throws {
        let silent = try TestAgent { _, _ in }
        defer { silent.stop() }
        try await QuickAuthc.expectLeft(["token"], silent.folder)
        let ending = try TestAgent { peer, _ in peer.end() }
        defer { ending.stop() }
        try await QuickAuthc.expectLeft(["token"], ending.folder)
        let endless = try TestAgent { peer, _ in peer.send(bytes: [UInt8](repeating: 0x20, count: 1 << 20)) }
        defer { endless.stop() }
        try await QuickAuthc.expectLeft(["token"], endless.folder)
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await QuickAuthc.expectLeft(["token"], folder)
    }

    @Test("prints the prompt's line if the agent that wrote it runs, and leaves any other file to the full program")
    func prompt() async throws {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder + "/authd", withIntermediateDirectories: false)
        let file = URL(filePath: folder + "/authd/prompt")
        try await QuickAuthc.expectSame("", of: ["prompt"], folder)
        try await QuickAuthc.expectSame("{\"prompt\":null}\n", of: ["prompt", "--json"], folder)
        let pid = ProcessInfo.processInfo.processIdentifier
        // 4194305 is above the highest process ID.
        for (text, shown, json) in [
            (
                "\(pid) shop:ada@example.org wiki a:7\nrest\n", "shop:ada@example.org wiki a:7\n",
                #""shop:ada@example.org wiki a:7""#
            ),
            ("\(pid) wiki!offline\n", "wiki!offline\n", #""wiki!offline""#),
            ("\(pid)\n", "", #""""#),
            ("4194305 shop\n", "", "null"),
        ] {
            try Data(text.utf8).write(to: file)
            try await QuickAuthc.expectSame(shown, of: ["prompt"], folder)
            try await QuickAuthc.expectSame("{\"prompt\":\(json)}\n", of: ["prompt", "--json"], folder)
        }
        for text in [
            "", "shop\n", "0 shop\n", "-1 shop\n", "\(pid)shop\n", "\(pid) no end",
            "\(pid) caf\u{E9}\n",
            "\(pid) red\u{1B}[31m\n", "99999999999999999999 shop\n",
            // Not all of them are shown, or not in this order.
            "\(pid) a b c d\n", "\(pid) a b!stale\n",
        ] {
            try Data(text.utf8).write(to: file)
            for arguments in [["prompt"], ["prompt", "--json"]] {
                try await QuickAuthc.expectLeft(arguments, folder, [:], "\(text.debugDescription)")
            }
        }
        // Signs that JSON escapes.
        try Data("\(pid) a\"b\\c\n".utf8).write(to: file)
        try await QuickAuthc.expectSame("a\"b\\c\n", of: ["prompt"], folder)
        try await QuickAuthc.expectLeft(["prompt", "--json"], folder)
    }

    @Test("leaves the prompt to the full program if settings may change it")
    func promptSettings() async throws {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for name in ["authd", "own/authd"] {
            try FileManager.default.createDirectory(atPath: folder + "/" + name, withIntermediateDirectories: true)
        }
        let pid = ProcessInfo.processInfo.processIdentifier
        try Data("\(pid) shop:7\n".utf8).write(to: URL(filePath: folder + "/authd/prompt"))
        let variables = ["XDG_CONFIG_HOME": folder + "/own"]
        let settings = URL(filePath: folder + "/own/authd/authd.toml")
        for text in ["", "[prompt]\n#format = \"x\"\n \t# attention_only\n", "log_level = \"info\"\n[prompt]"] {
            try Data(text.utf8).write(to: settings)
            try await QuickAuthc.expectSame("shop:7\n", of: ["prompt"], folder, variables)
        }
        for (text, shown) in [
            ("[prompt]\nattention_only = true\n", ""), ("prompt.format = \"<{session}>\"", "<shop>\n"),
            ("\n\n  prompt = { folder_only = true } # x\n", ""),
        ] {
            try Data(text.utf8).write(to: settings)
            try await QuickAuthc.expectLeft(["prompt"], folder, variables, "\(text)")
            let full = try await Program.run(["prompt"], folder: folder, environment: variables)
            #expect(full.output == shown && full.errors.isEmpty && full.status == 0, "\(full)")
        }
        // Without a home, it is not known where the settings are.
        try await QuickAuthc.expectLeft(["prompt"], folder, ["HOME": ""])
    }

    /// A colon and the mark after it are one character, and so are Malayalam's dot reph and the sign after it.
    @Test("the full program finds the parts of a word whatever the user's name begins or ends with")
    func promptMarks() async throws {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for name in ["authd", "own/authd"] {
            try FileManager.default.createDirectory(atPath: folder + "/" + name, withIntermediateDirectories: true)
        }
        let pid = ProcessInfo.processInfo.processIdentifier
        let line = "\(pid) wiki:b\u{D4E} shop:\u{301}a\u{D4E}!sign_in_required one\n"
        try Data(line.utf8).write(to: URL(filePath: folder + "/authd/prompt"))
        let settings = URL(filePath: folder + "/own/authd/authd.toml")
        for (text, shown) in [
            ("format = \"{session}/{state}\"", "shop/sign_in_required wiki/ one/\n"),
            ("format = \"{session}\"\nattention_only = true", "shop\n"),
        ] {
            try Data("[prompt]\n\(text)\n".utf8).write(to: settings)
            let full = try await Program.run(
                ["prompt"], folder: folder, environment: ["XDG_CONFIG_HOME": folder + "/own"])
            #expect(full.output == shown && full.errors.isEmpty && full.status == 0, "\(full)")
        }
    }

    @Test("a closed or full output is left to the full program: a token is never written to another descriptor")
    func outputs() async throws {
        let agent = try TestAgent(replies: ["agent.ping": .success([:]), "token.get": .success(Self.token)])
        defer { agent.stop() }
        _ = try await QuickAuthc.run(["token"], agent.folder)
        let command = { (redirection: String) in ["-c", "\(agent.folder)/authc token \(redirection); exit $?"] }
        for redirection in [">&-", ">/dev/full", "<&- >&-"] {
            let result = try await Program.run(command(redirection), folder: agent.folder, program: "/bin/bash")
            #expect(result.errors == QuickAuthc.needsFullProgram(agent.folder) && result.status == 70, "\(redirection)")
        }
        // Without stderr nobody sees the message.
        let silent = try await Program.run(command("2>&- <&-"), folder: agent.folder, program: "/bin/bash")
        #expect(silent.output.isEmpty && silent.status == 70)
    }

    @Test("a token is written whole to a pipe that takes less, and at once")
    func partialWrites() async throws {
        let long = String(repeating: "a", count: 30_000)
        let agent = try TestAgent(replies: [
            "agent.ping": .success([:]),
            "token.get": .success(Samples.token(long)),
        ])
        defer { agent.stop() }
        #expect(try await QuickAuthc.runAlone(["token"], agent.folder).output == long + "\n")
        // F_SETPIPE_SZ is 1031: the smallest pipe, and it does not block.
        let script = """
            import fcntl, os, subprocess, sys
            reader, writer = os.pipe()
            fcntl.fcntl(writer, 1031, 4096)
            os.set_blocking(writer, False)
            child = subprocess.Popen([sys.argv[1], "token"], stdout=writer)
            os.close(writer)
            print(len(os.fdopen(reader, "rb").read()), child.wait())
            """
        let result = try await Program.run(
            ["-c", script, agent.folder + "/authc"], folder: agent.folder, program: "/usr/bin/python3")
        #expect(result.output == "30001 0\n", "\(result.errors)")
    }

    @Test("does not start a program that other users can change")
    func untrusted() async throws {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let program = try Program.copy(to: folder)
        #expect(try await Program.run(["--help"], folder: folder, program: program).status == 0)
        #expect(chmod(program + "-full", 0o757) == 0)
        let result = try await Program.run(["--help"], folder: folder, program: program)
        #expect(result.output.isEmpty && result.status == 70)
        #expect(result.errors == "authc: its owner or mode is not safe, so it is not started: \(program)-full.\n")
        #expect(chmod(program + "-full", 0o600) == 0)
        let closed = try await Program.run(["--help"], folder: folder, program: program)
        #expect(closed.errors == "authc: cannot start \(program)-full: Permission denied.\n" && closed.status == 70)
    }

    @Test("finds the full program in its own folder, or where make install puts it, even through a link")
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
            let result = try await Program.run(["--help"], folder: folder, program: folder + "/" + program)
            #expect(result.output.hasPrefix("OVERVIEW: ") && result.status == 0)
        }
    }
}
