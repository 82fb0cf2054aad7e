import AuthWire
import Foundation
import TestSupport
import Testing

@Suite("authc doctor --fix and --report", .timeLimit(.minutes(1)))
struct DoctorFixTests {
    private static func agent(
        _ sessions: [JSON] = [], folder: String? = nil, providers: JSON = [:],
        reload: Result<JSON, AgentError> = .success(["message": .string(ReloadResult.unchanged)])
    ) throws -> TestAgent {
        let replies: [String: Result<JSON, AgentError>] = [
            "agent.info": .success([
                "version": .string(Release.version), "protocol": .integer(Int64(Release.protocolNumber)), "pid": 1,
                "started_at": 1, "store": ["kind": "memory", "state": "ready"],
            ]),
            "agent.reload": reload,
            "network.status": .success(["state": "online", "since": 1, "providers": providers]),
            "session.list": .success(["sessions": .array(sessions)]),
        ]
        return try TestAgent(folder: folder, replies: replies)
    }

    private static func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test("an agent that gives limited access is recognized, and it is not another program")
    func limited() async throws {
        let agent = try TestAgent(replies: [
            "agent.info": .success([
                "version": .string(Release.version), "protocol": .integer(Int64(Release.protocolNumber)),
            ])
        ])
        defer { agent.stop() }
        let found = try await Program.run(["doctor", "--json"], folder: agent.folder)
        #expect(found.status == 77 && found.output.contains("limited access"), "\(found)")
        #expect(!found.output.contains("another program"), "\(found)")
    }

    @Test("what Landlock allows beyond the usual is a warning, and a sealed file that it refuses has advice")
    func landlock() async throws {
        let agent = try TestAgent(replies: [
            "agent.info": .success([
                "version": .string(Release.version), "protocol": .integer(Int64(Release.protocolNumber)), "pid": 1,
                "started_at": 1, "landlock": "on", "landlock_notes": ["authd can read all of /opt/ada"],
                "store": [
                    "kind": "sealed-file", "state": "failed",
                    "message": .string("cannot open the file: \(SystemError.text(EACCES))"),
                ],
            ]),
            "agent.reload": .success(["message": "Nothing has changed: the agent has the current settings and profiles."]),
        ])
        defer { agent.stop() }
        let found = try await Program.run(["doctor", "--json"], folder: agent.folder)
        #expect(found.output.contains("authd can read all of /opt/ada"), "\(found)")
        #expect(found.output.contains("authc agent restart"), "\(found)")
    }

