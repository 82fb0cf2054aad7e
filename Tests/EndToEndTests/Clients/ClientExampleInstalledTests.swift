import Foundation
import Testing

/// The programs of Docs/clients in languages whose compilers `make test` does not install: those that CLIENT_LANGUAGES
/// names have to be here.
@Suite("Clients in languages that must be installed", .timeLimit(.minutes(4)))
struct ClientExampleInstalledTests {
    private static let chosen = (ProcessInfo.processInfo.environment["CLIENT_LANGUAGES"] ?? "Go Rust Java")
        .split(separator: " ").map(String.init)

    @Test("an example gets a token for an origin, and prints why there is none", arguments: Self.chosen)
    func example(language: String) async throws {
        let example = ClientExample.compiled.first { $0.language == language }
        try await #require(example, "there is no example in \(language)").expectAll()
    }
}
