import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// Helpers of a session that is signed out, as their programs call them. Standard input is not a terminal, so nothing may ask.
@Suite("Helpers without a session", .timeLimit(.minutes(2)))
struct SignedOutHelperTests {
    @Test("each protocol has its own form of no credentials, the reason is on stderr, and nothing is asked")
    func signedOut() async throws {
        try await Scene.playRegistries { scene, server in
            let host = String(server.url.dropFirst("http://".count))
            let kubernetes =
                #"{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"interactive":true}}"#
            let lines = [
                ("echo \(host) | authc helper docker get", [1], "credentials not found in native keychain\n"),
                ("KUBERNETES_EXEC_INFO='\(kubernetes)' authc helper kubernetes -s forge", [64], ""),
                ("printf 'protocol=http\\nhost=\(host)\\n' | authc helper git get", [3], ""),
                ("authc helper curl \(server.url)", [3], ""), ("authc helper netrc \(server.url)", [3], ""),
                ("authc helper sasl -s forge", [64], ""),
                ("authc helper sasl -s forge --mechanism oauthbearer", [64], ""),
                ("authc exec -s forge -- true", [64], ""), ("authc env -s forge", [64], ""),
            ]
            for (line, _, _) in lines where !line.contains("exec") {
                #expect(try await scene.run(line).out.contains("token-1") || line.contains("sasl"), "\(line)")
            }
            // There is no session of that name any more, which is a usage error if the command names it.
            #expect(try await scene.authc(["logout", "-s", "forge"]).status == 0)
            for (line, statuses, out) in lines {
                let got = try await scene.run(line)
                #expect(statuses.contains(Int(got.status)) && got.out == out, "\(line): \(got)")
                #expect(got.err.contains("authc login") || got.err.contains("authc list"), "\(line): \(got)")
            }
        }
    }
}
