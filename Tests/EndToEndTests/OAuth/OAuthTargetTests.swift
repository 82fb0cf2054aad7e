import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// Tokens for one scope or audience, with the real programs.
@Suite("OAuth: a token for one scope or audience", .serialized, .timeLimit(.minutes(2)))
struct OAuthTargetTests {
    private func token(_ scene: Scene, _ arguments: String...) async throws -> String {
        let output = try await scene.authc(["token"] + arguments)
        guard output.status == 0 else { throw Failure("\(arguments): \(output.err)") }
        return output.out
    }

    @Test("each is another one beside the session's own, which is renewed once after them")
    func beside() async throws {
        try await OAuthScene.play { scene, server in
            #expect(try await scene.loginByBrowser().status == 0)
            let own = try await token(scene)
            let read = try await token(scene, "--scope", "write", "--scope", "read")
            let api = try await token(scene, "--audience", "https://api.example.org/v1")
            #expect(Set([own, read, api]).count == 3)
            #expect(try await token(scene, "--scope", "read", "--scope", "write") == read)
            #expect(try await token(scene, "--audience", "https://api.example.org/v1") == api)
            // Some servers revoke the session's own token with each of them, so it was renewed before it is returned.
            let next = try await token(scene)
            #expect(Set([own, read, api, next]).count == 4)
            #expect(try await token(scene) == next)
            #expect(try await token(scene, "--scope", "read", "--scope", "write") == read)
            // All scopes were requested back with that.
            let targets = ["read write", "resource https://api.example.org/v1", "openid offline_access"]
            #expect(server.counts.targets == targets)
            #expect(server.counts.refreshes == 3)
            #expect(try await scene.agent.authc("refresh").status == 0)
            // They are not stored; what rotated on their way is.
            try await scene.agent.child.end()
            try await scene.startAgent()
            #expect(try await token(scene, "--scope", "read", "--scope", "write") != read)
            #expect(server.counts.reuses == 0)
            let items = try await scene.desktop.keyringItems()
            #expect(items.count == 1)
        }
    }

    @Test("fifty programs that request a scope during renewals rotate one refresh token, each used once")
    func many() async throws {
        try await OAuthScene.play { scene, server in
            #expect(try await scene.loginByBrowser().status == 0)
            let path = scene.desktop.folder.path + "/run/authd/socket"
            let tokens = try await withThrowingTaskGroup(of: String?.self) { group in
                for number in 0..<50 {
                    group.addTask {
                        try await onThread {
                            let answer =
                                if number % 10 == 0 {
                                    try RawClient(path, timeout: 60).ask("session.refresh", [:])
                                } else {
                                    try RawClient(path, timeout: 60)
                                        .ask("token.get", ["scopes": .array([.string("s\(number % 5)")])])
                                }
                            let result = answer["result"] ?? answer
                            return (result["access_token"] ?? result["state"])?.stringValue
                        }
                    }
                }
                return try await group.reduce(into: [String?]()) { $0.append($1) }
            }
            #expect(tokens.allSatisfy { $0 != nil })
            #expect(Set(tokens).count == 6)
            // A renewal after one of them requests all scopes back.
            let targets = server.counts.targets.filter { $0 != "openid offline_access" }
            #expect(Set(targets) == ["s0", "s1", "s2", "s3", "s4"])
            #expect(targets.count == 5)
            #expect(server.counts.reuses == 0)
        }
    }

    @Test("a refusal of one of them is reported, and the session continues")
    func refused() async throws {
        try await OAuthScene.play { scene, server in
            #expect(try await scene.loginByBrowser().status == 0)
            server.misbehave(.unknownTarget, times: 1)
            let target = try await scene.authc(["token", "--audience", "https://api.example.org"])
            #expect(target.status == 65, "\(target.err)")
            server.misbehave(.grantsLess, times: 1)
            let less = try await scene.authc(["token", "--scope", "read"])
            #expect(less.status == 65, "\(less.err)")
            #expect(less.err.contains("did not grant read"), "\(less.err)")
            let name = try await scene.authc(["token", "--audience", "no address"])
            #expect(name.status != 0)
            #expect(try await scene.agent.status(OAuthScene.provider).state == .active)
            #expect(try await scene.agent.authc("refresh").status == 0)
            #expect(server.counts.reuses == 0)
        }
    }

    @Test("if the profile says so, the audience has its own parameter, or the token is exchanged (RFC 8693)")
    func ways() async throws {
        for (way, target) in [("audience", "audience api"), ("exchange", "audience api")] {
            try await OAuthScene.play(profile: "[oauth]\naudience_by = \"\(way)\"") { scene, server in
                #expect(try await scene.loginByBrowser().status == 0)
                let own = try await token(scene)
                let api = try await token(scene, "--audience", "api")
                #expect(api != own)
                #expect(server.counts.targets == [target])
                #expect(server.counts.refreshes == (way == "exchange" ? 0 : 1))
                #expect(try await scene.agent.authc("refresh").status == 0)
                #expect(server.counts.reuses == 0)
            }
        }
    }
}
