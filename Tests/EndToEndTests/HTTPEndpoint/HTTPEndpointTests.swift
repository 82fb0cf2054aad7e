import AuthWire
import Foundation
import TestSupport
import Testing

/// `authc http` with curl, as a program that can only use HTTP.
@Suite("The local HTTP endpoint", .serialized, .timeLimit(.minutes(3)))
struct HTTPEndpointTests {
    @Test("a program gets the token of its session with its own key, and the audit log names it")
    func token() async throws {
        try await EndpointScene.play { play in
            let key = try await play.add("reports", ["-s", "work"])
            try await play.serve { endpoint in
                let response = try await endpoint.get("/v1/token?session=work", key: key)
                #expect(response.status == 200 && response.head.lowercased().contains("cache-control: no-store"))
                let json = try response.json
                #expect(json["access_token"] == "token-1" && json["session"] == "work", "\(response.body)")
                #expect(json["token_type"] == "Bearer" && json["expires_at"]?.doubleValue != nil)
                let short = try await endpoint.get("/v1/token", ["--header", "Authd-Key: \(key)"])
                #expect(try short.json["access_token"] == "token-1")
                #expect(try await play.scene.authc(["log"]).out.contains("http reports"))
                let arguments = try String(contentsOfFile: "/proc/\(endpoint.child.pid)/cmdline", encoding: .utf8)
                #expect(arguments.contains("http") && !arguments.contains(key))
            }
        }
    }

    @Test("without its key, with another program's, or for another session or view, a program gets nothing")
    func keys() async throws {
        try await EndpointScene.play { play in
            let key = try await play.add("reports", ["-s", "work"])
            let other = try await play.addAWS("backup")
            try await play.serve { endpoint in
                for (target, key) in [
                    ("/v1/token", nil), ("/v1/token", String(repeating: "0", count: 64)), ("/v1/token", other),
                    ("/v1/token", key + "0"), ("/v1/token?session=other", key), ("/v1/aws", key), ("/metrics", key),
                    ("/metrics", nil), ("/v1/aws", nil),
                ] {
                    let response = try await endpoint.get(target, key: key)
                    #expect(response.status == 403 && !response.body.contains("token-1"), "\(target) \(response.body)")
                }
                let refusal = try await endpoint.get("/v1/aws", key: key).json
                #expect(refusal["Code"] == "denied" && refusal["Message"]?.stringValue?.contains("reports") == true)
                #expect(try await endpoint.get("/v1/token", key: key, ["--request", "POST"]).status == 405)
                #expect(try await endpoint.get("/v1/other", key: key).status == 404)
                #expect(try await endpoint.get("/\(key)/v1/token").status == 404)
            }
        }
    }

    @Test("a web page, and a name that was made to lead to the port, get nothing even with the key")
    func pages() async throws {
        try await EndpointScene.play { play in
            let key = try await play.add("reports", ["-s", "work"])
            try await play.serve { endpoint in
                func status(_ header: String) async throws -> Int {
                    try await endpoint.get("/v1/token", key: key, ["--header", header]).status
                }
                let headers = [
                    "Host: evil.example", "Origin: https://evil.example", "Sec-Fetch-Site: cross-site", "X-Own: a",
                ]
                var found: [Int] = []
                for header in headers { found.append(try await status(header)) }
                #expect(found == [421, 403, 403, 200])
            }
        }
    }

    @Test("a program that was removed gets nothing more, and the list has no key")
    func removal() async throws {
        try await EndpointScene.play { play in
            let key = try await play.add("reports", ["-s", "work"])
            try await play.serve { endpoint in
                #expect(try await endpoint.get("/v1/token", key: key).status == 200)
                for form in [[], ["--json"]] {
                    let list = try await play.scene.authc(["http", "list"] + form)
                    #expect(list.out.contains("reports") && list.out.contains("work") && !list.out.contains(key))
                }
                let again = try await play.scene.authc(["http", "add", "reports", "-s", "work"])
                #expect(again.status == 64 && again.err.contains("authc http remove reports"), "\(again.err)")
                #expect(try await play.scene.authc(["http", "remove", "reports"]).status == 0)
                #expect(try await endpoint.get("/v1/token", key: key).status == 403)
                #expect(try await play.scene.authc(["http", "remove", "reports"]).status == 64)
                #expect(try await play.add("reports", ["-s", "work"]) != key)
                #expect(try await endpoint.get("/v1/token", key: key).status == 403)
            }
        }
    }

    @Test("a key that others can read is refused")
    func openKey() async throws {
        try await EndpointScene.play { play in
            let key = try await play.add("reports", ["-s", "work"])
            let file = play.scene.desktop.folder.path + "/state/authd/http/reports.key"
            #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
            try await play.serve { endpoint in
                chmod(file, 0o644)
                let open = try await endpoint.get("/v1/token", key: key)
                chmod(file, 0o600)
                let closed = try await endpoint.get("/v1/token", key: key)
                #expect(open.status == 403 && closed.status == 200)
            }
        }
    }

    @Test("an entry that is a FIFO blocks neither the list nor the other programs, and its program gets nothing")
    func blockedEntry() async throws {
        try await EndpointScene.play { play in
            let key = try await play.add("reports", ["-s", "work"])
            let blocked = try await play.add("blocked", ["-s", "work"])
            let entry = play.scene.desktop.folder.path + "/state/authd/http/blocked.json"
            try FileManager.default.removeItem(atPath: entry)
            #expect(mkfifo(entry, 0o600) == 0)
            let list = try await play.scene.authc(["http", "list"])
            #expect(list.status == 0 && list.out.hasPrefix("reports") && !list.out.contains("blocked"), "\(list)")
            #expect(list.err.contains("it is not a regular file"), "\(list)")
            try await play.serve { endpoint in
                let failed = try await endpoint.get("/v1/token", key: blocked)
                let served = try await endpoint.get("/v1/token", key: key)
                #expect(failed.status == 500 && served.status == 200, "\(failed)")
            }
            #expect(try await play.scene.authc(["http", "remove", "blocked"]).status == 0)
            #expect(!FileManager.default.fileExists(atPath: entry))
        }
    }

