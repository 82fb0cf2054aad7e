import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// An agent with a session of a provider that behaves, beside one that does not (`peers/hostile-provider.py`).
struct HostileScene: Sendable {
    let scene: Scene
    let provider: Peer
    let ports: [String: Int]

    /// The session of the good provider.
    static let good = "app-template"
    /// The agent alone has some 30.
    static let mostMegabytes = 300
    /// For the whole response: what never ends is over then.
    private static let settings = """
        [http]
        ca_file = "FOLDER/ca.pem"
        request_timeout = "2s"
        total_timeout = "4s"

        """

    static func play(_ test: @escaping @Sendable (HostileScene) async throws -> Void) async throws {
        try await Scene.play(keyring: false) { scene in
            let folder = try scene.desktop.folder.folder("authority")
            try await Peer.running(.hostileProvider, [folder], in: scene.desktop) { provider in
                try scene.prependSettings(settings.replacing("FOLDER", with: folder))
                try await scene.restart(["--store", "memory"])
                let login = try await scene.login(.appTemplate)
                guard login.status == 0 else { throw Failure(login.err) }
                let ports = try JSON(parsing: try await scene.get(provider.url + "/ports")).objectValue ?? [:]
                let hostile = HostileScene(
                    scene: scene, provider: provider,
                    ports: Dictionary(uniqueKeysWithValues: ports.map { ($0.key, Int($0.value.integerValue ?? 0)) }))
                let before = try AgentSize(of: scene.agent)
                let tokens = try await GoodClient.beside(scene, session: good) { try await test(hostile) }
                #expect(tokens > 20)
                try await hostile.expectSound(before)
            }
        }
    }

    /// The ports with HTTP/2, one for each flood.
    var floods: [String] { ports.keys.filter { $0.hasPrefix("h2-") }.sorted() }

    /// A provider that has an environment for each of these URLs.
    func addProfile(_ urls: [String: String]) async throws {
        let environments = urls.sorted { $0.key < $1.key }.map { "\($0.key) = \"\($0.value)\"" }.joined(separator: "\n")
        try await scene.addProfile(
            """
            name = "hostile"
            cookies = true
            [environments]
            \(environments)
            [sign_in.password]
            fields = [{ name = "email" }, { name = "password", kind = "password" }]
            request = { method = "POST", path = "/login", body = { email = "{email}", password = "{password}" } }
            [reply]
            access_token = "/token"
            expires_in = "/expires_in"
            [renewal]
            kind = "none"
            [api]
            cache_seconds = 0
            """, named: "hostile")
    }

    /// Signs in there.
    func login(_ environment: String, session: String = "hostile") async throws -> Child.Output {
        try await scene.authc(
            [
                "login", "hostile", "--environment", environment, "-s", session, "--field", "email=ada@example.org",
                "--password-stdin",
            ], input: "secret-password")
    }

    /// The requests that the provider has received.
    func requests() async throws -> [JSON] {
        try JSON(parsing: try await scene.get(provider.url + "/log")).arrayValue ?? []
    }

    /// Expects one clear error, and an agent that is as well as before.
    func expectRefused(_ output: Child.Output, _ attack: String) throws {
        #expect(output.status != 0, "\(attack): \(output.out)")
        #expect(output.err.hasPrefix("authc: ") && output.err.utf8.count < 2000, "\(attack): \(output.err)")
        #expect(
            output.err.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 && $0.value != 0x7F }, "\(attack)")
        #expect(!output.err.contains("secret-password") && !output.err.contains("root:"), "\(attack): \(output.err)")
        let size = try AgentSize(of: scene.agent)
        #expect(size.megabytes < Self.mostMegabytes, "\(attack): \(size)")
    }

    private func expectSound(_ before: AgentSize) async throws {
        let size = try AgentSize(of: scene.agent)
        // A connection to each origin may stay open for some seconds.
        #expect(size.descriptors <= before.descriptors + 2 * ports.count, "\(size) after \(before)")
        #expect(try await scene.agent.status(Self.good).state == .active)
        let names = try await SessionList(scene.agent.json("list")).sessions.map(\.session.text)
        #expect(names.contains(Self.good))
    }
}
