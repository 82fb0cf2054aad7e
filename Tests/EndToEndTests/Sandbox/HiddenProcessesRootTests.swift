import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// Landlock where `/proc` hides processes (`hidepid` of proc(5)). `Tests/run-suites` leaves suites of this name out
/// unless it runs as root: others cannot mount `/proc` without another user namespace, and then each client counts as
/// sandboxed.
@Suite("Landlock with hidepid (as root)", .timeLimit(.minutes(2)))
struct HiddenProcessesRootTests {
    /// Becomes the command that follows, with a separate `/proc`. Root is in the group 0, which sees all processes
    /// unless the mount names another one.
    private static func mounted(_ options: String) -> [String] {
        ["unshare", "-m", "sh", "-c", "mount -t proc -o \"$0\" proc /proc && exec \"$@\"", options]
    }

    private static let onlyTraced = mounted("hidepid=2,gid=65533")

    @Test("the agent knows the executables of its clients, not their units and terminals, and says so")
    func reported() async throws {
        try await Scene.play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            try await scene.restart(with: ["AUTHD_LANDLOCK": "on"], through: Self.onlyTraced)
            let info = try AgentInfo(try await scene.ask("agent.info", [:]))
            guard info.landlock != .unsupported else { return }
            #expect(info.landlock == .on && info.landlockNotes.contains { $0.contains("hidepid") }, "\(info)")
            #expect(try scene.agent.child.err.text.contains("/proc is mounted with hidepid"))
            let doctor = try await scene.authc(["doctor"])
            #expect(doctor.out.contains("/proc is mounted with hidepid"), "\(doctor)")
            #expect(try await scene.authc(["token"]).status == 0)
            let entry = try #require(
                try AuditList(try await scene.agent.json("log")).entries.last { $0.method == "token.get" })
            #expect(entry.exe?.contains("/authc") == true && entry.error == nil, "\(entry)")
            #expect(
                entry.startedAt == nil && entry.unit == nil && entry.slice == nil && entry.terminal == nil, "\(entry)")
        }
    }

    @Test("a rule about units denies what a rule about executables allows; without Landlock neither is unknown")
    func rules() async throws {
        try await Scene.play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            func apply(_ tests: String) async throws {
                try scene.writePolicy(
                    "enforce = true\n[[rule]]\nname = \"known\"\neffect = \"allow\"\nmethod = \"token.get\"\n\(tests)\n"
                )
                try await onThread { [path = scene.desktop.folder.path] in
                    let client = try RawClient(path + "/run/authd/socket")
                    let text = try client.ask("policy.apply")["result"]?["text"] ?? ""
                    #expect(try client.ask("policy.apply", ["accepted": text])["result"]?["applied"] == true)
                }
            }
            try await apply("unit = \"no-such.service\"")
            for (mode, isDenied) in [("on", true), ("off", false)] {
                try await scene.restart(with: ["AUTHD_LANDLOCK": mode], through: Self.onlyTraced)
                let info = try AgentInfo(try await scene.ask("agent.info", [:]))
                guard info.landlock != .unsupported else { return }
                let token = try await scene.authc(["token"])
                #expect((token.status == 77) == isDenied, "\(mode): \(token)")
                #expect(token.err.contains("tests unit, which is unknown") == isDenied, "\(mode): \(token)")
            }
        }
    }
}
