package import AuthWire

/// A running authd, started as systemd would: with a socket that hears when it is ready.
package final class Agent: Sendable {
    package let child: Child
    package let notifications: NotifySocket
    private let desktop: Desktop

    /// - Parameter through: a command that becomes authd at its end.
    package init(
        on desktop: Desktop, _ arguments: [String] = [], with more: [String: String] = [:], through: [String] = []
    ) async throws {
        self.desktop = desktop
        notifications = try NotifySocket(at: desktop.folder.path + "/notify")
        var environment = desktop.environment.merging(more) { $1 }
        environment["NOTIFY_SOCKET"] = notifications.path
        child = try await Child(
            through + [Programs.authd, "--log-level", "trace"] + arguments, environment: environment)
        child.whenEnded { [notifications] _ in notifications.end() }
        guard await notifications.message({ $0.contains("READY=1") }) != nil else {
            throw Failure("authd did not become ready: \(await child.err.all())")
        }
    }

    /// Runs `authc` as a person would in a script.
    package func authc(_ arguments: String..., input: String? = nil) async throws -> Child.Output {
        try await authc(arguments, input: input)
    }

    package func authc(_ arguments: [String], input: String? = nil) async throws -> Child.Output {
        try await desktop.run([Programs.authc] + arguments, input: input)
    }

    /// What `authc --json` answered.
    package func json(_ arguments: String...) async throws -> JSON {
        let output = try await desktop.run([Programs.authc] + arguments + ["--json"])
        // 3 tells of a session that must be signed in again, and shows it all the same.
        guard [0, 3].contains(output.status) else {
            throw Failure("authc \(arguments): \(output.status) \(output.out)\(output.err)")
        }
        return try JSON(parsing: Array(output.out.utf8))
    }

    package func status(_ session: String) async throws -> SessionStatus {
        try SessionStatus(await json("status", "-s", session))
    }
}
