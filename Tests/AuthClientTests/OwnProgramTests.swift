import AuthWire
import TestSupport
import Testing

/// The program that has authc's commands is not the one that users start.
@Suite("authc in its own lists", .timeLimit(.minutes(1)))
struct OwnProgramTests {
    private static let path = Programs.folder + "/authc-full"

    /// - Parameter entry: the changes of the entry.
    private static func agent(_ entry: [String: JSON] = [:]) throws -> TestAgent {
        let list = Samples.auditList([Samples.auditItem(7, "token.get", path, secondsAgo: 5, entry)])
        return try TestAgent { peer, request in
            peer.reply(request, request.method == "audit.list" ? list : [:])
            if request.method == "events.subscribe" { peer.send(Samples.snapshot([Samples.status()])) }
        }
    }

    @Test("authc log names it authc; with --json, and if another program may have its path, the path is shown")
    func log() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let text = try await Program.run(["log"], folder: agent.folder)
        #expect(text.output.hasSuffix("  authc (pid 41)\n"), "\(text)")
        let json = try await Program.run(["log", "--json"], folder: agent.folder)
        #expect(json.output.contains(Self.path), "\(json)")
        let other = try Self.agent(["exe_uncertain": true])
        defer { other.stop() }
        let uncertain = try await Program.run(["log"], folder: other.folder)
        #expect(uncertain.output.contains("\(Self.path) (path not verified"), "\(uncertain)")
    }

    @Test("authc watch names it authc")
    func watch() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let terminal = try await Terminal("authc watch", folder: agent.folder, environment: ["NO_COLOR": "1"])
        await terminal.waits(for: "authc  token.get work")
        #expect(!terminal.text.contains("authc-full"), "\(terminal.text)")
        terminal.type("q")
        await terminal.ends()
    }
}
