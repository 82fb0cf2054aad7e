import AuthWire
import Foundation
import TestSupport
import Testing

/// What `authc config set` prints about a change, after the file's name.
@Suite("What a change of the settings applies to", .timeLimit(.minutes(2)))
struct ConfigChangeTests {
    private static let promptEffect =
        "it applies to `authc prompt` now, and to the prompts of new shells\n"

    private static func agent(reload: String = ReloadResult.unchanged) throws -> TestAgent {
        try TestAgent(replies: [
            "agent.ping": .success([:]), "agent.reload": .success(["message": .string(reload)]),
            "session.list": .success(["sessions": [Samples.status(["session": "work"])]]),
        ])
    }

    @Test("a setting of the prompt, which authd does not use")
    func prompt() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let line = ["config", "set", "prompt.attention_only"]
        let result = try await Program.run(line + ["true"], folder: agent.folder)
        #expect(result.status == 0 && result.errors.hasSuffix("\n" + Self.promptEffect), "\(result)")
        #expect(!result.errors.contains(ReloadResult.unchanged), "\(result)")
        let json = try JSON(parsing: try await Program.run(line + ["false", "--json"], folder: agent.folder).output)
        #expect(json["changes"]?.stringValue.map { $0 + "\n" } == Self.promptEffect, "\(json)")
    }

    @Test("with other changes in the file, these are reported too")
    func otherChanges() async throws {
        let agent = try Self.agent(reload: "Log level: debug.")
        defer { agent.stop() }
        let result = try await Program.run(
            ["config", "set", "prompt.format", "{session}"], folder: agent.folder)
        #expect(result.errors.hasSuffix("\nauthd: Log level: debug.\n" + Self.promptEffect), "\(result)")
        let other = try await Program.run(["config", "set", "log_level", "debug"], folder: agent.folder)
        #expect(other.errors.hasSuffix("\nauthd: Log level: debug.\n"), "\(other)")
    }

    @Test("a session that does not exist is reported, and a similar one is suggested")
    func session() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let settings = agent.folder + "/.config/authd/authd.toml"
        try FileManager.default.createDirectory(
            atPath: agent.folder + "/.config/authd", withIntermediateDirectories: true)
        try "[[folder]]\npath = \"/srv\"\nsession = \"home\"\n".write(
            toFile: settings, atomically: true, encoding: .utf8)
        for key in ["default_session", "folder[0].session"] {
            for (name, warning) in [
                ("wrk", "there is no session named wrk yet; did you mean work?\n"),
                ("shop", "there is no session named shop yet\n"), ("work", nil),
            ] as [(String, String?)] {
                let result = try await Program.run(["config", "set", key, name], folder: agent.folder)
                #expect(result.status == 0, "\(result)")
                #expect(result.errors.hasSuffix("\n" + (warning ?? "authd: \(ReloadResult.unchanged)\n")), "\(result)")
                let saved = try await Program.run(["config", "get", key], folder: agent.folder)
                #expect(saved.output == name + "\n", "\(saved)")
            }
        }
        let json = try await Program.run(
            ["config", "set", "default_session", "wrk", "--json"], folder: agent.folder)
        let warning = try JSON(parsing: json.output)["warning"]
        #expect(warning == "there is no session named wrk yet; did you mean work?" && json.errors.isEmpty, "\(json)")
    }

    @Test("without an agent, nothing is said about a session")
    func noAgent() async throws {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let result = try await Program.run(["config", "set", "default_session", "wrk"], folder: folder)
        #expect(result.status == 0 && result.errors.hasSuffix("it reads the file when it starts\n"), "\(result)")
        let prompt = try await Program.run(["config", "set", "prompt.folder_only", "true"], folder: folder)
        #expect(prompt.status == 0 && prompt.errors.hasSuffix("\n" + Self.promptEffect), "\(prompt)")
    }

    @Test(
        "a change that is refused, or changes nothing, leaves no folder behind, and removes none that was there",
        arguments: [
            (["set", "http.proxy", "ftp://proxy"], 78), (["set", "notifications", "maybe"], 64),
            (["unset", "http.proxy"], 0), (["edit"], 0),
        ] as [([String], Int32)])
    func refused(arguments: [String], status: Int32) async throws {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let result = try await Program.run(
            ["config"] + arguments, folder: folder, environment: ["EDITOR": "true"])
        #expect(result.status == status, "\(result)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [], "\(result)")

        let profiles = folder + "/.config/authd/providers"
        try FileManager.default.createDirectory(atPath: profiles, withIntermediateDirectories: true)
        let again = try await Program.run(
            ["config"] + arguments, folder: folder, environment: ["EDITOR": "true"])
        #expect(again.status == status && FileManager.default.fileExists(atPath: profiles), "\(again)")
    }

    @Test("a folder that an agent may use by now stays, even if nothing was changed", arguments: [true, false])
    func usedFolder(isRunning: Bool) async throws {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        // The agent was started while the editor was open, and still runs or was killed.
        let agent = isRunning ? getpid() : Int32(4_194_304)
        let editor = "mkdir -m 700 \(folder)/authd; echo \(agent) > \(folder)/authd/prompt; true"
        let result = try await Program.run(["config", "edit"], folder: folder, environment: ["EDITOR": editor])
        #expect(result.status == 0, "\(result)")
        let isThere = FileManager.default.fileExists(atPath: folder + "/.config/authd")
        #expect(isThere == isRunning, "\(result)")
    }
}
