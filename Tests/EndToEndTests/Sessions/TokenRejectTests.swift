import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// A script that sends its own requests, and reports a 401.
@Suite("A refused token on the command line", .timeLimit(.minutes(1)))
struct TokenRejectTests {
    @Test("a script reports a token that a server refused, gets a new one, and an older token changes nothing")
    func reports() async throws {
        try await Scene.play(signedInTo: .programs, ["repositories", ""]) { scene, server in
            let asks = "curl -so /dev/null -w '%{http_code}' -H \"Authorization: Bearer $TOKEN\" \(server.url)/x"
            let script = """
                TOKEN=$(authc token -s forge); curl -s -X POST \(server.url)/control/revoke; \(asks)
                printf %s "$TOKEN" | authc token --reject -s forge; echo " $?"
                TOKEN=$(authc token -s forge); \(asks)
                """
            let done = try await scene.run(script)
            #expect(done.out.hasSuffix("401 0\n200") && done.err.isEmpty, "\(done.out) \(done.err)")
            #expect(try await scene.authc(["token", "-s", "forge"]).out == "token-2\n")

            let old = try await scene.authc(["token", "--reject", "--for", server.url], input: "token-1\n")
            #expect(old.status == 0 && old.out.isEmpty && old.err.isEmpty, "\(old.err)")
            let other = try await scene.authc(["token", "--reject", "--json"], input: "token-0")
            let status = try JSON(parsing: Array(other.out.utf8))
            #expect(status["session"] == "forge" && status["state"] == "active", "\(other.out)")
            #expect(try await scene.authc(["token", "-s", "forge"]).out == "token-2\n")
        }
    }

    @Test("an invalid report is a usage error, and a session that was removed is not signed in")
    func usage() async throws {
        try await Scene.play(signedInTo: .programs, ["repositories", ""]) { scene, server in
            for (options, input) in [
                (["--scope", "read"], "token-1"), (["--min-valid", "5m"], "token-1"), (["--audience", "x"], "token-1"),
                ([], ""), ([], "\n"),
            ] {
                let refused = try await scene.authc(["token", "--reject"] + options, input: input)
                #expect(refused.status == 64 && refused.err.contains("--reject"), "\(options): \(refused.err)")
                #expect(!(refused.out + refused.err).contains("token-1"))
            }
            let other = try await scene.authc(
                ["token", "--reject", "--for", "https://elsewhere.example"], input: "token-1")
            #expect(other.status == 77 && other.out.isEmpty, "\(other.err)")
            _ = try await scene.authc(["logout"])
            let gone = try await scene.authc(["token", "--reject"], input: "token-1")
            #expect(gone.status == 3 && gone.out.isEmpty, "\(gone.err)")
        }
    }
}