    @Test("files that others can change are problems, and --fix takes the permission away")
    func files() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let files = ["authd.toml", "providers/shop.toml"].map { agent.folder + "/.config/authd/" + $0 }
        try FileManager.default.createDirectory(
            atPath: agent.folder + "/.config/authd/providers", withIntermediateDirectories: true)
        for file in files {
            try "# \n".write(toFile: file, atomically: false, encoding: .utf8)
            #expect(chmod(file, 0o666) == 0)
        }
        let found = try await Program.run(["doctor"], folder: agent.folder)
        #expect(found.status == 78 && found.output.hasPrefix("✗"), "\(found)")
        // On one screen, the lines are wrapped.
        let words = found.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.contains("can be changed by everybody, so authd refuses it"), "\(words)")
        #expect(found.errors.contains("`authc doctor --fix` applies the safe fixes"), "\(found.errors)")
        #expect(try files.map(Self.mode) == [0o666, 0o666])

        let fixed = try await Program.run(["doctor", "--fix"], folder: agent.folder)
        #expect(!fixed.output.contains("can be changed"), "\(fixed)")
        for file in files { #expect(fixed.errors.contains("fixed: chmod go-w \(file)"), "\(fixed.errors)") }
        #expect(try files.map(Self.mode) == [0o644, 0o644])
    }

    @Test("the mode of a file is reported once, with the command of --fix, and each other problem on its own line")
    func fileModeOnce() async throws {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/.config/authd/authd.toml"
        let mode = "\(path): expected a file that others cannot change (`chmod o-w \(path)`), found mode 666"
        let others = ["\(folder)/a.toml:3: name: expected text, found 1", "\(folder)/a.toml:9: x: expected y, found z"]
        for (details, isShown) in [([mode], false), ([mode] + others, true)] {
            let broken = AgentError(.validation, "The settings are broken.", details: details)
            let agent = try Self.agent(folder: folder, reload: .failure(broken))
            defer { agent.vanish() }
            try FileManager.default.createDirectory(
                atPath: folder + "/.config/authd", withIntermediateDirectories: true)
            try "# \n".write(toFile: path, atomically: false, encoding: .utf8)
            #expect(chmod(path, 0o666) == 0)
            let found = try await Program.run(["doctor"], folder: folder)
            #expect(found.status == 78 && found.output.components(separatedBy: "chmod").count == 2, "\(found)")
            #expect(found.output.contains("`chmod go-w \(path)`"), "\(found)")
            for other in others {
                #expect(found.output.split(separator: "\n").contains { $0.hasSuffix(other) } == isShown, "\(found)")
            }
        }
    }

    @Test("rules that others can change and keys that others can read are problems, and --fix corrects their modes")
    func privateFiles() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let (settings, state) = (agent.folder + "/.config/authd", agent.folder + "/.local/state/authd/http")
        let (rules, key, program) = (settings + "/policy.toml", agent.folder + "/sealed.key", state + "/shop.key")
        for folder in [settings, state] {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }
        try "sealed_key = \"\(key)\"\n".write(toFile: settings + "/authd.toml", atomically: false, encoding: .utf8)
        for (file, mode) in [(rules, 0o666), (key, 0o640), (program, 0o604)] as [(String, mode_t)] {
            try "# \n".write(toFile: file, atomically: false, encoding: .utf8)
            #expect(chmod(file, mode) == 0)
        }
        let found = try await Program.run(["doctor", "--json"], folder: agent.folder)
        #expect(found.status == 78, "\(found)")
        let fixes = ["chmod go-w \(rules)", "chmod 600 \(key)", "chmod 600 \(program)"]
        for fix in fixes { #expect(found.output.contains("\"fix\":\"\(fix)\""), "\(fix): \(found.output)") }

        let fixed = try await Program.run(["doctor", "--fix"], folder: agent.folder)
        for fix in fixes { #expect(fixed.errors.contains("fixed: \(fix)\n"), "\(fixed.errors)") }
        #expect(try [rules, key, program].map(Self.mode) == [0o644, 0o600, 0o600])
        #expect(try await Program.run(["doctor"], folder: agent.folder).status == 0)
    }

    @Test("whether a group's permission is a problem is for authd to say")
    func group() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let folder = agent.folder + "/.config/authd"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try "# \n".write(toFile: folder + "/authd.toml", atomically: false, encoding: .utf8)
        #expect(chmod(folder + "/authd.toml", 0o664) == 0)
        let check = try await Program.run(
            ["--check", "--config", folder + "/authd.toml"], folder: agent.folder,
            program: Programs.folder + "/authd")
        let found = try await Program.run(["doctor"], folder: agent.folder)
        #expect(found.output.contains("chmod go-w") == (check.status == 78), "\(check) \(found)")
    }

    @Test("--fix starts the socket's unit if no other socket is named, and reports a failure")
    func socket() async throws {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let program = folder + "/systemctl"
        try "#!/bin/sh\necho \"$@\" >> '\(folder)/calls'\nexit 5\n".write(
            toFile: program, atomically: false, encoding: .utf8)
        #expect(chmod(program, 0o755) == 0)
        try SystemdManager.add(to: folder)
        let environment = ["PATH": "\(folder):/usr/bin:/bin"]
        let named = try await Program.run(
            ["doctor", "--fix", "--socket", folder + "/other"], folder: folder, environment: environment)
        #expect(named.status == 69, "\(named)")
        #expect(!FileManager.default.fileExists(atPath: folder + "/calls"))
        let tried = try await Program.run(["doctor", "--fix"], folder: folder, environment: environment)
        #expect(tried.status == 69, "\(tried)")
        #expect(
            tried.errors.contains("not fixed: `systemctl --user start authd.socket` ended with status 5"), "\(tried)")
        #expect(try String(contentsOfFile: folder + "/calls", encoding: .utf8) == "--user start authd.socket\n")
    }

    @Test("the report has no names, paths and values of the user, but the settings and lines that have problems")
    func report() async throws {
        let agent = try Self.agent(
            [
                Samples.status([
                    "session": "wombat", "provider": "shop.internal", "state": "stale", "environment": "shire",
                    "message": "ada@example.org at https://api.shop.internal/v1 has ended; see Ada Lovelace.",
                    "last_error": "idp.shire.example refused /opt/mordor/ca.pem",
                    "user": ["email": "ada@example.org", "name": "Ada Lovelace", "id": "4711"],
                ]),
                Samples.status(["session": "quokka", "default": false]),
            ], providers: ["shop.internal": "timeout", "depot": "reachable"],
            reload: .failure(
                AgentError(
                    .validation, "The settings have problems: wombat",
                    details: [
                        "/opt/gondor/authd.toml:3: http.ca_file: expected a file, found /opt/mordor/ca.pem",
                        "/opt/gondor/authd.toml:5: hook[0].command: expected a program, found /opt/rohan/hook",
                        "/opt/gondor/authd.toml:9: providers.depot.environments.shire: expected an URL, found x: y",
                        "/opt/gondor/authd.toml:11: sauron: expected one of store, found sauron",
                        "/opt/gondor/providers/depot.toml:7: header.Mordor: expected text, found idp.shire.example",
                        "/opt/gondor/providers/depot.toml: expected a file that others cannot change, found rohan",
                        "gollum",
                    ])))
        defer { agent.stop() }
        let settings = agent.folder + "/.config/authd"
        try FileManager.default.createDirectory(atPath: settings, withIntermediateDirectories: true)
        try "[http]\nproxy = \"http://ada:secret@proxy.internal:1\"\n[providers.\"shop.internal\"]\nsauron = 1\n".write(
            toFile: settings + "/authd.toml", atomically: false, encoding: .utf8)
        let report = try await Program.run(
            ["doctor", "--report", "--socket", agent.path], folder: agent.folder,
            environment: ["USER": "frodo", "HOME": agent.folder])
        for word in [
            "wombat", "quokka", "shop.internal", "depot", "ada", "Ada", "Lovelace", "4711", "secret", "shire", "idp.",
            "mordor", "Mordor", "gondor", "rohan", "sauron", "gollum", "frodo", agent.folder, agent.path, "/opt",
        ] {
            #expect(!report.output.contains(word), "\(word) in \(report.output)")
        }
        for line in [
            "authc \(Release.version), authd \(Release.version)", "Linux", "store: memory, ready",
            "settings: http.proxy", "provider-2: timeout", "provider-1: reachable",
            "session: session-1, provider-2, stale, the last renewal failed",
            "session: session-2, app-template, active",
            ": socket: other", "problem: settings: authd.toml:3: http.ca_file: invalid value",
            "problem: settings: authd.toml:5: hook[N].command: invalid value",
            "problem: settings: authd.toml:9: providers.NAME.environments.NAME: invalid value",
            "problem: settings: authd.toml:11: invalid", "problem: settings: profile-1:7: invalid",
            "problem: settings: profile-1: invalid", "problem: settings: invalid", "problem: sessions",
        ] {
            #expect(report.output.contains(line), "\(line) is not in \(report.output)")
        }
    }
}
