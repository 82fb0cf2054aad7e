import AuthWire
import Foundation
import TestSupport

/// A scene with a protected resource, for sign-ins by its URL.
struct ResourceScene: Sendable {
    struct Entry: Decodable, Sendable {
        let method: String
        let path: String
        let query: [String: String]
        let form: [String: String]
        let authorization: String?
    }

    let scene: Scene
    let server: Peer

    /// The URL of the resource.
    var url: String { server.url + "/mcp" }

    /// - Parameter options: of `peers/resource-server.py`.
    static func play(
        _ options: JSON = [:], _ test: @escaping @Sendable (ResourceScene) async throws -> Void
    ) async throws {
        try await play(.resource, [options.text()], test)
    }

    static func play(
        _ program: Peer.Program, _ arguments: [String] = [],
        _ test: @escaping @Sendable (ResourceScene) async throws -> Void
    ) async throws {
        try await Scene.play { scene in
            try await Peer.running(program, arguments, in: scene.desktop) { server in
                try await test(ResourceScene(scene: scene, server: server))
            }
        }
    }

    /// Signs in at the URL, with a browser that consents at once.
    @discardableResult
    func signIn(_ arguments: [String] = [], at url: String? = nil) async throws -> Child.Output {
        try await scene.signInWithBrowser(arguments, at: url ?? self.url)
    }

    /// A sign-in that fails before a browser is needed.
    func failure(_ arguments: [String] = [], at url: String? = nil) async throws -> Child.Output {
        let output = try await scene.authc(["login", url ?? self.url, "--no-input"] + arguments)
        guard output.status != 0 else { throw Failure("signed in: \(output.out)\(output.err)") }
        return output
    }

    /// The requests so far.
    func log(_ path: String? = nil) async throws -> [Entry] {
        let all = try JSONDecoder().decode([Entry].self, from: Data(try await scene.get(server.url + "/log").utf8))
        return all.filter { path == nil || $0.path == path }
    }

    func set(_ options: JSON) async throws {
        _ = try await scene.get(server.url + "/set", ["--data", options.text()])
    }
}
