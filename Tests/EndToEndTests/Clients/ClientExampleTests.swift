import TestSupport
import Testing

/// The programs of Docs/clients that need no compiler.
@Suite("Clients in other languages", .timeLimit(.minutes(4)))
struct ClientExampleTests {
    @Test("Node: the example gets a token for an origin, and prints why there is none")
    func node() async throws {
        try await ClientExample.node().expectAll()
    }

    @Test("in a shell, curl gets the token on its input")
    func shell() async throws {
        let token = ClientExample.folder + "/shell/token"
        try await Scene.play(signedInTo: .programs, ["repositories", ""]) { scene, server in
            let done = try await scene.run("\(token) \(server.url); \(token)")
            #expect(done.status == 77 && done.out.contains("\"status\": \"Success\""), "\(done.out)\(done.err)")
            #expect(done.err.contains("https://api.example.org"), "\(done.err)")
        }
    }
}
