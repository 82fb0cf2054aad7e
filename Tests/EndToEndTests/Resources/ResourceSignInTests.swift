import AuthWire
import Foundation
import TestSupport
import Testing

/// The real agent and a protected resource that no profile describes.
@Suite("Sign-in to a URL", .serialized, .timeLimit(.minutes(2)))
struct ResourceSignInTests {
    private static let session = "127.0.0.1-"

    private func name(_ play: ResourceScene) -> String { Self.session + String(play.server.port) }

    @Test(
        "a URL is enough: the session is named after it, and shown, used, renewed, restored and signed out like any other"
    )
    func whole() async throws {
        try await ResourceScene.play(["requires_resource": true]) { play in
            let (scene, name) = (play.scene, name(play))
            try await play.signIn()
            let status = try await scene.agent.status(name)
            #expect(status.state == .active && status.provider == play.url)
            for arguments in [["status"], ["provider", "show", play.url], ["provider", "list"]] {
                let shown = try await scene.authc(arguments)
                #expect(shown.status == 0 && shown.out.contains(play.url), "\(arguments): \(shown.out)\(shown.err)")
            }
            #expect(try await scene.shell("cat \"$XDG_RUNTIME_DIR/authd/prompt\"").out.contains(name))
            #expect(try await scene.authc(["token", "--for", play.url]).status == 0)
            #expect(try await scene.authc(["token", "--for", "https://elsewhere.example"]).status != 0)
            let reached = try await scene.authc(["request", "POST", "", "-s", name])
            #expect(reached.out.contains("\"path\":\"/mcp\""), "\(reached.out)\(reached.err)")
            try await scene.restart()
            _ = try await scene.ask("agent.reload", [:])
            let renewed = try await scene.authc(["refresh", "-s", name])
            #expect(renewed.status == 0, "\(renewed.err)")
            #expect(try await scene.authc(["request", "GET", "", "-s", name]).status == 0)
            let tokens = try await play.log("/token")
            #expect(tokens.map { $0.form["resource"] } == [play.url, play.url])
            #expect(try await play.log("/authorize").map { $0.query["resource"] } == [play.url])
            // The second sign-in is to the same session, as the same client.
            try await play.signIn()
            #expect(try await play.log("/register").count == 1)
            #expect(try await scene.authc(["logout", "-s", name]).status == 0)
            #expect(try await !scene.authc(["provider", "list"]).out.contains(play.url))
        }
    }

    @Test("a user's profile does not change a session of a URL, and the session survives an export")
    func moved() async throws {
        try await ResourceScene.play { play in
            let (scene, name) = (play.scene, name(play))
            try await play.signIn()
            try await scene.addProfile(
                """
                name = "\(name)"
                issuer = "https://elsewhere.example"
                client_id = "other"
                """)
            #expect(try await scene.authc(["request", "GET", "", "-s", name]).status == 0)
            #expect(try await scene.authc(["refresh", "-s", name]).status == 0)
            let file = scene.desktop.folder.path + "/bundle"
            let passphrase = "a long passphrase\n"
            let exported = try await scene.agent.authc("export", file, "--passphrase-stdin", input: passphrase)
            #expect(exported.status == 0, "\(exported.err)")
            #expect(try await scene.authc(["logout", "-s", name, "--no-revoke"]).status == 0)
            let imported = try await scene.agent.authc("import", file, "--passphrase-stdin", input: passphrase)
            #expect(imported.status == 0, "\(imported.err)")
            #expect(try await scene.authc(["refresh", "-s", name]).status == 0)
            #expect(try await scene.authc(["request", "GET", "", "-s", name]).status == 0)
        }
    }

    @Test("discovery finds the metadata wherever it is")
    func places() async throws {
        for options in [
            ["challenge": nil, "metadata_paths": ["/.well-known/oauth-protected-resource/mcp"]],
            ["challenge": nil, "metadata_paths": ["/.well-known/oauth-protected-resource"]],
            ["metadata_place": "/elsewhere/metadata", "metadata_paths": ["/elsewhere/metadata"]],
            ["get_status": 405], ["issuer_path": "/tenant", "published": ["rfc8414"]],
            ["issuer_path": "/tenant", "published": ["openid"]],
            ["issuer_path": "/tenant", "published": ["openid-inserted"]], ["published": ["openid"]],
            ["resource": ["resource": "BASE"]],
        ] as [JSON] {
            try await ResourceScene.play(options) { play in
                try await play.signIn()
                let reached = try await play.scene.authc(["request", "POST", "", "-s", name(play)])
                #expect(reached.status == 0, "\(options.text()): \(reached.err)")
                let resource = options["resource"] == nil ? play.url : play.server.url
                #expect(try await play.log("/token").map { $0.form["resource"] } == [resource])
            }
        }
    }

