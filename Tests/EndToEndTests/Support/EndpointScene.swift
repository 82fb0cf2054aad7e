import AuthWire
import Foundation
import TestSupport

/// A session `work` at the backend of `peers/sts-server.py`, and the local HTTP endpoint.
struct EndpointScene: Sendable {
    static let role = "arn:aws:iam::123456789012:role/reader"
    static let secret = "token-"

    let scene: Scene
    let server: Peer

    static func play(_ test: @escaping @Sendable (EndpointScene) async throws -> Void) async throws {
        try await Scene.play(signedInTo: .sts, as: "work") { scene, server in
            try await test(EndpointScene(scene: scene, server: server))
        }
    }

    /// Adds a program, and returns its key.
    func add(_ name: String, _ options: [String]) async throws -> String { try await scene.addProgram(name, options) }

    func addAWS(_ name: String) async throws -> String {
        try await add(name, ["-s", "work", "--view", "aws", "--role", Self.role, "--sts", server.url])
    }

    func signOut() async throws {
        let output = try await scene.authc(["logout", "-s", "work"])
        guard output.status == 0 else { throw Failure(output.err) }
    }

    func signIn() async throws {
        let words = ["login", "work", "--field", "email=ada@example.org", "--password-stdin"]
        let output = try await scene.authc(words, input: "secret")
        guard output.status == 0 else { throw Failure(output.err) }
    }

    func tell(_ path: String) async throws {
        _ = try await scene.get(server.url + path, ["--request", "POST"])
    }

    /// Which tokens of the backend were exchanged so far.
    func exchanges() async throws -> String { try await scene.get(server.url + "/log") }

    /// The endpoint while the test runs, on a port of the system's choice.
    func serve(_ options: [String] = [], _ test: (ServedEndpoint) async throws -> Void) async throws {
        try await scene.serveEndpoint(options, test)
    }
}

extension Scene {
    /// Adds a program, and returns its key.
    func addProgram(_ name: String, _ options: [String]) async throws -> String {
        let added = try await authc(["http", "add", name, "--json"] + options)
        guard added.status == 0, let file = try JSON(parsing: added.out)["key_file"]?.stringValue else {
            throw Failure("\(added.status) \(added.out)\(added.err)")
        }
        let key = try String(contentsOfFile: file, encoding: .utf8)
        guard key.utf8.count == 64, !added.out.contains(key), !added.err.contains(key) else { throw Failure(added.out) }
        return key
    }

    /// The endpoint while the test runs, on a port of the system's choice.
    func serveEndpoint(_ options: [String] = [], _ test: (ServedEndpoint) async throws -> Void) async throws {
        let command = [Programs.authc, "http", "serve", "--listen", "127.0.0.1:0"] + options
        let child = try await Child(command, environment: desktop.environment)
        guard await child.out.wait(for: "\n"),
            let address = child.out.text.firstMatch(of: /http:\/\/(127\.0\.0\.1:[0-9]+)\n/)?.1
        else { throw Failure("no endpoint: \(await child.err.all())") }
        let result: Result<Void, any Error>
        do {
            try await test(ServedEndpoint(address: String(address), desktop: desktop, child: child))
            result = .success(())
        } catch {
            result = .failure(error)
        }
        let status = await child.end()
        try result.get()
        let printed = child.out.text + child.err.text
        guard status == 0, !printed.contains(EndpointScene.secret) else {
            throw Failure("it ended with \(status): \(printed)")
        }
    }
}

/// A running endpoint, for curl.
struct ServedEndpoint: Sendable {
    /// 127.0.0.1 and the port.
    let address: String
    let desktop: Desktop
    let child: Child

    /// A response with its status.
    struct Response: Sendable {
        let status: Int
        let head: String
        let body: String

        var json: JSON { get throws { try JSON(parsing: body) } }
    }

    /// - Parameter address: of another port; `nil`: the endpoint's own.
    func get(
        _ target: String, key: String? = nil, at address: String? = nil, _ options: [String] = []
    ) async throws -> Response {
        let command = ["curl", "--silent", "--show-error", "--include", "--noproxy", "*", "--max-time", "60"]
        let header = key.map { ["--header", "Authorization: Bearer \($0)"] } ?? []
        let url = "http://\(address ?? self.address)\(target)"
        let output = try await desktop.run(command + header + options + [url])
        guard output.status == 0, let end = output.out.range(of: "\r\n\r\n"),
            let status = output.out.firstMatch(of: /^HTTP\/1\.1 ([0-9]+)/)?.1
        else { throw Failure("\(output.status) \(output.out)\(output.err)") }
        let head = String(output.out[..<end.lowerBound])
        return Response(status: Int(status) ?? 0, head: head, body: String(output.out[end.upperBound...]))
    }
}
