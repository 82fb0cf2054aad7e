import AuthModel
import AuthSealedFile
import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// From one store to another, and from one machine to another.
@Suite("Sessions that move", .serialized, .timeLimit(.minutes(2)))
struct MoveTests {
    /// An agent with two sessions in the keyring, and a key for sealed files in its settings.
    private func play(_ test: @escaping @Sendable (Scene, String) async throws -> Void) async throws {
        try await Scene.play { scene in
            let key = try scene.desktop.folder.write("0123456789abcdef0123456789abcdef", to: "key")
            chmod(key, 0o600)
            try scene.prependSettings("sealed_key = \"\(key)\"\n")
            try await scene.restart()
            #expect(try await scene.login(.appTemplate).status == 0)
            #expect(try await scene.login(.envelope).status == 0)
            try await test(scene, scene.desktop.folder.path + "/state/authd")
        }
    }

    private func files(_ state: String) -> Set<String> {
        Set((try? FileManager.default.contentsOfDirectory(atPath: state + "/sessions")) ?? [])
    }

    @Test("from the keyring to sealed files and back: each in one place, served throughout, and there after a kill")
    func thereAndBack() async throws {
        try await play { scene, state in
            let tokens = try await scene.tokens()
            let there = try await scene.agent.authc("store", "migrate", "--to", "sealed-file")
            #expect(there.status == 0 && there.err.contains("moved to sealed-file: 2"), "\(there.err)")
            #expect(try await scene.desktop.keyringItems().isEmpty)
            #expect(files(state) == ["key", "index", "app-template.session", "envelope.session"])
            #expect(try await scene.tokens() == tokens)
            #expect(try await scene.agent.authc("status", "-s", "envelope").out.contains("sealed file"))
            #expect(try await scene.agent.authc("doctor").out.contains("sealed-file is open"))
            #expect(try await scene.agent.authc("refresh", "-s", "app-template").status == 0)
            let renewed = try await scene.tokens()
            try await scene.agent.child.end(SIGKILL)
            try await scene.startAgent()
            #expect(try await scene.tokens() == renewed)
            let again = try await scene.agent.authc("store", "migrate", "--to", "sealed-file")
            #expect(again.status == 0 && again.err.contains("already"), "\(again.err)")

            #expect(try await scene.agent.authc("store", "migrate", "--to", "secret-service").status == 0)
            #expect(files(state) == ["key", "index"])
            #expect(try await scene.desktop.keyringItems().count == 2)
            #expect(try await scene.tokens() == renewed)
            #expect(try await scene.agent.authc("logout").status == 0)
            try await scene.restart()
            #expect(try await scene.tokens().count == 1)
            #expect(scene.signIns == 2)
        }
    }