    @Test(
        "a page or anything else that is not metadata at one address does not hide the metadata at another one",
        arguments: ["html", "text", "list", "empty"])
    func elsewhere(kind: String) async throws {
        for options in [
            ["published": ["rfc8414"]], ["published": ["openid"]],
            ["issuer_path": "/tenant", "published": ["openid-inserted"]],
            ["challenge": nil, "metadata_paths": ["/.well-known/oauth-protected-resource"]],
            ["challenge": nil, "metadata_paths": ["/.well-known/oauth-protected-resource/mcp"]],
            ["metadata_paths": ["/.well-known/oauth-protected-resource"]],
        ] as [JSON] {
            var all = options.objectValue ?? JSONObject()
            all["elsewhere"] = .string(kind)
            try await ResourceScene.play(.object(all)) { play in
                try await play.signIn()
                #expect(try await play.scene.agent.status(name(play)).state == .active)
            }
        }
    }

    @Test(
        "if no address has metadata, the error names each one and what it returned",
        arguments: [
            ("html", "HTTP 200, an HTML page", 76), ("text", "HTTP 200, not a JSON object", 76),
            ("missing", "HTTP 404", 65),
        ] as [(String, String, Int32)])
    func nowhere(kind: String, words: String, exit: Int32) async throws {
        try await ResourceScene.play(["published": [], "elsewhere": .string(kind)]) { play in
            try await play.scene.addProfile(
                """
                name = "mine"
                issuer = "\(play.server.url)"
                client_id = "c"
                """)
            for failure in [
                try await play.failure(), try await play.scene.authc(["login", "mine", "--no-input"]),
            ] {
                #expect(failure.status == exit, "\(failure.err)")
                for place in ["openid-configuration", "oauth-authorization-server"] {
                    let line = "\(play.server.url)/.well-known/\(place): \(words)"
                    #expect(failure.err.contains(line), "\(failure.err)")
                }
            }
        }
    }

    @Test("scopes are those of the challenge, else of the metadata, else none; `--scope` replaces them")
    func scopes() async throws {
        for (options, arguments, scope) in [
            (["challenge_scope": "a b"], [], "a b"), ([:], [], "read"),
            (["resource": ["scopes_supported": nil]], [], nil), ([:], ["--scope", "x", "--scope", "y"], "x y"),
        ] as [(JSON, [String], String?)] {
            try await ResourceScene.play(options) { play in
                try await play.signIn(arguments)
                #expect(try await play.log("/authorize").map { $0.query["scope"] } == [scope])
            }
        }
    }

    @Test(
        "what must not be trusted ends the sign-in with a clear error, and nothing is sent to a server",
        arguments: [
            (["resource": ["resource": "https://b.example/mcp"]], "https://b.example/mcp, not http://127.0.0.1"),
            (["server": ["code_challenge_methods_supported": nil]], "S256"),
            (["server": ["code_challenge_methods_supported": ["plain"]]], "S256"),
            (["metadata": "html"], "HTML"), (["metadata": "large"], "larger than"), (["metadata": "loop"], "challenge"),
            (["metadata": "redirect", "redirect_to": "https://b.example/x"], "https://b.example"),
            (["metadata": "none", "challenge": nil], "does not say where to sign in"),
            (["resource": ["authorization_servers": []]], "no authorization server"),
            (["server": ["issuer": "https://b.example"]], "its issuer is https://b.example"),
            (["server": ["token_endpoint": nil]], "no token endpoint"),
        ] as [(JSON, String)])
    func refused(options: JSON, words: String) async throws {
        try await ResourceScene.play(options) { play in
            let failure = try await play.failure()
            #expect(failure.err.contains(words), "\(failure.err)")
            let paths = Set(try await play.log().map(\.path))
            #expect(paths.isDisjoint(with: ["/authorize", "/token", "/register"]))
            #expect(try await play.scene.authc(["list"]).out.isEmpty)
        }
    }

