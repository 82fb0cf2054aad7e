import Foundation

/// A screen that nobody sees (Xvfb), and the user's mouse and keyboard there.
package final class VirtualScreen: Sendable {
    private let desktop: Desktop
    private let server: Child
    /// For `DISPLAY`.
    package let display: String

    package init(on desktop: Desktop) async throws {
        self.desktop = desktop
        // Given a descriptor, it takes a number that is free and writes it there.
        server = try await Child(
            ["Xvfb", "-displayfd", "1", "-screen", "0", "1024x768x24", "-nolisten", "tcp"],
            environment: desktop.environment)
        guard await server.out.wait(for: "\n") else { throw Failure("no screen: \(await server.err.all())") }
        display = ":" + server.out.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    package var environment: [String: String] { desktop.environment.merging(["DISPLAY": display]) { $1 } }

    package func run(_ command: [String]) async throws -> Child.Output {
        try await desktop.run(command, with: ["DISPLAY": display])
    }

    /// A visible window, by an option of `xdotool search` such as `--name`; `nil`: there is none.
    package func window(_ option: String, _ pattern: String) async throws -> String? {
        let found = try await run(["xdotool", "search", "--onlyvisible", option, pattern])
        return found.out.split(separator: "\n").first.map(String.init)
    }

    package func end() async { await server.end() }
}
