import AuthWire
import Foundation
import StandInBackends
import Synchronization
import TestSupport
import Testing

/// `authc proxy` with tokens that are bound to a key (RFC 9449), at a server that checks each proof and accepts it once.
@Suite("The proxy of a session whose tokens are bound to a key", .serialized, .timeLimit(.minutes(2)))
struct ProxyProofTests {
    @Test("each request has a new proof, for its method, address and token, with the server's newest nonce")
    func proofs() async throws {
        var configuration = OAuthStandIn.Configuration()
        configuration.requiresProofs = true
        configuration.requiresNonces = true
        try await OAuthScene.play(configuration, profile: "[oauth]\ndpop = true") { scene, server in
            #expect(try await scene.loginByDevice(server).status == 0)
            let command = [Programs.authc, "proxy", "-s", OAuthScene.provider, "--to", server.issuer]
            try await scene.proxy(command) { proxy in
                func hello(_ options: [String] = [], _ query: String = "") async throws -> (text: String, nonces: Int) {
                    let before = server.counts.nonceChallenges
                    let text = try await proxy.curl("/api/hello" + query, options)
                    return (text, server.counts.nonceChallenges - before)
                }
                func expectHello(_ options: [String] = [], _ query: String = "", nonces: Int) async throws {
                    let before = server.counts.proofs
                    let hello = try await hello(options, query)
                    #expect(hello.text.hasPrefix("HTTP/1.1 200") && hello.text.contains("Jane Doe"), "\(hello)")
                    #expect(hello.nonces == nonces && server.counts.proofs == before + 1, "\(hello)")
                }
                // The server's first nonce is known from the sign-in, and the next one from its refusal.
                try await expectHello(nonces: 0)
                try await expectHello([], "?page=1&x=%20", nonces: 0)
                server.changeNonces()
                try await expectHello(["--data", "a=b"], nonces: 1)
                try await expectHello(["--data", "a=b"], nonces: 0)
                // What the client has in place of the token and the proof is not sent.
                try await expectHello(["-H", "Authorization: DPoP mine", "-H", "DPoP: mine"], nonces: 0)
                #expect(try await scene.agent.authc("refresh").status == 0)
                try await expectHello(nonces: 0)
                #expect(server.counts.proofRefusals.isEmpty)
                // A long body is not kept for another attempt: the client gets the refusal, and the next request is accepted.
                let file = try scene.desktop.folder.write(String(repeating: "x", count: 100_000), to: "body")
                server.changeNonces()
                let refused = try await hello(["--data-binary", "@" + file])
                #expect(refused.text.contains("HTTP/1.1 401") && refused.nonces == 1, "\(refused.text)")
                try await expectHello(["--data-binary", "@" + file], nonces: 0)
            }
            let logs = scene.agents.withLock { $0 }.map(\.child.err.text).joined()
            #expect(!logs.contains("PRIVATE KEY") && !logs.contains("eyJ"))
        }
    }
}
