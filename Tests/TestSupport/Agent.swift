package import AuthWire

/// A running authd, started as systemd would: with a socket that receives its notifications.
package final class Agent: Sendable {
    package let child: Child
    package let notifications: NotifySocket
    package let desktop: Desktop

    /// - Parameters:
    ///   - through: a command that becomes authd at its end.
    ///   - descriptorStore: what the manager keeps for it from one run to the next.
    package init(
        on desktop: Desktop, _ arguments: [String] = [], with more: [String: String] = [:], through: [String] = [],
        descriptorStore: FakeDescriptorStore? = nil
    ) async throws {
        self.desktop = desktop
        notifications = try NotifySocket(at: desktop.folder.path + "/notify", descriptorStore: descriptorStore)
        var environment = desktop.environment.merging(more) { $1 }
        environment["NOTIFY_SOCKET"] = notifications.path
        let kept = descriptorStore?.entries.map(\.descriptor) ?? []
        if let descriptorStore { environment.merge(descriptorStore.environment) { $1 } }
        // Its process id is known to itself alone.
        let prefix = kept.isEmpty ? [] : ["sh", "-c", "LISTEN_PID=$$ exec \"$@\"", "sh"]
        child = try await Child(
            prefix + through + [Programs.authd, "--log-level", "trace"] + arguments, environment: environment,
            passed: kept)
        child.whenEnded { [notifications] _ in notifications.end() }
        guard await notifications.message({ $0.contains("READY=1") }) != nil else {
            throw Failure("authd did not become ready: \(await child.err.all())")
        }
    }

    /// Starts `authc`, which goes on.
    package func starts(_ arguments: String...) async throws -> Child {
        try await Child([Programs.authc] + arguments, environment: desktop.environment)
    }

    /// Runs `authc` as a script would.
    package func authc(_ arguments: String..., input: String? = nil) async throws -> Child.Output {
        try await authc(arguments, input: input)
    }

    package func authc(_ arguments: [String], input: String? = nil) async throws -> Child.Output {
        try await desktop.run([Programs.authc] + arguments, input: input)
    }

    /// What `authc --json` answered.
    package func json(_ arguments: String...) async throws -> JSON {
        let output = try await desktop.run([Programs.authc] + arguments + ["--json"])
        // 3 means that a session must be signed in again; it is shown too.
        guard [0, 3].contains(output.status) else {
            throw Failure("authc \(arguments): \(output.status) \(output.out)\(output.err)")
        }
        return try JSON(parsing: Array(output.out.utf8))
    }

    package func status(_ session: String) async throws -> SessionStatus {
        try SessionStatus(await json("status", "-s", session))
    }
}