    @Test(
        "a response without the issuer that the metadata promises, or with another one, is refused",
        arguments: ["none", "wrong"])
    func issuer(iss: String) async throws {
        try await ResourceScene.play(["iss": .string(iss)]) { play in
            let (login, address) = try await play.scene.beginInBrowser(at: play.url)
            _ = try await play.scene.get(address)
            let output = await login.output()
            #expect(output.status != 0 && output.err.contains("does not come from"), "\(output.err)")
            #expect(try await play.log("/token").isEmpty)
        }
    }

    @Test("the first authorization server that works is used, and the user is shown which")
    func severalServers() async throws {
        let servers: JSON = ["resource": ["authorization_servers": ["BASE/nothing", "BASE"]]]
        try await ResourceScene.play(servers) { play in
            let output = try await play.signIn()
            #expect(output.err.contains("\(play.server.url)/nothing was not used"), "\(output.err)")
            #expect(output.err.contains("The authorization server is \(play.server.url)."), "\(output.err)")
        }
    }

    @Test("a slash too many in the resource's metadata is reported with the correct spelling, and does no harm")
    func slash() async throws {
        try await ResourceScene.play(["resource": ["authorization_servers": ["BASE/"]]]) { play in
            let output = try await play.signIn()
            #expect(output.err.contains("its correct name is \(play.server.url)."), "\(output.err)")
            #expect(try await play.scene.authc(["refresh"]).status == 0)
            try await play.scene.addProfile(
                """
                name = "mine"
                issuer = "\(play.server.url)/"
                client_id = "c"
                """)
            let profile = try await play.scene.authc(["login", "mine", "--no-input"])
            #expect(
                profile.err.contains("its issuer is \(play.server.url), without a slash at the end"), "\(profile.err)")
        }
    }

    // MARK: The client

    @Test("the user's own client is used, with its secret, or asked for if nothing else is possible")
    func ownClient() async throws {
        let options: JSON = [
            "server": ["registration_endpoint": nil, "token_endpoint_auth_methods_supported": ["client_secret_basic"]],
            "known_clients": ["mine"],
        ]
        try await ResourceScene.play(options) { play in
            let asked = try await play.failure()
            #expect(asked.err.contains("client_id") || asked.err.contains("Client ID"), "\(asked.err)")
            try await play.signIn(["--client-id", "mine"])
            #expect(try await play.log("/token").last?.form["client_id"] == "mine")
            #expect(try await play.scene.authc(["refresh"]).status == 0)
            #expect(try await play.log("/token").last?.form["client_id"] == "mine")
            #expect(try await play.log("/register").isEmpty)
        }
    }

    @Test("on a terminal, the client's ID is asked for if nothing else is possible")
    func typedClient() async throws {
        let options: JSON = ["server": ["registration_endpoint": nil], "known_clients": ["mine"]]
        try await ResourceScene.play(options) { play in
            let terminal = try await play.scene.terminal("authc login \(play.url) --method browser")
            await terminal.waits(for: "Client ID")
            terminal.type("mine\n")
            await terminal.waits(for: "Client secret (optional): ")
            terminal.type("\n")
            await terminal.waits(for: "browser: http")
            let isShown = try await until {
                _ = try await play.log()
                return terminal.text.contains(/browser: http\S+\s/)
            }
            #expect(isShown, "\(terminal.text)")
            let address = try #require(terminal.text.firstMatch(of: /browser: (\S+)/)?.1)
            _ = try await play.scene.get(String(address))
            await terminal.waits(for: "exit 0")
            await terminal.ends()
            #expect(try await play.log("/authorize").map { $0.query["client_id"] } == ["mine"])
            #expect(try await play.log("/token").map { $0.form["client_id"] } == ["mine"])
        }
    }

    @Test("the secret of the user's client is stored with the session, and need not be given again")
    func ownSecret() async throws {
        let options: JSON = ["server": ["registration_endpoint": nil], "known_clients": ["mine"], "secret": "s3cret"]
        try await ResourceScene.play(options) { play in
            let file = try play.scene.desktop.folder.write("s3cret", to: "secret")
            let login = try await Child(
                [
                    "bash", "-c",
                    "exec \"$0\" login \"$1\" --client-id mine --method browser --secret-fd client_secret=3 3<\"$2\"",
                    Programs.authc, play.url, file,
                ], environment: play.scene.desktop.environment)
            guard await login.err.wait(for: "browser: http"), await login.err.wait(for: "\n"),
                let address = login.err.text.firstMatch(of: /browser: (\S+)/)?.1
            else { throw Failure(await login.err.all()) }
            _ = try await play.scene.get(String(address))
            let output = await login.output()
            #expect(output.status == 0, "\(output.err)")
            #expect(try await play.scene.authc(["refresh"]).status == 0)
            try await play.signIn(["--client-id", "mine"])
            #expect(try await play.log("/token").allSatisfy { $0.authorization?.hasPrefix("Basic ") == true })
        }
    }

    @Test("the Client ID Metadata Document is used if the server accepts it, and is what `client-metadata` prints")
    func document() async throws {
        let url = "https://me.example/authd.json"
        let options: JSON = [
            "server": ["client_id_metadata_document_supported": true], "known_clients": [.string(url)],
        ]
        try await ResourceScene.play(options) { play in
            try play.scene.prependSettings("client_metadata_url = \"\(url)\"\n")
            _ = try await play.scene.ask("agent.reload", [:])
            try await play.signIn()
            #expect(try await play.log("/authorize").map { $0.query["client_id"] } == [url])
            #expect(try await play.log("/register").isEmpty)
            let printed = try JSON(
                parsing: Array(try await play.scene.authc(["provider", "client-metadata", url]).out.utf8))
            #expect(printed["client_id"]?.stringValue == url)
            #expect(printed["redirect_uris"] == ["http://127.0.0.1/callback"])
            #expect(printed["token_endpoint_auth_method"] == "none" && printed["application_type"] == "native")
        }
    }

    @Test("a registration that has disappeared is made again")
    func forgotten() async throws {
        try await ResourceScene.play { play in
            try await play.signIn()
            _ = try await play.scene.get(play.server.url + "/clients/forget", ["--data", ""])
            let (login, address) = try await play.scene.beginInBrowser(at: play.url)
            _ = try await play.scene.get(address)
            // The browser shows an error page and does not come back.
            login.kill(SIGINT)
            #expect(await login.ended() != 0)
            try await play.signIn()
            #expect(try await play.log("/register").count == 2)
        }
    }

    // MARK: More scopes

    @Test(
        "a call that needs more scopes fails with the command that grants them, which works as typed; the user is notified once"
    )
    func moreScopes() async throws {
        try await ResourceScene.play(["required_scope": "files:write"]) { play in
            let (scene, name) = (play.scene, name(play))
            try await play.signIn()
            let watch = try await Child(
                [Programs.authc, "watch", "--json"], environment: scene.desktop.environment)
            await watch.out.wait(for: "snapshot")
            var refused = try await scene.authc(["request", "GET", "", "-s", name])
            #expect(refused.status == 65, "\(refused.err)")
            let command = try #require(refused.err.firstMatch(of: /run: (authc login [^\n]*)/)?.1)
            #expect(command.hasSuffix("--scope read --scope files:write"), "\(command)")
            refused = try await scene.authc(["request", "GET", "", "-s", name])
            #expect(refused.status == 65)
            await watch.out.wait(for: "insufficient_scope")
            // Each call sent one request with a token, and no sign-in was begun.
            let calls = try await play.log("/mcp").filter { $0.authorization != nil }
            #expect(calls.count == 2)
            #expect(try await play.log("/authorize").count == 1)
            let words = command.split(separator: " ").dropFirst(2).map(String.init)
            let (login, address) = try await scene.beginInBrowser(Array(words.dropFirst()), at: words[0])
            _ = try await scene.get(address)
            #expect(await login.output().status == 0)
            #expect(try await scene.authc(["request", "GET", "", "-s", name]).status == 0)
            await watch.out.wait(for: "withdrawn")
            await watch.end()
            #expect(watch.out.text.components(separatedBy: "\"event\":\"shown\"").count == 2, "\(watch.out.text)")
        }
    }

    // MARK: Names

    @Test("a second URL of the same host gets a number, and `-s` chooses a name")
    func names() async throws {
        try await ResourceScene.play(["resource": ["resource": "BASE"]]) { play in
            try await play.signIn()
            try await play.signIn(at: play.server.url + "/other")
            try await play.signIn(["-s", "third"], at: play.server.url + "/third")
            let list = try await SessionList(play.scene.agent.json("list")).sessions
            #expect(list.map(\.session.text) == [name(play), name(play) + "-2", "third"])
            #expect(list.map(\.provider) == [play.url, play.server.url + "/other", play.server.url + "/third"])
        }
    }

    @Test("plain http to another machine is refused before anything is sent")
    func plain() async throws {
        try await ResourceScene.play { play in
            let failure = try await play.failure(at: "http://mcp.example.com/mcp")
            #expect(failure.err.contains("https"), "\(failure.err)")
        }
    }
}
