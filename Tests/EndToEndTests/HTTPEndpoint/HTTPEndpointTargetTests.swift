import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// Programs whose entries name scopes or an audience, at a server that issues another token for each of them.
@Suite("The local HTTP endpoint and tokens for one scope or audience", .serialized, .timeLimit(.minutes(2)))
struct HTTPEndpointTargetTests {
    private static let session = ["-s", OAuthScene.provider]
    private static let metadata = "/computeMetadata/v1/instance/service-accounts/default"

    @Test("a program gets a token for what its entry names, whatever it requests, and so does an exchange at AWS")
    func targets() async throws {
        try await OAuthScene.play { scene, server in
            #expect(try await scene.loginByBrowser().status == 0)
            try await Peer.running(.sts, in: scene.desktop) { sts in
                let play = EndpointScene(scene: scene, server: sts)
                func add(_ name: String, _ options: String...) async throws -> String {
                    try await play.add(name, Self.session + options)
                }
                let own = try await add("own")
                let reader = try await add("reader", "--scope", "write", "--scope", "read")
                let api = try await add("api", "--audience", "https://api.example.org/v1")
                let backup = try await add(
                    "backup", "--view", "aws", "--role", EndpointScene.role, "--sts", sts.url, "--audience",
                    "https://sts.example.org")
                try await play.serve { endpoint in
                    func token(_ key: String) async throws -> JSON {
                        try await endpoint.get("/v1/token", key: key).json
                    }
                    let first = try await token(own)["access_token"]
                    let read = try await token(reader)
                    let audience = try await token(api)["access_token"]
                    #expect(first?.stringValue != nil && read["access_token"]?.stringValue != nil)
                    #expect(Set([first, read["access_token"], audience].compactMap { $0?.stringValue }).count == 3)
                    #expect(try await token(reader)["access_token"] == read["access_token"])
                    #expect(server.counts.targets.starts(with: ["read write", "resource https://api.example.org/v1"]))
                    // Nothing in a request widens an entry.
                    for more in ["scopes=admin", "scope=admin", "audience=https://other.example", "min_valid_ms=1"] {
                        let widened = try await endpoint.get("/v1/token?\(more)", key: reader)
                        #expect(widened.status == 400 && !widened.body.contains("access_token"), "\(widened)")
                    }
                    #expect(!server.counts.targets.contains { $0.contains("admin") || $0.contains("other") })
                    let credentials = try await endpoint.get("/v1/aws", key: backup)
                    #expect(credentials.status == 200, "\(credentials.body)")
                    #expect(try await play.exchanges() == "[0]")
                    #expect(server.counts.targets.contains("resource https://sts.example.org"))
                    // A refusal of the server is reported.
                    server.misbehave(.grantsLess, times: 1)
                    #expect(try await scene.authc(["http", "remove", "api"]).status == 0)
                    let admin = try await add("admin", "--scope", "admin")
                    let less = try await endpoint.get("/v1/token", key: admin)
                    #expect((400..<600).contains(less.status) && less.body.contains("did not grant admin"), "\(less)")
                }
            }
        }
    }

    @Test("the view for Google's libraries has the scopes of the entry, and its token")
    func google() async throws {
        try await OAuthScene.play { scene, server in
            #expect(try await scene.loginByBrowser().status == 0)
            let port = try FreePort.find()
            _ = try await scene.addProgram(
                "build", Self.session + ["--view", "gce", "--port", "\(port)", "--scope", "read"])
            try await scene.serveEndpoint { endpoint in
                #expect(await endpoint.child.out.wait(for: ":\(port) build\n"), "\(endpoint.child.err.text)")
                func get(_ item: String) async throws -> ServedEndpoint.Response {
                    let flavor = ["--header", "Metadata-Flavor: Google"]
                    return try await endpoint.get(Self.metadata + item, at: "127.0.0.1:\(port)", flavor)
                }
                #expect(try await get("/scopes").body == "read\n")
                let token = try await get("/token?scopes=admin").json["access_token"]?.stringValue
                let own = try await scene.authc(["token", "-s", OAuthScene.provider])
                #expect(token?.isEmpty == false && own.out != (token ?? "") + "\n", "\(own.err)")
                #expect(server.counts.targets.first == "read" && !server.counts.targets.contains("admin"))
            }
        }
    }
}
