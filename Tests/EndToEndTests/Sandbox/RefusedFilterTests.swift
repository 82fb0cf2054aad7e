import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// A kernel that refuses the filter of system calls of the process that identifies clients.
@Suite("Landlock without seccomp filters", .timeLimit(.minutes(2)))
struct RefusedFilterTests {
    private static func refusing() throws -> [String] { try Peer.Program.noFilters.command() }

    @Test("if Landlock is required, the start ends; otherwise the agent works without it, and says so")
    func refused() async throws {
        try await Scene.play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            let reason = "it does not answer; the kernel may have refused its filter"
            let isSupported = try await { () async throws in
                try await scene.restart(with: ["AUTHD_LANDLOCK": "on"])
                return try AgentInfo(try await scene.ask("agent.info", [:])).landlock != .unsupported
            }()
            guard isSupported else { return }
            try await scene.agent.child.end()

            let refused = try await scene.desktop.run(
                Self.refusing() + [Programs.authd], with: ["AUTHD_LANDLOCK": "on"])
            #expect(refused.status == 77 && refused.err.contains(reason), "\(refused)")
            #expect(refused.err.contains("AUTHD_LANDLOCK is on"), "\(refused)")

            // It is used by default if there is a service manager of the user, which these files stand for.
            _ = try scene.desktop.folder.write("", to: "run/systemd/private")
            _ = try scene.desktop.folder.write("", to: "run/bus")
            try await scene.startAgent(with: ["AUTHD_LANDLOCK": "auto"], through: Self.refusing())
            #expect(try AgentInfo(try await scene.ask("agent.info", [:])).landlock == .failed)
            #expect(try scene.agent.child.err.text.contains(reason))
            let doctor = try await scene.authc(["doctor"])
            #expect(doctor.out.contains("because Landlock failed"), "\(doctor)")
            // It reads what it needs by itself.
            #expect(try await scene.authc(["token"]).status == 0)
            let entry = try AuditList(try await scene.agent.json("log")).entries.last { $0.method == "token.get" }
            #expect(entry?.exe?.contains("/authc") == true && entry?.startedAt != nil)

            // The same without the filter.
            try await scene.restart(with: ["AUTHD_LANDLOCK": "auto"])
            #expect(try AgentInfo(try await scene.ask("agent.info", [:])).landlock == .on)
        }
    }
}
