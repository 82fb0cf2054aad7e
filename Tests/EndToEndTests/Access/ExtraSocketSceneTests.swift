import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// The extra socket with real sessions, used with `authc`.
@Suite("The extra socket, with sessions", .timeLimit(.minutes(2)))
struct ExtraSocketSceneTests {
    @Test("a call of a listed endpoint works; the token, other endpoints and other requests are refused")
    func calls() async throws {
        try await Scene.play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            #expect(try await scene.login(.envelope).status == 0)
            let extra = try await scene.openExtra(
                "sessions = [\"app-template\"]\nclasses = [\"status\", \"token\", \"act\"]\nendpoints = [\"users\"]")
            let list = try await scene.authc(["list", "--socket", extra])
            #expect(list.status == 0 && list.out.contains("app-template"), "\(list)")
            #expect(!list.out.contains("envelope"), "\(list)")
            let users = try await scene.authc(["call", "users", "--socket", extra])
            #expect(users.status == 0 && users.out.contains("ada@example.org"), "\(users)")
            for command in [
                ["token"], ["token", "--scope", "read"], ["call", "preferences"], ["request", "GET", "/users"],
                ["whoami", "--fresh"], ["logout"],
            ] {
                let refused = try await scene.authc(command + ["--socket", extra, "--no-input"])
                #expect(refused.status == 77 && refused.out.isEmpty, "\(command): \(refused)")
            }
            let bundle = try await onThread { try RawClient(extra).ask("session.export") }
            #expect(bundle.errorKind == "denied")
            let hidden = try await scene.authc(["status", "-s", "envelope", "--socket", extra])
            let missing = try await scene.authc(["status", "-s", "missing", "--socket", extra])
            #expect(hidden.status == 64 && hidden.err == missing.err.replacing("missing", with: "envelope"))
        }
    }

    @Test("token.get returns only a token with a listed scope, which is a different one than the session's own")
    func narrowed() async throws {
        try await OAuthScene.play { scene, server in
            #expect(try await scene.loginByBrowser().status == 0)
            let own = try await scene.authc(["token"]).out
            let extra = try await scene.openExtra(
                "sessions = [\"oauth-test\"]\nmethods = [\"token.get\"]\nscopes = [\"read\"]")
            let narrow = try await scene.authc(["token", "--scope", "read", "--socket", extra])
            #expect(narrow.status == 0 && narrow.out != own, "\(narrow)")
            for more in [
                [], ["--scope", "write"], ["--scope", "read", "--scope", "write"], ["--audience", "https://a.example"],
            ] {
                let refused = try await scene.authc(["token", "--socket", extra] + more)
                #expect(refused.status == 77 && refused.out.isEmpty, "\(more): \(refused)")
            }
            // Even on the way from memory: the user may have it.
            server.misbehave(.grantsMore)
            let list = "sessions = [\"oauth-test\"]\nmethods = [\"token.get\"]\nscopes = [\"list\"]"
            _ = try await scene.openExtra(list)
            for _ in 0..<2 {
                let wider = try await scene.authc(["token", "--scope", "list", "--socket", extra])
                #expect(wider.status == 77 && wider.out.isEmpty && wider.err.contains("more scopes"), "\(wider)")
                #expect(try await scene.authc(["token", "--scope", "list"]).status == 0)
            }
            // The rules are read again for what is already in memory.
            _ = try await scene.openExtra("sessions = [\"oauth-test\"]\nclasses = [\"status\"]")
            let off = try await scene.authc(["token", "--scope", "read", "--socket", extra])
            #expect(off.status == 77 && off.out.isEmpty, "\(off)")
        }
    }
}
