import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// API keys and personal tokens, through the real agent.
@Suite("A key as a sign-in", .serialized, .timeLimit(.minutes(2)))
struct KeyTests {
    private func play(
        _ more: String = "", _ test: @escaping @Sendable (Scene, Peer) async throws -> Void
    ) async throws {
        try await Scene.play { scene in
            try await Peer.running(.signIn, in: scene.desktop) { server in
                try await scene.addProfile(
                    """
                    name = "keys"
                    title = "Keys"
                    [environments]
                    local = "\(server.url)"
                    [sign_in.token]
                    kind = "key"
                    label = "Personal token"
                    fields = [{ name = "key", label = "Token", kind = "key" }]
                    token = "{key}"
                    [errors]
                    message = "/message"
                    [user]
                    id = "/id"
                    email = "/email"
                    [user_request.request]
                    method = "GET"
                    path = "/me"
                    bearer = true
                    [validation]
                    method = "GET"
                    path = "/me"
                    bearer = true
                    [renewal]
                    kind = "none"
                    \(more)
                    """)
                try await test(scene, server)
            }
        }
    }

    private func login(_ scene: Scene, _ key: String) async throws -> Child.Output {
        try await scene.authc(["login", "keys", "--password-stdin"], input: key)
    }

    @Test("a key is checked, stored and used; the provider's refusal ends the session, and nothing ends it earlier")
    func used() async throws {
        try await play { scene, server in
            let shown = try await scene.authc(["provider", "show", "keys"])
            #expect(shown.out.contains("key (secret); a key"), "\(shown.out)")
            let login = try await login(scene, "key-good\n")
            #expect(login.status == 0, "\(login.err)")
            let status = try await scene.agent.status("keys")
            #expect(status.state == .active && status.user?.email == "user7@example.org" && status.expiresAt == nil)
            #expect(status.renews == false)
            #expect(try await scene.agent.authc("token").out == "key-good\n")
            let me = try await scene.authc(["request", "GET", "/me", "-s", "keys"])
            #expect(me.status == 0 && me.out.contains("user7"), "\(me.out)\(me.err)")
            try await scene.restart()
            #expect(try await scene.agent.authc("token").out == "key-good\n")
            _ = try await scene.desktop.run([
                "curl", "--silent", "--noproxy", "*", "--request", "POST", server.url + "/control/revoke",
            ])
            #expect(try await scene.agent.status("keys").state == .active)
            let refused = try await scene.authc(["validate", "-s", "keys"])
            #expect(refused.status == 3, "\(refused.out)\(refused.err)")
            #expect(refused.err.contains("authc login keys"), "\(refused.err)")
            #expect(try await scene.agent.status("keys").state == .signInRequired)
            #expect(try await scene.agent.authc("token").status == 3)
            #expect(try await scene.desktop.keyringItems().count == 1)
        }
    }

    @Test(
        "a key that the provider refuses is not stored, and its words are shown",
        arguments: [("key-bad", "No such key"), ("key-blocked", "This key is blocked")])
    func refused(key: String, words: String) async throws {
        try await play { scene, _ in
            let login = try await login(scene, key)
            #expect(login.status != 0 && login.err.contains(words), "\(login.err)")
            #expect(!login.err.contains(key))
            #expect(try await scene.desktop.keyringItems().isEmpty)
        }
    }

    @Test("a key that cannot be in a header is refused before anything is sent, and so is a key in argv")
    func invalid() async throws {
        try await play { scene, server in
            let broken = try await login(scene, "key\u{1}good")
            #expect(broken.status == 65 && broken.err.contains("cannot be a key"), "\(broken.err)")
            let shown = try await scene.authc(["login", "keys", "--field", "key=key-good"])
            #expect(shown.status == 64 && shown.err.contains("every program"), "\(shown.err)")
            let log = try await scene.desktop.run(["curl", "--silent", "--noproxy", "*", server.url + "/log"])
            #expect(log.out == "[]", "\(log.out)")
        }
    }

    @Test("a user name and a password can be the key, sent as HTTP Basic with every request")
    func basic() async throws {
        try await Scene.play { scene in
            try await Peer.running(.signIn, in: scene.desktop) { server in
                try await scene.addProfile(
                    """
                    name = "basic"
                    authorization = "Basic {access_token:base64}"
                    [environments]
                    local = "\(server.url)"
                    [sign_in.pair]
                    kind = "key"
                    fields = [{ name = "user" }, { name = "password", kind = "password" }]
                    token = "{user}:{password}"
                    check = { method = "GET", path = "/me" }
                    [renewal]
                    kind = "none"
                    """)
                let login = try await scene.authc(
                    ["login", "basic", "--field", "user=ada", "--password-stdin"], input: "pä:ss")
                #expect(login.status == 0, "\(login.err)")
                let me = try await scene.authc(["request", "GET", "/me", "-s", "basic"])
                #expect(me.status == 0 && me.out.contains("user8"), "\(me.out)\(me.err)")
            }
        }
    }

    @Test("on a terminal a key is read without echo")
    func terminal() async throws {
        try await play { scene, _ in
            let terminal = try await scene.terminal("authc login keys")
            await terminal.waits(for: "Token: ")
            terminal.type("key-good\n")
            await terminal.waits(for: "exit 0")
            await terminal.ends()
            #expect(!terminal.text.contains("key-good"))
        }
    }
}
