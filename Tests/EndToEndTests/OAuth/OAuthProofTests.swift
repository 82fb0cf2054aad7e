import AuthWire
import Foundation
import StandInBackends
import Synchronization
import TestSupport
import Testing

/// Tokens bound to a key (RFC 9449), with the real programs and keyring, at a server that takes nothing without a proof.
@Suite("OAuth: tokens that are bound to a key", .serialized, .timeLimit(.minutes(1)))
struct OAuthProofTests {
    private static let profile = "[oauth]\ndpop = true"

    private static var strict: OAuthStandIn.Configuration {
        var configuration = OAuthStandIn.Configuration()
        configuration.requiresProofs = true
        configuration.requiresNonces = true
        return configuration
    }

    @Test("a sign-in, renewals, tokens for one scope and API calls prove the key, with all required nonces")
    func whole() async throws {
        try await OAuthScene.play(Self.strict, profile: Self.profile) { scene, server in
            let key = try scene.desktop.folder.write("0123456789abcdef0123456789abcdef", to: "key")
            chmod(key, 0o600)
            try scene.prependSettings("sealed_key = \"\(key)\"\nlog_level = \"trace\"\n")
            try await scene.restart()
            let login = try await scene.loginByBrowser()
            #expect(login.status == 0, "\(login.err)")
            #expect(login.err.contains("dpop_jkt="), "\(login.err)")
            #expect(try await scene.agent.status(OAuthScene.provider).user?.id == "248289761001")
            #expect(try await scene.ask("token.get", [:])["token_type"] == "DPoP")
            for _ in 0..<2 {
                server.changeNonces()
                let hello = try await scene.authc(["request", "GET", "/api/hello"])
                #expect(hello.out.contains("Jane Doe"), "\(hello.err)")
                #expect(try await scene.agent.authc("refresh").status == 0)
            }
            #expect(try await scene.ask("token.get", ["scopes": ["read"]])["token_type"] == "DPoP")
            // The key is the session's: it goes where that goes, and outlives the agent.
            let moved = try await scene.authc(["store", "migrate", "--to", "sealed-file"])
            #expect(moved.status == 0, "\(moved.err)")
            #expect(try await scene.desktop.keyringItems().isEmpty)
            try await scene.restart()
            #expect(try await scene.agent.authc("refresh").status == 0)
            let path = scene.desktop.folder.path + "/answer"
            let file = try await scene.authc(["request", "GET", "/api/hello?a=b", "--output", path])
            #expect(file.status == 0, "\(file.err)")
            #expect(try String(contentsOfFile: path, encoding: .utf8).contains("Jane Doe"))
            #expect(server.counts.refreshes == 4)
            #expect(server.counts.proofRefusals.isEmpty)
            #expect(server.counts.reuses == 0 && server.counts.codeReplays == 0)
            // Learned at the sign-in and at UserInfo, twice each after a change, and after the restart.
            #expect(server.counts.nonceChallenges == 8)
            #expect(try await scene.authc(["logout"]).status == 0)
            let kept = try FileManager.default.contentsOfDirectory(
                atPath: scene.desktop.folder.path + "/state/authd/sessions")
            #expect(Set(kept) == ["key", "index"])
            let logs = scene.agents.withLock { $0 }.map(\.child.err.text).joined()
            #expect(!logs.contains("PRIVATE KEY") && !logs.contains("eyJ"), "\(logs)")
        }
    }

    @Test("a program that sends its own request gets a proof for it, which is valid once")
    func own() async throws {
        var configuration = OAuthStandIn.Configuration()
        configuration.requiresProofs = true
        try await OAuthScene.play(configuration, profile: Self.profile) { scene, server in
            #expect(try await scene.loginByDevice(server).status == 0)
            let token = try #require(try await scene.ask("token.get", [:])["access_token"]?.stringValue)
            let url = server.issuer + "/api/hello"
            func proof(_ more: JSONObject = [:]) async throws -> String {
                var params: JSONObject = ["method": "GET", "url": .string(url + "?page=1")]
                for (key, value) in more { params[key] = value }
                let answer = try await scene.ask("token.proof", .object(params))
                return try #require(answer["proof"]?.stringValue, "\(answer.text())")
            }
            func status(_ token: String, _ proof: String?, kind: String = "DPoP") async throws -> String {
                try await scene.desktop.run(
                    [
                        "curl", "--silent", "--noproxy", "*", "--output", "/dev/null", "--write-out", "%{http_code}",
                        "--header", "Authorization: \(kind) \(token)",
                    ] + (proof.map { ["--header", "DPoP: \($0)"] } ?? []) + [url]
                ).out
            }
            let first = try await proof()
            #expect(try await status(token, first) == "200")
            #expect(try await status(token, first) == "401")
            #expect(try await status(token, nil) == "401")
            #expect(try await status(token, try await proof(["method": "POST"])) == "401")
            #expect(try await status(token, try await proof(["url": .string(server.issuer + "/userinfo")])) == "401")
            #expect(try await status(token, try await proof(["access_token": "another"])) == "401")
            #expect(try await status(token, try await proof(["access_token": .string(token)])) == "200")
            #expect(try await status(token, try await proof(), kind: "Bearer") == "401")
            #expect(
                server.counts.proofRefusals == [
                    "used before", "no proof", "for another method", "for another address", "for another token",
                ])
            let wrong = try await scene.ask("token.proof", ["method": "GET", "url": "not an address"])
            #expect(wrong["error"]?["code"] == -32602, "\(wrong.text())")
        }
    }

    @Test("a server that does not bind tokens, or requires another algorithm, prevents the sign-in")
    func unbound() async throws {
        try await OAuthScene.play(Self.strict, profile: Self.profile) { scene, server in
            server.misbehave(.unboundTokens)
            let bearer = try await scene.loginByDevice(server)
            #expect(bearer.status == 76, "\(bearer.err)")
            #expect(bearer.err.contains("DPoP was requested"), "\(bearer.err)")
            server.clear()
            try await scene.restart()
            server.misbehave(.otherProofAlgorithms)
            let other = try await scene.authc(["login", OAuthScene.provider, "--method", "device"])
            #expect(other.status != 0)
            #expect(other.err.contains("ES256"), "\(other.err)")
            #expect(try await SessionList(scene.agent.json("list")).sessions.isEmpty)
        }
    }
}
