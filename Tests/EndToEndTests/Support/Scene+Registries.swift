import StandInBackends
import TestSupport
import Testing

/// Registries of packages behind one sign-in.
extension Scene {
    static func playRegistries(_ test: @escaping @Sendable (Scene, Peer) async throws -> Void) async throws {
        try await play(
            signedInTo: .programs, ["repositories", ""],
            with: { server in
                await server.output.wait(for: "certificate ")
                let secure = try #require(server.output.text.firstMatch(of: /TLS port ([0-9]+)/)?.1)
                return """
                    [hosts]
                    modules = "https://127.0.0.1:\(secure)"
                    [endpoints.modules]
                    method = "GET"
                    path = "/modules"
                    host = "modules"
                    """
            }, test)
    }

    /// The server's log, which has no tokens.
    func log(of server: Peer) async throws -> String {
        let log = try await run("curl -s \(server.url)/log").out
        #expect(!log.contains("token-"), "\(log)")
        return log
    }
}
