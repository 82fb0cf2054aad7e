import AuthWire
import Foundation
import StandInBackends
import Synchronization
import TestSupport

/// A desktop, the five backends and a running agent: what the main job needs, real and a test's own.
final class Scene: Sendable {
    let desktop: Desktop
    let backends: StandIns
    private let running = Mutex<Agent?>(nil)
    /// Every one that was started.
    let agents = Mutex<[Agent]>([])

    private init(desktop: Desktop, backends: StandIns) {
        self.desktop = desktop
        self.backends = backends
    }

    /// Plays the test and ends everything, however it ended.
    static func play(
        keyring: Bool = true, tokenSeconds: Double = 3600, seed: SeedUser = SeedUser(),
        _ test: @escaping @Sendable (Scene) async throws -> Void
    ) async throws {
        var configuration = StandIns.Configuration()
        configuration.tokenLifetime = .seconds(tokenSeconds)
        configuration.seed = seed
        try await StandIns.serving(configuration) { backends in
            let desktop = try await Desktop()
            let scene = Scene(desktop: desktop, backends: backends)
            let keyring = keyring ? try await desktop.startKeyring() : nil
            let result: Result<Void, any Error>
            do {
                try scene.writeSettings()
                try await scene.startAgent()
                try await test(scene)
                result = .success(())
            } catch {
                result = .failure(error)
            }
            await scene.running.withLock { $0 }?.child.end()
            await keyring?.end()
            await desktop.end()
            await scene.expectNoSecretInLogs()
            try result.get()
        }
    }

    var agent: Agent {
        get throws {
            guard let agent = running.withLock({ $0 }) else { throw Failure("there is no agent") }
            return agent
        }
    }

    /// Settings that put each backend's stand-in into its profile, as the environment `local`.
    private func writeSettings() throws {
        let environments = Backend.allCases.map { backend in
            "[providers.\(backend.rawValue).environments]\nlocal = \"\(backends.url(backend))\"\n"
        }
        _ = try desktop.folder.write(environments.joined(separator: "\n"), to: "config/authd/authd.toml")
    }

    /// - Parameter descriptorStore: what the manager keeps from one run to the next; without one each begins with nothing.
    func startAgent(
        _ arguments: [String] = [], with more: [String: String] = [:], through: [String] = [],
        descriptorStore: FakeDescriptorStore? = nil
    ) async throws {
        let agent = try await Agent(
            on: desktop, arguments, with: more, through: through, descriptorStore: descriptorStore)
        running.withLock { $0 = agent }
        agents.withLock { $0.append(agent) }
    }

    /// The agent's end, and another one.
    func restart(
        _ arguments: [String] = [], with more: [String: String] = [:], through: [String] = [],
        descriptorStore: FakeDescriptorStore? = nil
    ) async throws {
        try await agent.child.end()
        try await startAgent(arguments, with: more, through: through, descriptorStore: descriptorStore)
    }

    /// Puts lines before what the settings say of providers.
    func prependSettings(_ lines: String) throws {
        let file = desktop.folder.path + "/config/authd/authd.toml"
        let before = try String(contentsOfFile: file, encoding: .utf8)
        _ = try desktop.folder.write(lines + before, to: "config/authd/authd.toml")
    }

    /// As in a script: the password is read from standard input.
    func login(_ backend: Backend, password: String = "Correct-horse1") async throws -> Child.Output {
        try await agent.authc(
            "login", backend.rawValue, "--environment", "local", "--field", "email=ada@example.org",
            "--password-stdin", input: password)
    }

    /// The access token of each session there is.
    func tokens() async throws -> [String: String] { try await agent.tokens() }

    /// How many sign-ins the backends saw.
    var signIns: Int {
        let calls = ["POST /auth/login", "POST /api/v1/auth/login/password", "POST /api/auth/login"]
        let counts = backends.counts
        return Backend.allCases.reduce(0) { sum, backend in
            sum + calls.reduce(0) { $0 + counts[backend, $1] }
        }
    }
}

extension Agent {
    /// The access token of each session there is.
    func tokens() async throws -> [String: String] {
        var tokens: [String: String] = [:]
        for session in try await SessionList(json("list")).sessions {
            tokens[session.session.text] = try await authc("token", "-s", session.session.text).out
        }
        return tokens
    }
}
