import AuthWire
import Foundation
import TestSupport
import Testing

@Suite("authc doctor --fix and --report", .timeLimit(.minutes(1)))
struct DoctorFixTests {
    private static func agent(_ sessions: [JSON] = [], providers: JSON = [:]) throws -> TestAgent {
        try TestAgent(replies: [
            "agent.info": .success([
                "version": .string(Release.version), "protocol": .integer(Int64(Release.protocolNumber)), "pid": 1,
                "started_at": 1, "store": ["kind": "memory", "state": "ready"],
            ]),
            "agent.reload": .success(["message": .string(MessageResult.unchanged)]),
            "network.status": .success(["state": "online", "since": 1, "providers": providers]),
            "session.list": .success(["sessions": .array(sessions)]),
        ])
    }

    private static func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
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
        #expect(found.errors.contains("`authc doctor --fix` does what is safe"), "\(found.errors)")
        #expect(try files.map(Self.mode) == [0o666, 0o666])

        let fixed = try await Program.run(["doctor", "--fix"], folder: agent.folder)
        #expect(!fixed.output.contains("can be changed"), "\(fixed)")
        for file in files { #expect(fixed.errors.contains("fixed: chmod go-w \(file)"), "\(fixed.errors)") }
        #expect(try files.map(Self.mode) == [0o644, 0o644])
    }

    @Test("--fix starts the socket's unit if nobody has named another socket, and reports a failure")
    func socket() async throws {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let program = folder + "/systemctl"
        try "#!/bin/sh\necho \"$@\" >> '\(folder)/calls'\nexit 5\n".write(
            toFile: program, atomically: false, encoding: .utf8)
        #expect(chmod(program, 0o755) == 0)
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

    @Test("the report names no account, session, server, own provider or home, but bundled providers and settings")
    func report() async throws {
        let message = "ada@example.org at https://api.shop.internal/v1 has ended; see ~ and Ada Lovelace."
        let agent = try Self.agent(
            [
                Samples.status([
                    "session": "wombat", "provider": "shop.internal", "state": "stale", "message": .string(message),
                    "user": ["email": "ada@example.org", "name": "Ada Lovelace", "id": "4711"],
                ]),
                Samples.status(["session": "quokka", "default": false]),
            ], providers: ["shop.internal": "timeout"])
        defer { agent.stop() }
        let settings = agent.folder + "/.config/authd"
        try FileManager.default.createDirectory(atPath: settings, withIntermediateDirectories: true)
        try "[http]\nproxy = \"http://ada:secret@proxy.internal:1\"\n[providers.\"shop.internal\"]\n".write(
            toFile: settings + "/authd.toml", atomically: false, encoding: .utf8)
        let report = try await Program.run(["doctor", "--report"], folder: agent.folder)
        for word in ["wombat", "quokka", "shop.internal", "ada", "Ada", "Lovelace", "4711", "secret", agent.folder] {
            #expect(!report.output.contains(word), "\(word) in \(report.output)")
        }
        for word in [
            "authc \(Release.version), authd \(Release.version)", "Linux", "store: memory, ready",
            "settings: http.proxy", "session: session-1, provider-1, stale", "session: session-2, app-template, active",
            "problem: sessions: session-1: stale",
        ] {
            #expect(report.output.contains(word), "\(word) is not in \(report.output)")
        }
    }
}
