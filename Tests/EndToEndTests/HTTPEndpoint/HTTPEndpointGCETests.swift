import AuthWire
import Foundation
import TestSupport
import Testing

/// The metadata server of Google Compute Engine, for Google's library.
@Suite("The endpoint's view for Google's libraries", .serialized, .timeLimit(.minutes(3)))
struct HTTPEndpointGCETests {
    private static let token = "/computeMetadata/v1/instance/service-accounts/default/token"
    private static let flavor = ["--header", "Metadata-Flavor: Google"]

    /// The endpoint with a program's own port.
    private func serve(
        _ play: EndpointScene, _ test: (ServedEndpoint, _ address: String) async throws -> Void
    ) async throws {
        let port = try FreePort.find()
        _ = try await play.add("build", ["-s", "work", "--view", "gce", "--port", "\(port)"])
        let address = "127.0.0.1:\(port)"
        try await play.serve { endpoint in
            #expect(await endpoint.child.out.wait(for: "http://\(address) build\n"), "\(endpoint.child.err.text)")
            try await test(endpoint, address)
        }
    }

    /// What Google's library has found, with the variables that `authc http env` prints.
    private func client(_ play: EndpointScene) async throws -> JSON {
        let command = try Peer.Program.googleClient.command().joined(separator: " ")
        let recipe = try Recipes.block(with: "authc http env build")
        let program = "python3 report.py"
        #expect(recipe.contains(program))
        let output = try await play.scene.run(recipe.replacing(program, with: command))
        guard output.status == 0 else { throw Failure("\(output)") }
        return try JSON(parsing: output.out)
    }

    @Test("the recipe: Google's library finds the server and gets the session's token, without a key")
    func recipe() async throws {
        try await EndpointScene.play { play in
            try await serve(play) { _, _ in
                let found = try await client(play)
                #expect(found["kind"] == "google.auth.compute_engine.credentials", "\(found)")
                #expect(found["token"] == "token-1" && found["is_valid"] == true, "\(found)")
                #expect(found["account"] == "ada@example.org" && found["universe"] == "googleapis.com", "\(found)")
            }
        }
    }

    @Test("without Metadata-Flavor, forwarded, from a page or for another name, a request is refused")
    func refusals() async throws {
        try await EndpointScene.play { play in
            try await serve(play) { endpoint, address in
                func response(
                    _ options: [String], _ target: String = Self.token
                ) async throws -> ServedEndpoint.Response {
                    try await endpoint.get(target, at: address, options)
                }
                let good = try await response(Self.flavor)
                #expect(good.status == 200 && good.head.contains("Metadata-Flavor: Google"))
                #expect(try good.json["access_token"] == "token-1" && good.json["expires_in"]?.integerValue != nil)
                for options in [
                    [], ["--header", "Metadata-Flavor: Other"],
                    Self.flavor + ["--header", "X-Forwarded-For: 10.0.0.1"],
                    Self.flavor + ["--header", "Origin: https://evil.example"],
                    Self.flavor + ["--header", "Sec-Fetch-Site: cross-site"],
                ] {
                    let refused = try await response(options)
                    #expect(refused.status == 403 && !refused.body.contains("token-1"), "\(options) \(refused.body)")
                }
                #expect(try await response(Self.flavor + ["--header", "Host: evil.example"]).status == 421)
                #expect(try await response(Self.flavor, "/computeMetadata/v1/project/project-id").status == 404)
                // The port has this view only, and the endpoint's own port has not.
                #expect(try await response(Self.flavor, "/v1/token").status == 404)
                #expect(try await endpoint.get(Self.token, Self.flavor).status == 404)
                #expect(try await play.scene.authc(["http", "remove", "build"]).status == 0)
                #expect(try await response(Self.flavor).status == 403)
            }
        }
    }

    @Test("a signed-out session is an error at once: the library does not try again")
    func signedOut() async throws {
        try await EndpointScene.play { play in
            try await serve(play) { endpoint, address in
                try await play.signOut()
                let refusal = try await endpoint.get(Self.token, at: address, Self.flavor)
                #expect(refusal.status == 401 && refusal.head.contains("Metadata-Flavor: Google"), "\(refusal.body)")
                #expect(try refusal.json["error_description"]?.stringValue?.contains("authc login") == true)
                let found = try await client(play)
                #expect(found["error"]?.stringValue?.contains("Status: 401") == true, "\(found)")
            }
        }
    }

    @Test("a port serves nothing for a program without its key, or with another port by now")
    func formerPort() async throws {
        try await EndpointScene.play { play in
            try await serve(play) { endpoint, address in
                let other = try FreePort.find()
                let same = try await play.scene.authc([
                    "http", "add", "other", "-s", "work", "--view", "gce", "--port",
                    String(address.drop { $0 != ":" }.dropFirst()),
                ])
                #expect(same.status == 64 && same.err.contains("'build' has port"), "\(same.err)")
                let shown = try await play.scene.authc(["http", "list", "--json"])
                let file = try #require(try JSON(parsing: shown.out)["programs"]?.arrayValue?.first?["key_file"])
                try FileManager.default.removeItem(atPath: try #require(file.stringValue))
                #expect(try await endpoint.get(Self.token, at: address, Self.flavor).status == 403)
                #expect(try await play.scene.authc(["http", "remove", "build"]).status == 0)
                _ = try await play.add("build", ["-s", "work", "--view", "gce", "--port", "\(other)"])
                #expect(try await endpoint.get(Self.token, at: address, Self.flavor).status == 403)
            }
        }
    }

    @Test("a port that is in use keeps no other program from being served")
    func portInUse() async throws {
        try await EndpointScene.play { play in
            let key = try await play.add("reports", ["-s", "work"])
            try await play.serve { first in
                let port = try #require(first.address.split(separator: ":").last.map(String.init))
                _ = try await play.add("build", ["-s", "work", "--view", "gce", "--port", port])
                try await play.serve { second in
                    #expect(await second.child.err.wait(for: "'build' is not served"))
                    let response = try await second.get("/v1/token", key: key)
                    #expect(response.status == 200)
                }
            }
        }
    }
}
