import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// The main job on real parts: real processes, a real bus and keyring, real HTTP.
@Suite("The main job", .serialized)
struct MainJobTests {
    static let sessions = Backend.allCases.map(\.rawValue)

    @Test("signs in to all five, with one item each in the keyring, and nothing after sign-out")
    func allFive() async throws {
        try await Scene.play { scene in
            for backend in Backend.allCases {
                let provider = backend.rawValue
                let done = try await scene.login(backend)
                #expect(done.status == 0, "\(provider): \(done.err)")
                let status = try await scene.agent.status(provider)
                #expect(status.state == .active)
                #expect(status.user?.email == "ada@example.org")
                let token = try await scene.agent.authc("token", "-s", provider)
                #expect(token.status == 0 && token.out.count > 20 && token.out.hasSuffix("\n"))
            }
            #expect(try await scene.desktop.keyringItems().count == 5)
            for provider in Self.sessions {
                #expect(try await scene.agent.authc("logout", "-s", provider).status == 0)
                #expect(try await scene.agent.authc("token", "-s", provider).status == 64)
            }
            #expect(try await scene.desktop.keyringItems() == [])
        }
    }

    @Test("validation and renewal work for each as its table says")
    func renewalOfEach() async throws {
        try await Scene.play { scene in
            for backend in Backend.allCases {
                let provider = backend.rawValue
                _ = try await scene.login(backend)
                let before = try await scene.agent.authc("token", "-s", provider).out
                #expect(try await scene.agent.authc("validate", "-s", provider).status == 0, "\(provider)")
                let renewed = try await scene.agent.authc("refresh", "-s", provider)
                // The third one cannot be renewed: this is reported, and its token stays.
                #expect(renewed.status == (provider == "anonymous-wall" ? 64 : 0), "\(provider): \(renewed.err)")
                let after = try await scene.agent.authc("token", "-s", provider).out
                if provider == "anonymous-wall" { #expect(after == before) }
                if ["envelope", "fork-in-the-road", "app-template"].contains(provider) { #expect(after != before) }
            }
        }
    }

    @Test("fifty processes around a renewal are one call to the backend")
    func fiftyProcesses() async throws {
        // Shorter than what the callers want, and long enough for all of them to come before the agent renews by itself.
        try await Scene.play(tokenSeconds: 50) { scene in
            _ = try await scene.login(.appTemplate)
            await scene.backends.setTokenLifetime(.seconds(3600), at: .appTemplate)
            await scene.backends.misbehave(
                .appTemplate, Misbehaviour(path: "/auth/refresh", .delay(.milliseconds(300))))
            let first = try await scene.agent.authc("token").out
            let outputs = try await withThrowingTaskGroup(of: Child.Output.self) { group in
                for _ in 1...50 { group.addTask { try await scene.agent.authc("token", "--min-valid", "60s") } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            try await scene.backends.waitForCalls { $0[.appTemplate, "POST /auth/refresh"] >= 1 }
            let renewed = try await scene.agent.authc("token", "--min-valid", "60s").out
            #expect(outputs.allSatisfy { $0.status == 0 && ($0.out == first || $0.out == renewed) })
            #expect(renewed != first)
            #expect(scene.backends.counts[.appTemplate, "POST /auth/refresh"] == 1)
        }
    }

    @Test("a killed agent picks every session up again without a sign-in")
    func killed() async throws {
        try await Scene.play { scene in
            for backend in Backend.allCases { _ = try await scene.login(backend) }
            let tokens = try await scene.tokens()
            let logins = scene.signIns
            try await scene.agent.child.end(SIGKILL)
            try await scene.startAgent()
            #expect(try await scene.tokens() == tokens)
            #expect(scene.signIns == logins)
        }
    }

    @Test("a provider with a temporary failure is retried, and the session recovers")
    func healsByItself() async throws {
        try await Scene.play(tokenSeconds: 12) { scene in
            _ = try await scene.login(.appTemplate)
            await scene.backends.misbehave(
                .appTemplate, Misbehaviour(path: "/auth/refresh", times: 1, .status(503)))
            let first = try await scene.agent.authc("token").out
            let watch = try await Child(
                [Programs.authc, "watch", "--json"], environment: scene.desktop.environment)
            #expect(await watch.out.wait(for: #""event":"renewed""#))
            let renewed = try await scene.agent.authc("token")
            #expect(renewed.status == 0 && renewed.out != first)
            #expect(scene.backends.counts[.appTemplate, "POST /auth/refresh"] >= 2)
            await watch.end()
        }
    }

    @Test("without the provider the valid token is served; after its end, state and cause are right")
    func providerAway() async throws {
        try await Scene.play(tokenSeconds: 10) { scene in
            _ = try await scene.login(.appTemplate)
            try await scene.backends.setListening(false, .appTemplate)
            #expect(try await scene.agent.authc("token").status == 0)
            let watch = try await Child(
                [Programs.authc, "watch", "--json"], environment: scene.desktop.environment)
            #expect(await watch.out.wait(for: #""state":"stale""#))
            let token = try await scene.agent.authc("token")
            #expect(token.status == 75, "\(token.err)")
            let stale = try await scene.agent.status("app-template")
            #expect(stale.cause == "provider_unreachable", "\(stale)")
            // This backend renews by the token itself: one that has ended is refused, and that is a final answer.
            try await scene.backends.setListening(true, .appTemplate)
            let ended = try await scene.agent.authc("wait", "--until", "signed_out", "--timeout", "60s")
            #expect(try await scene.agent.status("app-template").state == .signInRequired, "\(ended.err)")
            #expect(try await scene.login(.appTemplate).status == 0)
            await watch.end()
        }
    }

    @Test("a wrong password is refused with the backend's message", arguments: Backend.allCases)
    func wrongPassword(backend: Backend) async throws {
        try await Scene.play { scene in
            let refused = try await scene.login(backend, password: "Wrong-horse1")
            #expect(refused.status == 65)
            #expect(refused.err.contains("Invalid email or password"), "\(refused.err)")
            #expect(try await scene.desktop.keyringItems() == [])
        }
    }

    @Test("an HTML page instead of JSON is reported as such, and the session stays")
    func htmlPage() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.appTemplate)
            await scene.backends.misbehave(.appTemplate, Misbehaviour(path: "/auth/refresh", .html))
            let refreshed = try await scene.agent.authc("refresh", "-s", "app-template")
            #expect(refreshed.status == 76, "\(refreshed.err)")
            #expect(try await scene.agent.status("app-template").state == .active)
            #expect(try await scene.agent.authc("token", "-s", "app-template").status == 0)
        }
    }

    @Test("a final no of the provider ends the session, and nothing is deleted")
    func finalNo() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.forkInTheRoad)
            await scene.backends.misbehave(.forkInTheRoad, Misbehaviour(.revokeTokens))
            // The token authorizes its own renewal, so the token itself was refused.
            let refreshed = try await scene.agent.authc("refresh", "-s", "fork-in-the-road")
            #expect(refreshed.status == 3, "\(refreshed.err)")
            #expect(try await scene.agent.status("fork-in-the-road").state == .signInRequired)
            #expect(try await scene.desktop.keyringItems().count == 1)
            #expect(try await scene.login(.forkInTheRoad).status == 0)
            #expect(try await scene.agent.status("fork-in-the-road").state == .active)
        }
    }

    @Test("without a keyring the agent starts, reports that, and refuses to sign in")
    func noKeyring() async throws {
        try await Scene.play(keyring: false) { scene in
            let info = try await scene.agent.json("version")
            #expect(info["agent"]?["store"]?["state"]?.stringValue == "missing")
            let refused = try await scene.login(.appTemplate)
            #expect(refused.status == 4, "\(refused.err)")
            #expect(scene.signIns == 0)
            let doctor = try await scene.agent.authc("doctor")
            #expect(doctor.status == 4 && doctor.out.contains("there is no secret-service"), "\(doctor.out)")
        }
    }

    @Test("a second agent names the running one and does not disturb it")
    func secondAgent() async throws {
        try await Scene.play { scene in
            let second = try await scene.desktop.run([Programs.authd])
            #expect(second.status != 0)
            let words = "already running, pid \(try scene.agent.child.pid)"
            #expect(second.err.contains(words), "\(second.err)")
            let elsewhere = try await scene.desktop.run(
                [Programs.authd, "--socket", scene.desktop.folder.path + "/other/socket"])
            #expect(elsewhere.status == second.status)
            #expect(elsewhere.err.contains(words) && elsewhere.err.contains("same keyring"), "\(elsewhere.err)")
            #expect(try await scene.agent.authc("list").status == 0)
        }
    }

    @Test("the prompt file follows the sessions")
    func promptFile() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.appTemplate)
            let shows = try await until { try await scene.agent.authc("prompt").out.contains("app-template") }
            let prompt = try await scene.agent.authc("prompt")
            #expect(shows, "\(prompt.out)\(prompt.err)")
            let file = try String(contentsOfFile: scene.desktop.folder.path + "/run/authd/prompt", encoding: .utf8)
            #expect(file == "\(try scene.agent.child.pid) \(prompt.out)")
            try await scene.agent.child.end(SIGKILL)
            #expect(try await scene.authc(["prompt"]).out.isEmpty)
        }
    }

    @Test("no secret is in any log line, at any level")
    func noSecretInLogs() async throws {
        try await Scene.play { scene in
            for backend in Backend.allCases {
                let provider = backend.rawValue
                _ = try await scene.login(backend)
                _ = try await scene.agent.authc("refresh", "-s", provider)
                _ = try await scene.agent.authc("validate", "-s", provider)
            }
            _ = try await scene.login(.envelope, password: "Wrong-horse1")
            try await scene.expectNoSecretInLog()
        }
    }
}
