import Foundation
import TestSupport

extension Scene {
    /// Starts `authc login`, and returns the address that it prints.
    func beginInBrowser(
        _ arguments: [String] = [], at provider: String = OAuthScene.provider, with variables: [String: String] = [:]
    ) async throws -> (login: Child, url: String) {
        let login = try await Child(
            [Programs.authc, "login", provider, "--method", "browser"] + arguments,
            environment: desktop.environment.merging(variables) { $1 })
        return (login, try await shownAddress(of: login))
    }

    /// Signs in with a browser whose user is not asked.
    @discardableResult
    func signInWithBrowser(
        _ arguments: [String] = [], at provider: String = OAuthScene.provider
    ) async throws -> Child.Output {
        let (login, address) = try await beginInBrowser(arguments, at: provider)
        let page = try await get(address)
        let output = await login.output()
        guard output.status == 0 else { throw Failure("\(output.err)\n\(page)") }
        return output
    }

    /// The address that a sign-in prints for the browser.
    func shownAddress(of login: Child) async throws -> String {
        guard await login.err.wait(for: "browser: http") else { throw Failure(await login.err.all()) }
        // Where other lines come before it, theirs are not its end.
        let before = login.err.text.split(separator: "browser: http")[0].count { $0 == "\n" }
        guard await login.err.wait(for: "\n", times: before + 1),
            let url = login.err.text.firstMatch(of: /browser: (\S+)/)?.1
        else { throw Failure("no address was told: \(await login.err.all())") }
        return String(url)
    }

    /// Approves the request as a browser does, and returns the pages.
    func consent(_ url: String, follow: Bool = true, _ more: [String] = []) async throws -> String {
        let parts = url.split(separator: "?", maxSplits: 1)
        let command = [
            "curl", "--silent", "--include", "--noproxy", "*", "--max-time", "30", "--data", String(parts[1]),
        ]
        let done = try await desktop.run(command + more + (follow ? ["--location"] : []) + [String(parts[0])])
        return done.out
    }

    /// Approves the request, and returns the redirect.
    func redirect(of url: String) async throws -> String {
        let answer = try await consent(url, follow: false)
        guard let location = answer.firstMatch(of: /location: (\S+)/)?.1 else { throw Failure(answer) }
        return String(location)
    }
}
