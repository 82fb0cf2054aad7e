import AuthWire
import Foundation
import TestSupport
import Testing

/// The real agent with two protected resources of one authorization server.
@Suite("Sign-in to a URL: several resources of one server", .serialized, .timeLimit(.minutes(3)))
struct ResourceSharingTests {
    /// As many as a user's editors, agents and tools start together.
    private static let clients = 20
    private static let call = ["request", "GET", ""]

    private struct Play: Sendable {
        let issuer: Peer
        let first: ResourceScene
        let second: ResourceScene

        var scene: Scene { first.scene }
        var names: [String] { [first, second].map { "127.0.0.1-\($0.server.port)" } }

        func authc(_ arguments: [String], at index: Int) async throws -> Child.Output {
            try await scene.authc(arguments + ["-s", names[index]])
        }

        func token(_ index: Int) async throws -> String { try await authc(["token"], at: index).out }

        /// Signs in to the second resource, without a browser.
        func share(_ arguments: [String] = []) async throws -> Child.Output {
            try await scene.authc(["login", second.url, "--no-input"] + arguments)
        }

        func refreshes() async throws -> Int {
            let text = try await scene.get(issuer.url + "/refreshes")
            return try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        }

        func status(_ index: Int) async throws -> SessionStatus { try await scene.agent.status(names[index]) }

        /// Waits until the session has no token left, because the other session ended.
        func expectEnded(_ index: Int) async throws {
            _ = try await authc(["wait", "--until", "signed_out", "--timeout", "60s"], at: index)
            let ended = try await authc(ResourceSharingTests.call, at: index)
            #expect(ended.status == 3 && ended.err.contains(names[1 - index]), "\(ended.err)")
            #expect(try await status(index).state == .signInRequired)
            #expect(try await status(index).cause == "shared_sign_in")
        }

        /// The tokens that the second resource has seen so far.
        func tokensAtSecond() async throws -> [String] { try await second.log().compactMap(\.authorization) }
    }

    /// Two resources of Authlib's server, whose tokens are for the resource that each request names.
    private func authlib(life: Int = 3600, _ test: @escaping @Sendable (Play) async throws -> Void) async throws {
        try await Scene.play { scene in
            try await Peer.running(.authlib, ["resources", String(life)], in: scene.desktop) { issuer in
                let options: JSON = [
                    "accept_audience": true, "resource": ["authorization_servers": [.string(issuer.url)]],
                ]
                try await Peer.running(.resource, [options.text()], in: scene.desktop) { first in
                    try await Peer.running(.resource, [options.text()], in: scene.desktop) { second in
                        let scenes = [first, second].map { ResourceScene(scene: scene, server: $0) }
                        try await test(Play(issuer: issuer, first: scenes[0], second: scenes[1]))
                    }
                }
            }
        }
    }

    /// A resource that is its own server, and another one elsewhere.
    private func standIn(
        _ options: JSON = [:], _ test: @escaping @Sendable (Play) async throws -> Void
    ) async throws {
        try await ResourceScene.play(options) { first in
            let other: JSON = [
                "accept_any": true, "resource": ["authorization_servers": [.string(first.server.url)]],
            ]
            try await Peer.running(.resource, [other.text()], in: first.scene.desktop) { second in
                try await test(
                    Play(
                        issuer: first.server, first: first, second: ResourceScene(scene: first.scene, server: second)))
            }
        }
    }

    @Test("a second resource needs no browser: one token each, one refresh for 20 processes, the same after a restart")
    func whole() async throws {
        try await authlib { play in
            try await play.first.signIn()
            let output = try await play.share()
            #expect(output.status == 0 && output.err.contains("The sign-in of session \(play.names[0]) was used"))
            #expect(try await play.status(1).sharedSession?.text == play.names[0])
            #expect(try await play.authc(["status"], at: 1).out.contains("shared with session \(play.names[0])"))
            for index in 0...1 { #expect(try await play.authc(Self.call, at: index).status == 0) }
            #expect(try await play.token(0) != play.token(1))
            let before = try await play.refreshes()
            _ = try await play.scene.get(play.second.server.url + "/expire", ["--data", ""])
            try await withThrowingTaskGroup(of: Child.Output.self) { group in
                for _ in 0..<Self.clients { group.addTask { try await play.authc(Self.call, at: 1) } }
                for try await output in group { #expect(output.status == 0, "\(output.err)") }
            }
            #expect(try await play.refreshes() == before + 1)
            try await play.scene.restart()
            for index in [1, 0, 1] {
                let renewed = try await play.authc(["refresh"], at: index)
                #expect(renewed.status == 0, "\(renewed.err)")
                #expect(try await play.authc(Self.call, at: index).status == 0)
            }
            #expect(
                try await play.scene.get(play.issuer.url + "/clients").components(separatedBy: "client_name").count == 2
            )
        }
    }

    @Test("a sign-out of the second leaves the first; one of the first ends both, and says so")
    func signOut() async throws {
        try await authlib { play in
            try await play.first.signIn()
            #expect(try await play.share().status == 0)
            let left = try await play.authc(["logout"], at: 1)
            #expect(left.status == 0 && left.err.contains("stays signed in"), "\(left.err)")
            let renewed = try await play.authc(["refresh"], at: 0)
            #expect(renewed.status == 0, "\(renewed.err)")
            #expect(try await play.share().status == 0)
            let both = try await play.authc(["logout"], at: 0)
            #expect(
                both.status == 0 && both.err.contains("Signed out too, as they shared this sign-in: \(play.names[1])."))
            #expect(try await play.scene.authc(["list"]).out.isEmpty)
            try await play.scene.restart()
            #expect(try await play.scene.authc(["list"]).out.isEmpty)
        }
    }

