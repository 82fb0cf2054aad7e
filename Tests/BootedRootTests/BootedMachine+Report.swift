import TestSupport
import Testing

/// The service of Docs/recipes.md that waits for a session and uses its token, started at each boot.
extension BootedMachine {
    func enableReport() async throws {
        let recipe = try #require(
            try Self.blocks(of: "Docs/recipes.md", "ini").first { $0.contains("report.service") })
        try await write(
            recipe.replacing("work", with: "app-template")
                + "StandardOutput=append:%h/report\n\n[Install]\nWantedBy=default.target\n",
            to: ".config/systemd/user/report.service")
        try await person("systemctl", "--user", "daemon-reload")
        try await person("systemctl", "--user", "enable", "report.service")
    }

    func removeReport() async throws { try await person("rm", "-f", "/people/ada/report") }

    /// The first line of the report that contains the text; throws if there is none in time.
    func report(until text: String) async throws -> String {
        let line = #"grep -m1 -F "$0" < <(exec timeout 60 tail -n +1 -F "$HOME/report" 2>/dev/null)"#
        return try await person("bash", "-c", line, text)
    }
}
