import Foundation
import TestSupport

extension Scene {
    /// Begins `authc login`, and gives the address that it tells.
    func beginInBrowser(
        _ arguments: [String] = [], with variables: [String: String] = [:]
    ) async throws -> (login: Child, url: String) {
        let login = try await Child(
            [Programs.authc, "login", OAuthScene.provider, "--method", "browser"] + arguments,
            environment: desktop.environment.merging(variables) { $1 })
        guard await login.err.wait(for: "browser: http") else { throw Failure(await login.err.all()) }
        // Where other lines come before it, theirs are not its end.
        let before = login.err.text.split(separator: "browser: http")[0].count { $0 == "\n" }
        guard await login.err.wait(for: "\n", times: before + 1),
            let url = login.err.text.firstMatch(of: /browser: (\S+)/)?.1
        else { throw Failure("no address was told: \(await login.err.all())") }
        return (login, String(url))
    }

    /// The person says yes, as a browser sends it; the pages that come of it.
    func consent(_ url: String, follow: Bool = true, _ more: [String] = []) async throws -> String {
        let parts = url.split(separator: "?", maxSplits: 1)
        let command = [
            "curl", "--silent", "--include", "--noproxy", "*", "--max-time", "30", "--data", String(parts[1]),
        ]
        let done = try await desktop.run(command + more + (follow ? ["--location"] : []) + [String(parts[0])])
        return done.out
    }

    /// The person says yes; where the server then sends the browser.
    func redirect(of url: String) async throws -> String {
        let answer = try await consent(url, follow: false)
        guard let location = answer.firstMatch(of: /location: (\S+)/)?.1 else { throw Failure(answer) }
        return String(location)
    }
}