    @Test("export and import keep the shared sign-in; without the other session, the error names it")
    func moved() async throws {
        try await authlib { play in
            try await play.first.signIn()
            #expect(try await play.share().status == 0)
            let folder = play.scene.desktop.folder.path
            let passphrase = "a long passphrase\n"
            func exporting(_ file: String, _ arguments: [String] = []) async throws {
                let exported = try await play.scene.agent.authc(
                    ["export", "\(folder)/\(file)", "--passphrase-stdin"] + arguments, input: passphrase)
                #expect(exported.status == 0, "\(exported.err)")
            }
            func importing(_ file: String) async throws {
                #expect(try await play.authc(["logout", "--no-revoke"], at: 0).status == 0)
                let imported = try await play.scene.agent.authc(
                    ["import", "\(folder)/\(file)", "--passphrase-stdin"], input: passphrase)
                #expect(imported.status == 0, "\(imported.err)")
            }
            try await exporting("both")
            try await importing("both")
            #expect(try await play.authc(["refresh"], at: 1).status == 0)
            try await exporting("second", ["-s", play.names[1]])
            try await importing("second")
            #expect(try await play.status(1).renews == false)
            #expect(try await play.authc(Self.call, at: 1).status == 0)
            let refused = try await play.authc(["refresh"], at: 1)
            #expect(refused.status == 3 && refused.err.contains(play.names[0]), "\(refused.err)")
        }
    }

    @Test("when the first has to be signed in again, so has the second: the next sign-in may be another user's")
    func ended() async throws {
        try await authlib(life: 6) { play in
            try await play.first.signIn()
            #expect(try await play.share().status == 0)
            // The user has withdrawn the consent. Each token is used to its end.
            _ = try await play.scene.get(play.issuer.url + "/tokens/revoke", ["--data", ""])
            try await play.expectEnded(1)
            #expect(try await play.status(0).state == .signInRequired)
            try await play.first.signIn()
            // This server does not name its users.
            #expect(try await play.status(1).cause == "shared_sign_in")
            #expect(try await play.share().status == 0)
            #expect(try await play.authc(Self.call, at: 1).status == 0)
        }
    }

    @Test("`--no-share` and `--method` sign in separately")
    func separate() async throws {
        try await authlib { play in
            try await play.first.signIn()
            #expect(try await play.share(["--no-share"]).status != 0)
            try await play.second.signIn()
            #expect(try await play.status(1).sharedSession == nil)
            #expect(try await play.refreshes() == 0)
            // A session with its own sign-in gets another one only from the user.
            #expect(try await play.share().status != 0)
            #expect(try await play.status(1).sharedSession == nil)
        }
    }

    @Test("a session whose token needs a check of presence is not shared")
    func marked() async throws {
        try await authlib { play in
            try await play.first.signIn()
            try play.scene.prependSettings("[sessions.\"\(play.names[0])\"]\npresence = true\n")
            #expect(try await play.scene.authc(["reload"]).status == 0)
            #expect(try await play.share().status != 0)
            #expect(try await play.refreshes() == 0)
            #expect(try await play.tokensAtSecond().isEmpty)
            // A mark of the other one is no obstacle.
            try play.scene.prependSettings("[sessions.\"\(play.names[1])\"]\npresence = true\n")
            let settings = play.scene.desktop.folder.path + "/config/authd/authd.toml"
            let text = try String(contentsOfFile: settings, encoding: .utf8)
                .replacing("[sessions.\"\(play.names[0])\"]\npresence = true\n", with: "")
            try text.write(toFile: settings, atomically: true, encoding: .utf8)
            #expect(try await play.scene.authc(["reload"]).status == 0)
            #expect(try await play.share().status == 0)
            #expect(try await play.status(1).sharedSession?.text == play.names[0])
        }
    }

    @Test(
        "if the server does not allow it, the ordinary sign-in follows, and no token is sent where it may not belong",
        arguments: [
            (["requires_resource": true], "could not be used"), (["ignores_resource": true], "does not say"),
            ([:], "does not say"), (["token_failure": [503, "temporarily_unavailable"]], "could not be used"),
        ] as [(JSON, String)])
    func refused(options: JSON, words: String) async throws {
        try await standIn { play in
            try await play.first.signIn()
            try await play.first.set(options)
            let login = try await Child(
                [Programs.authc, "login", play.second.url],
                environment: play.scene.desktop.environment.merging(["DISPLAY": ":9"]) { $1 })
            guard await login.err.wait(for: ": http"), await login.err.wait(for: "\n"),
                let address = login.err.text.firstMatch(of: /: (http\S+)/)?.1
            else { throw Failure(await login.err.all()) }
            #expect(try await play.tokensAtSecond().isEmpty)
            try await play.first.set(["token_failure": nil, "requires_resource": nil])
            _ = try await play.scene.get(String(address))
            let output = await login.output()
            #expect(output.status == 0 && output.err.contains(words), "\(output.err)")
            #expect(try await play.status(1).sharedSession == nil)
            for index in 0...1 { #expect(try await play.authc(Self.call, at: index).status == 0) }
        }
    }

    @Test("a server that revokes the one token with the other does not share")
    func exclusive() async throws {
        try await ResourceScene.play(["resource": ["resource": "BASE"], "exclusive": true]) { play in
            try await play.signIn()
            let output = try await play.scene.authc(["login", play.server.url + "/mcp/other", "--no-input"])
            #expect(output.status != 0, "\(output.err)")
            #expect(try await play.scene.authc(["request", "GET", ""]).status == 0)
            try await play.set(["exclusive": false])
            let shared = try await play.scene.authc(["login", play.server.url + "/mcp/other", "--no-input"])
            #expect(shared.status == 0, "\(shared.err)")
        }
    }
}