    @Test("a signed-out session gets 401 with the command that signs in, and a token again after the sign-in")
    func signedOut() async throws {
        try await EndpointScene.play { play in
            let key = try await play.add("reports", ["-s", "work"])
            try await play.serve { endpoint in
                try await play.signOut()
                let refusal = try await endpoint.get("/v1/token", key: key)
                #expect(refusal.status == 401 && refusal.head.contains("application/problem+json"))
                #expect(try refusal.json["command"]?.stringValue?.hasPrefix("authc login") == true, "\(refusal.body)")
                try await play.signIn()
                #expect(try await endpoint.get("/v1/token", key: key).status == 200)
            }
        }
    }

    @Test("a valid token is served while the provider cannot be reached")
    func unreachable() async throws {
        try await EndpointScene.play { play in
            let key = try await play.add("reports", ["-s", "work"])
            try await play.serve { endpoint in
                play.server.end()
                let json = try await endpoint.get("/v1/token", key: key).json
                #expect(json["access_token"] == "token-1")
            }
        }
    }

    @Test("on its Unix socket, a program needs its key, too")
    func unixSocket() async throws {
        try await EndpointScene.play { play in
            let key = try await play.add("reports", ["-s", "work"])
            try await play.serve(["--unix"]) { endpoint in
                let path = endpoint.desktop.folder.path + "/run/authd-http/socket"
                #expect(await endpoint.child.out.wait(for: "unix:\(path)\n"))
                #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
                let socket = ["--unix-socket", path]
                let served = try await endpoint.get("/v1/token", key: key, at: "localhost", socket)
                let refused = try await endpoint.get("/v1/token", at: "localhost", socket)
                #expect(served.status == 200 && refused.status == 403)
            }
        }
    }

    @Test("the metrics are those of authc stats, with a separate key")
    func metrics() async throws {
        try await EndpointScene.play { play in
            let key = try await play.add("prometheus", ["--view", "metrics"])
            try await play.serve { endpoint in
                let response = try await endpoint.get("/metrics", key: key)
                #expect(response.status == 200 && response.head.contains("application/openmetrics-text; version=1.0.0"))
                #expect(response.body.hasSuffix("# EOF\n") && !response.body.contains("token-1"))
                let reader = try Peer.Program.metricsReader.command(["openmetrics"])
                let read = try await Child(reader, environment: [:], input: .text(response.body)).output()
                #expect(read.status == 0, "\(read.err)")
                let samples = try #require(try JSON(parsing: read.out)["samples"])
                #expect(samples["authd_session_active{provider=work,session=work}"] == 1)
                #expect(try await endpoint.get("/v1/token", key: key).status == 403)
            }
        }
    }

    @Test("the recipe: Prometheus reads the statistics, with the key of its entry")
    func prometheus() async throws {
        try await EndpointScene.play { play in
            #expect(try await play.scene.run(Recipes.block(with: "authc http add prometheus")).status == 0)
            try await play.serve { endpoint in
                let folder = play.scene.desktop.folder
                var block = try Recipes.block(with: "scrape_configs:")
                for (name, replacement) in [
                    ("/home/ada/.local/state/authd", folder.path + "/state/authd"),
                    ("127.0.0.1:7871", endpoint.address),
                ] {
                    #expect(block.contains(name))
                    block = block.replacing(name, with: replacement)
                }
                let file = try folder.write("global: {scrape_interval: 1s}\n" + block, to: "prometheus.yml")
                let address = "127.0.0.1:\(try FreePort.find())"
                let prometheus = try await Child(
                    [
                        "prometheus", "--config.file=\(file)", "--storage.tsdb.path=\(folder.path)/metrics",
                        "--web.listen-address=\(address)",
                    ], environment: play.scene.desktop.environment)
                #expect(await prometheus.err.wait(for: "Server is ready"))
                let query = "http://\(address)/api/v1/query?query=authd_session_active"
                var answer = ""
                // Its targets are read some seconds after the start.
                let isThere = try await until {
                    answer = try await play.scene.get(query)
                    return answer.contains(#""session":"work""#)
                }
                #expect(isThere && answer.contains(#""provider":"work""#), "\(answer)")
                await prometheus.end()
            }
        }
    }

    @Test("it does not start without an agent, and says so")
    func noAgent() async throws {
        try await EndpointScene.play { play in
            try await play.scene.agent.child.end()
            let output = try await play.scene.authc(["http", "serve", "--listen", "127.0.0.1:0"])
            #expect(output.status == 69 && output.out.isEmpty && output.err.contains("agent"), "\(output)")
        }
    }

    @Test("the recipe: a key, and a request that has it in no argument")
    func recipe() async throws {
        try await EndpointScene.play { play in
            let recipe = try Recipes.block(with: "authc http env reports")
            let added = "authc http add reports -s work"
            #expect(try Recipes.block(with: added).contains(added))
            #expect(try await play.scene.run(added).status == 0)
            try await play.serve { endpoint in
                let variables = "authc http env reports"
                #expect(recipe.contains(variables))
                let line = recipe.replacing(variables, with: "\(variables) --listen \(endpoint.address)")
                let output = try await play.scene.run(line)
                #expect(output.status == 0 && output.out.contains(#""access_token":"token-1""#), "\(output)")
            }
        }
    }
}
