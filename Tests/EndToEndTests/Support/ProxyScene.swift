import AuthWire
import Foundation
import TestSupport

/// A session at `peers/proxy-server.py`, and the proxies of a test.
struct ProxyScene: Sendable {
    static let secrets = ["token-secret-1", "token-secret-2", "refresh-secret"]

    let scene: Scene
    let server: Peer

    static func play(
        at program: Peer.Program = .proxied, signsIn: Bool = true,
        _ test: @escaping @Sendable (ProxyScene) async throws -> Void
    ) async throws {
        try await Scene.play { scene in
            try await Peer.running(program, in: scene.desktop) { server in
                try await scene.addProfile(profile(server.url), named: "api")
                if signsIn { try await signIn(scene) }
                try await test(ProxyScene(scene: scene, server: server))
            }
        }
    }

    static func signIn(_ scene: Scene) async throws {
        let login = try await scene.authc(
            ["login", "api", "-s", "work", "--field", "user=ada", "--password-stdin"], input: "pw")
        guard login.status == 0 else { throw Failure(login.err) }
    }

    /// A command that runs others as a service whose output is the journal's (systemd.exec(5)).
    static let asService = [
        "sh", "-c", #"JOURNAL_STREAM=$(stat -L -c %d:%i /proc/$$/fd/1) && export JOURNAL_STREAM && exec "$@""#, "sh",
    ]

    static func command(_ arguments: [String]) -> [String] { [Programs.authc, "proxy", "-s", "work"] + arguments }

    /// A proxy while the test runs; it is given what the proxy printed.
    /// - Parameter wrapper: a command that becomes it.
    func proxy(
        _ arguments: [String] = [], with more: [String: String] = [:], by wrapper: [String] = [],
        _ test: (ProxyAddress) async throws -> Void
    ) async throws {
        try await scene.proxy(wrapper + Self.command(arguments), with: more, test)
    }

    /// The program that `authc proxy` becomes, for options that are not for users.
    func gateway(
        _ arguments: [String], _ test: (ProxyAddress) async throws -> Void
    ) async throws {
        try await scene.proxy(
            [Programs.folder + "/authd-gateway", "proxy", "--session", "work"] + arguments, with: [:], test)
    }

    /// The requests of the server so far: method, path and `Authorization`.
    func log() async throws -> [[String]] {
        try JSONDecoder().decode([[String]].self, from: Data(try await scene.get(server.url + "/log").utf8))
    }

    func tell(_ path: String) async throws {
        _ = try await scene.get(server.url + path, ["--request", "POST"])
    }

    static func profile(_ url: String) -> String {
        """
        name = "api"
        [environments]
        production = "\(url)"
        [sign_in.password]
        fields = [{ name = "user" }, { name = "password", kind = "password" }]
        request = { method = "POST", path = "/login", body = { user = "{user}", password = "{password}" } }
        [reply]
        access_token = "/token"
        refresh_token = "/refresh"
        [errors]
        message = "/message"
        [renewal]
        kind = "refresh"
        request = { method = "POST", path = "/refresh", body = { refresh = "{refresh_token}" } }
        """
    }
}

extension Scene {
    /// A command that is a proxy, while the test runs; it is given what the proxy printed.
    func proxy(
        _ command: [String], with more: [String: String] = [:], _ test: (ProxyAddress) async throws -> Void
    ) async throws {
        let child = try await Child(command, environment: desktop.environment.merging(more) { $1 })
        guard await child.out.wait(for: "\n") else { throw Failure("no proxy: \(await child.err.all())") }
        let line = child.out.text.trimmingCharacters(in: .whitespacesAndNewlines)
        let result: Result<Void, any Error>
        do {
            try await test(ProxyAddress(text: line, desktop: desktop, child: child))
            result = .success(())
        } catch {
            result = .failure(error)
        }
        let status = await child.end()
        try result.get()
        guard status == 0 else { throw Failure("the proxy ended with \(status): \(child.err.text)") }
    }
}

/// What a proxy printed, for curl.
struct ProxyAddress: Sendable {
    let text: String
    let desktop: Desktop
    let child: Child

    var path: String? { text.hasPrefix("unix:") ? String(text.dropFirst(5)) : nil }
    private var base: [String] { path.map { ["--unix-socket", $0] } ?? [] }

    func url(_ target: String) -> String { (path == nil ? text : "http://localhost") + target }

    /// With the status and the headers, as curl prints them.
    func curl(_ target: String, _ options: [String] = []) async throws -> String {
        let command = ["curl", "--silent", "--show-error", "--include", "--noproxy", "*", "--max-time", "60"]
        let output = try await desktop.run(command + base + options + [url(target)])
        guard output.status == 0 else { throw Failure("\(output.status) \(output.out)\(output.err)") }
        return output.out
    }

    /// The JSON of a response.
    func json(_ target: String, _ options: [String] = []) async throws -> JSON {
        let text = try await curl(target, options)
        guard let end = text.range(of: "\r\n\r\n{") else { throw Failure(text) }
        return try JSON(parsing: "{" + text[end.upperBound...])
    }
}