    /// What a keyring that misbehaves on order has, as its file says.
    private func stored(_ scene: Scene) throws -> [String] {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: scene.desktop.folder.path + "/kept"))
        let items = try JSON(parsing: Array(bytes))["items"]?.objectValue ?? JSONObject()
        return items.compactMap { $0.value["attributes"]?["session"]?.stringValue }.sorted()
    }

    /// The note about a move that is not done.
    private func moved(_ state: String) -> String? { try? String(contentsOfFile: state + "/moved", encoding: .utf8) }

    private func until(_ scene: Scene, _ condition: () -> Bool) async throws -> Bool {
        try await TestSupport.until {
            _ = try await scene.ask("agent.ping", [:])
            return condition()
        }
    }

    @Test("that were moved, and whose copies the agent was killed over, are in one place after the next start")
    func killedBeforeTheEnd() async throws {
        try await Scene.play(keyring: false) { scene in
            let key = try scene.desktop.folder.write("0123456789abcdef0123456789abcdef", to: "key")
            chmod(key, 0o600)
            try scene.prependSettings("sealed_key = \"\(key)\"\n")
            let keyring = try await scene.desktop.startFaultyKeyring()
            try await scene.restart()
            #expect(try await scene.login(.appTemplate).status == 0)
            #expect(try await scene.login(.envelope).status == 0)
            let tokens = try await scene.tokens()
            let state = scene.desktop.folder.path + "/state/authd"
            // Takes what it is given, and never lets go of it.
            try await scene.desktop.becomes(.clinging)
            let migrate = try await Child(
                [Programs.authc, "store", "migrate", "--to", "sealed-file"], environment: scene.desktop.environment)
            let copied = "secret-service sealed-file\napp-template "
            #expect(try await until(scene) { moved(state)?.hasPrefix(copied) == true })
            try await scene.agent.child.end(SIGKILL)
            await migrate.end()
            try await scene.desktop.becomes(.well)
            #expect(try stored(scene) == ["app-template", "envelope"])

            try await scene.startAgent()
            #expect(try await scene.tokens() == tokens)
            #expect(try await until(scene) { moved(state) == nil })
            #expect(try stored(scene).isEmpty)
            #expect(try await scene.tokens() == tokens)
            // And back, so that they are nowhere else.
            #expect(try await scene.agent.authc("store", "migrate", "--to", "secret-service").status == 0)
            #expect(files(state) == ["key", "index"])
            #expect(try stored(scene) == ["app-template", "envelope"])
            await keyring.end()
        }
    }

    @Test("of which one was copied before a kill stay where they were, and no copy comes back after a sign-out")
    func killedWhileCopying() async throws {
        try await Scene.play(keyring: false) { scene in
            let key = try scene.desktop.folder.write("0123456789abcdef0123456789abcdef", to: "key")
            chmod(key, 0o600)
            try scene.prependSettings("sealed_key = \"\(key)\"\n")
            let keyring = try await scene.desktop.startFaultyKeyring()
            try await scene.restart()
            #expect(try await scene.login(.appTemplate).status == 0)
            #expect(try await scene.login(.envelope).status == 0)
            let tokens = try await scene.tokens()
            let state = scene.desktop.folder.path + "/state/authd"
            #expect(try await scene.agent.authc("store", "migrate", "--to", "sealed-file").status == 0)
            try await scene.desktop.becomes(.tiring)
            let migrate = try await Child(
                [Programs.authc, "store", "migrate", "--to", "secret-service"], environment: scene.desktop.environment)
            #expect(try await until(scene) { (try? stored(scene)) == ["app-template"] })
            #expect(moved(state)?.hasPrefix("sealed-file secret-service copying\napp-template ") == true)
            try await scene.agent.child.end(SIGKILL)
            await migrate.end()
            try await scene.desktop.becomes(.well)

            try await scene.startAgent()
            #expect(try await scene.tokens() == tokens)
            #expect(try await scene.agent.authc("logout", "-s", "app-template").status == 0)
            #expect(try await until(scene) { moved(state) == nil })
            #expect(try stored(scene).isEmpty)
            #expect(try await scene.agent.authc("store", "migrate", "--to", "secret-service").status == 0)
            #expect(try stored(scene) == ["envelope"])
            #expect(try await scene.tokens().count == 1)
            await keyring.end()
        }
    }

    @Test("nothing moves to a keyring that is locked, nor against what the settings or the command line say")
    func refused() async throws {
        try await play { scene, state in
            #expect(try await scene.agent.authc("store", "migrate", "--to", "memory").status == 64)
            try await scene.restart(["--store", "secret-service"])
            let output = try await scene.agent.authc("store", "migrate", "--to", "sealed-file")
            #expect(output.status == 65, "\(output.err)")
            #expect(output.err.contains("--store or authd.toml selects secret-service"), "\(output.err)")
            #expect(files(state).isEmpty)
            try await scene.restart()
            #expect(try await scene.agent.authc("store", "migrate", "--to", "sealed-file").status == 0)
            let tokens = try await scene.tokens()
            let before = files(state)
            try await scene.restart()
            let other = try await Child(
                [Programs.authd, "--store", "secret-service", "--socket", scene.desktop.folder.path + "/other/socket"],
                environment: scene.desktop.environment)
            await other.err.wait(for: "Serving")
            let taken = try await scene.agent.authc("store", "migrate", "--to", "secret-service")
            #expect(taken.status == 4 && taken.err.contains("pid \(other.pid)"), "\(taken.err)")
            await other.end()
            try await scene.desktop.lockKeyring()
            let locked = try await scene.agent.authc("store", "migrate", "--to", "secret-service")
            #expect(locked.status == 4, "\(locked.err)")
            #expect(files(state) == before)
            #expect(try await scene.desktop.keyringItems().isEmpty)
            try await scene.restart()
            #expect(try await scene.tokens() == tokens)
        }
    }

    @Test("to another machine in a file that its passphrase opens, all or none, without readable secrets")
    func bundle() async throws {
        var strict = OAuthStandIn.Configuration()
        (strict.requiresProofs, strict.requiresNonces) = (true, true)
        try await OAuthStandIn.serving(strict) { server in
            try await play { scene, _ in try await bundle(scene, server) }
        }
    }

    private func bundle(_ scene: Scene, _ server: OAuthStandIn) async throws {
        try await scene.addProfile(
            """
            name = "\(OAuthScene.provider)"
            issuer = "\(server.issuer)"
            client_id = "authd-test"
            scopes = ["openid"]
            [oauth]
            dpop = true
            """)
        try await scene.signInByBrowser()
        let tokens = try await scene.tokens()
        let file = scene.desktop.folder.path + "/sessions.authd"
        let passphrase = "correct horse battery\n"
        #expect(try await scene.agent.authc("export", file, "--passphrase-stdin", input: "eleven char\n").status == 65)
        let exported = try await scene.agent.authc("export", file, "--passphrase-stdin", input: passphrase)
        #expect(
            exported.status == 0 && exported.err.contains("Exported: app-template, envelope, \(OAuthScene.provider)."),
            "\(exported.err)")
        #expect(mode(of: file) == 0o600)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        for secret in scene.backends.secrets + ["ada@example.org"] {
            #expect(bytes.range(of: Data(secret.utf8)) == nil)
        }
        // As such a file, with less work than a debug build of scrypt needs seconds for.
        let other = try await Self.cheapBundle("envelope", passphrase, in: scene)
        let here = try await scene.agent.authc("import", other, "--passphrase-stdin", input: passphrase)
        #expect(here.status == 65 && here.err.contains("exist already: envelope"), "\(here.err)")
        let wrong = try await scene.agent.authc("import", other, "--passphrase-stdin", input: "another passphrase")
        #expect(wrong.status == 65 && wrong.err.contains("The passphrase is wrong"), "\(wrong.err)")
        for session in tokens.keys {
            #expect(try await scene.agent.authc("logout", "--no-revoke", "-s", session).status == 0)
        }
        #expect(try await scene.agent.authc("import", file, "--passphrase-stdin", input: passphrase).status == 0)
        #expect(try await scene.tokens() == tokens)
        #expect(try await scene.desktop.keyringItems().count == 3)
        #expect(try await scene.agent.authc("refresh", "-s", "app-template").status == 0)
        // Its token is bound to a key, which went with it: by another one neither of these is taken.
        let hello = try await scene.authc(["request", "-s", OAuthScene.provider, "GET", "/api/hello"])
        #expect(hello.out.contains("Jane Doe"), "\(hello.err)")
        #expect(try await scene.agent.authc("refresh", "-s", OAuthScene.provider).status == 0)
        #expect(server.counts.proofRefusals.isEmpty)
        try await scene.expectNoSecretInLog()
    }

    private static func cheapBundle(_ session: String, _ passphrase: String, in scene: Scene) async throws -> String {
        let now = WallTime(unixSeconds: 1_800_000_000)
        let record = SessionRecord(
            session: try SessionName(session), provider: "envelope", environment: "local", method: "password",
            tokens: TokenSet(accessToken: Secret("token"), issuedAt: now), user: nil, rawUser: nil, signedInAt: now)
        let content = Secret("{\"sessions\":[\(record.encoded().reveal())]}")
        let bytes = try await PassphraseBundles(cost: PassphraseCost(logarithm: 10)).close(
            content, with: Secret(passphrase.trimmingCharacters(in: .newlines)))
        let file = scene.desktop.folder.path + "/cheap.authd"
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        return file
    }
}
