import AuthWire
import Foundation
import Glibc
import StandInBackends
import TestSupport
import Testing

/// `authc log`, with a real session and its API.
@Suite("The audit log with authc", .timeLimit(.minutes(2)))
struct AuditTests {
    @Test("it shows who got a token, which endpoint was called, and a reload by a signal; no value of them")
    func log() async throws {
        try await Scene.play { scene in
            #expect(try await scene.authc(["log"]).err.contains("Nothing has been recorded"))
            #expect(try await scene.login(.appTemplate).status == 0)
            let token = try await scene.authc(["token"]).out
            #expect(try await scene.authc(["call", "users", "limit=1"]).status == 0)
            #expect(try await scene.authc(["request", "GET", "/users?limit=1"]).status == 0)
            _ = try await scene.authc(["request", "GET", "/elsewhere/ada@example.org"])
            #expect(try await scene.authc(["call", "user", "id=4711"]).status != 64)
            kill(try scene.agent.child.pid, SIGHUP)
            var entries: [AuditItem] = []
            #expect(
                try await until {
                    entries = try AuditList(try await scene.agent.json("log", "-n", "100")).entries
                    return entries.last?.rule == "signal"
                })
            // The sign-in is recorded only if this test has no terminal.
            entries = entries.filter { $0.enforced == nil }
            #expect(
                entries.map(\.method) == [
                    "token.get", "api.call", "api.request", "api.request", "api.call", "agent.reload",
                ])
            #expect(
                entries.dropLast().allSatisfy { $0.session?.text == "app-template" && $0.rule.hasPrefix("default.") })
            #expect(entries.map(\.call) == [nil, "GET /users", "GET /users", "GET *", entries[4].call, nil])
            #expect(entries[4].call?.hasPrefix("GET /users/{") == true, "\(entries[4].call ?? "-")")
            #expect(entries[0].token?.count == 16 && entries[0].exe?.hasSuffix("/authc") == true)
            #expect(entries[5].pid == nil)

            let text = try await scene.authc(["log", "-n", "3"])
            let lines = text.out.split(separator: "\n")
            #expect(lines.count == 3 && lines[0].contains("api.request") && lines[2].contains("authd"), "\(text.out)")
            let all = try await scene.authc(["log"]).out + scene.authc(["log", "--json"]).out
            for value in [token.trimmingCharacters(in: .newlines), "4711\"", "ada@example.org", "elsewhere"] {
                #expect(!all.contains(value), "\(value)")
            }
            for wrong in ["0", "-1", "x"] {
                #expect(try await scene.authc(["log", "-n", wrong]).status == 64, "\(wrong)")
            }
        }
    }
}
