import Foundation
import TestSupport

extension Desktop {
    /// What a browser without a user gets.
    func get(_ url: String, _ more: [String] = []) async throws -> String {
        try await run(["curl", "--silent", "--location", "--noproxy", "*"] + more + [url]).out
    }

    /// The HTTP status of a request with a token that a program holds, as `authc token` printed it.
    func status(of url: String, token: String) async throws -> String {
        let token = token.trimmingCharacters(in: .whitespacesAndNewlines)
        return try await run([
            "curl", "--silent", "--noproxy", "*", "--output", "/dev/null", "--write-out", "%{http_code}", "--header",
            "Authorization: Bearer \(token)", url,
        ]).out
    }
}

extension Scene {
    func get(_ url: String, _ more: [String] = []) async throws -> String { try await desktop.get(url, more) }
}
