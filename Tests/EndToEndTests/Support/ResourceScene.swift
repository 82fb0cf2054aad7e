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
        try await Scene.play { scene in
            try await Peer.running(.resource, [options.text()], in: scene.desktop) { server in
                try await test(ResourceScene(scene: scene, server: server))
            }
        }
    }

    /// Signs in at the URL, with a browser that consents at once.
    @discardableResult
    func signIn(_ arguments: [String] = [], at url: String? = nil) async throws -> Child.Output {
        let (login, address) = try await scene.beginInBrowser(arguments, at: url ?? self.url)
        let page = try await scene.get(address)
        let output = await login.output()
        guard output.status == 0 else { throw Failure("\(output.err)\n\(page)") }
        return output
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

extension Scene {
    /// What a browser without a user gets.
    func get(_ url: String, _ more: [String] = []) async throws -> String {
        try await desktop.run(["curl", "--silent", "--location", "--noproxy", "*"] + more + [url]).out
    }
}
