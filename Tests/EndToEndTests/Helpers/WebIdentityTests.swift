import Foundation
import StandInBackends
import TestSupport
import Testing

/// AWS's SDK for Python, which exchanges a session's token for credentials of AWS, against moto.
@Suite("Programs that exchange a token at AWS", .serialized, .timeLimit(.minutes(2)))
struct WebIdentityTests {
    @Test("boto3 gets a role's credentials with the session's token, and with the next one after a renewal")
    func webIdentity() async throws {
        try await Scene.play(signedInTo: .sts, as: "work") { scene, server in
            let python = try Peer.program("python", of: "moto")
            let recipe = try Recipes.block(with: "AWS_WEB_IDENTITY_TOKEN_FILE")
            let command = "aws sts get-caller-identity"
            #expect(recipe.contains(command))
            let program = "import boto3; print(boto3.client(\"sts\").get_caller_identity()[\"Arn\"])"
            let line =
                "export AWS_ENDPOINT_URL=\(server.url) AWS_DEFAULT_REGION=us-east-1 AWS_EC2_METADATA_DISABLED=true\n"
                + recipe.replacing(command, with: "\(python) -c '\(program)'")
            for _ in 1...2 {
                let got = try await scene.run(line)
                #expect(got.status == 0 && got.out.contains(":assumed-role/reader/"), "\(got.out) \(got.err)")
                #expect(try await scene.authc(["refresh", "-s", "work"]).status == 0)
            }
            #expect(try await scene.run("curl -s \(server.url)/log").out == "[1, 2]")
            #expect(try await scene.authc(["logout", "-s", "work"]).status == 0)
            let out = try await scene.run(line)
            #expect(out.status == 64 && out.out.isEmpty, "\(out.status) \(out.err)")
            #expect(try await scene.run("curl -s \(server.url)/log").out == "[1, 2]")
        }
    }
}
