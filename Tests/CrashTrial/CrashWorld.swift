import AuthWire
import Foundation
import StandInBackends
import Synchronization
import TestSupport

/// A desktop with a real keyring, a provider that rotates its tokens and notices their reuse, and the agent that is
/// killed and started again.
final class CrashWorld: Sendable {
    static let backend = Backend.appTemplate
    private static let session = backend.rawValue
    private let desktop: Desktop
    let backends: StandIns
    private let running = Mutex<Agent?>(nil)

    /// Longer than any restart takes on a loaded machine.
    private static let grace = Duration.seconds(120)

    private init(desktop: Desktop, backends: StandIns) {
        self.desktop = desktop
        self.backends = backends
    }

    /// Opens it, plays, and ends everything in it.
    static func play<Value: Sendable>(
        hasGrace: Bool, _ body: @escaping @Sendable (CrashWorld) async throws -> Value
    ) async throws -> Value {
        var configuration = StandIns.Configuration()
        configuration.grace = hasGrace ? grace : .zero
        configuration.endsFamilyOnReuse = true
        return try await StandIns.serving(configuration) { backends in
            let desktop = try await Desktop()
            let keyring = try await desktop.startKeyring()
            let world = CrashWorld(desktop: desktop, backends: backends)
            let result: Result<Value, any Error>
            do {
                let local = "[providers.\(session).environments]\nlocal = \"\(backends.url(backend))\"\n"
                _ = try desktop.folder.write(local, to: "config/authd/authd.toml")
                try await world.start()
                try await world.signIn()
                result = .success(try await body(world))
            } catch {
                result = .failure(error)
            }
            await world.running.withLock { $0 }?.child.end(SIGKILL)
            await keyring.end()
            await desktop.end()
            return try result.get()
        }
    }

    private var agent: Agent {
        get throws {
            guard let agent = running.withLock({ $0 }) else { throw Failure("there is no agent") }
            return agent
        }
    }

    func start() async throws {
        let agent = try await Agent(on: desktop)
        running.withLock { $0 = agent }
    }

    func signIn() async throws {
        let done = try await agent.authc(
            "login", Self.session, "--environment", "local", "--field", "email=ada@example.org", "--password-stdin",
            input: "Correct-horse1")
        guard done.status == 0 else { throw Failure("sign-in: \(done.err)") }
    }

    /// - Returns: Whether the session could be renewed; `false` is the provider's final no.
    func renews() async throws -> Bool {
        let path = socket
        let answer = try await onThread { try RawClient(path, timeout: 60).ask("session.refresh", Self.asked) }
        if answer["result"] != nil { return true }
        guard answer.errorKind == "sign_in_required" else { throw Failure("renewal: \(answer.text())") }
        return false
    }

    /// Asks for a renewal and kills the agent in the middle of it.
    func kill(by plan: KillPlan) async throws -> (at: ContinuousClock.Instant, wasNotified: Bool) {
        if plan.answerHeld > .zero {
            await backends.misbehave(
                Self.backend, Misbehaviour(path: "/auth/refresh", times: 1, .lateResponse(plan.answerHeld)))
        }
        let client = try RawClient(socket, timeout: 60)
        let before = backends.renewals.count
        try client.send(RawClient.request("session.refresh", Self.asked))
        let start: ContinuousClock.Instant = .now
        if plan.start == .committed { try await backends.waitForRenewals { $0.count > before } }
        let due = (plan.start == .committed ? backends.renewals.last?.at ?? start : start) + plan.wait
        // Not a wait for something to happen: the moment of the kill is what is tried.
        try await ContinuousClock().sleep(until: due)
        let child = try agent.child
        child.kill(SIGKILL)
        let at = ContinuousClock.Instant.now
        _ = await child.ended()
        backends.clear(Self.backend)
        return (at, try client.rest().contains(#""result""#))
    }

    /// The token in the keyring, as another program reads it.
    func storedToken() async throws -> String? {
        let found = try await desktop.run(["secret-tool", "lookup", "application", "authd", "session", Self.session])
        guard found.status == 0 else { return nil }
        return try JSON(parsing: found.out)["access_token"]?.stringValue
    }

    private var socket: String { desktop.folder.path + "/run/authd/socket" }
    private static var asked: JSON { ["session": .string(session)] }
}
