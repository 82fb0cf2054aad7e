import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// A sixth backend from nothing: Docs/profiles.md's walk, typed as it stands there, against a real server.
@Suite("A profile from a few answers", .serialized, .timeLimit(.minutes(2)))
struct ProviderNewTests {
    private static func page() throws -> String { try SourceTree.text("Docs/profiles.md") }

    /// The block after a line of the page.
    private static func block(after line: String) throws -> String {
        let rest = try #require(try page().components(separatedBy: line).dropFirst().first)
        let block = try #require(rest.components(separatedBy: "\n```").dropFirst().first)
        return String(block.drop { $0 != "\n" }.dropFirst())
    }

    @Test("the page's walk works: a description, a command, a sign-in, calls by name, a renewal")
    func walk() async throws {
        try await Scene.play { scene in
            let place = scene.desktop.folder.path
            let description = try Self.block(after: "the provider's description of its API").replacing(
                "http://localhost:4000", with: scene.backends.url(.forkInTheRoad))
            try description.write(toFile: place + "/lunch.json", atomically: true, encoding: .utf8)
            try FileManager.default.createDirectory(
                atPath: place + "/config/authd/providers", withIntermediateDirectories: true)
            let command = try Self.block(after: "One command creates the profile")
                .replacing("~/.config", with: place + "/config").replacing("lunch.json", with: place + "/lunch.json")
                .replacing("authc ", with: "\"$0\" ")
            let made = try await scene.shell(command)
            #expect(made.status == 0, "\(made.err)")
            let checked = try await scene.authc(["provider", "check", place + "/config/authd/providers/lunch.toml"])
            #expect(checked.status == 0, "\(checked.out)\(checked.err)")

            #expect(try await scene.ask("agent.reload", [:])["message"] != nil)
            let listed = try await scene.authc(["provider", "show", "lunch", "--endpoints"])
            for line in try Self.block(after: "The endpoints now have names").split(separator: "\n") {
                #expect(listed.out.contains(line.trimmingCharacters(in: .whitespaces)), "\(line)\n\(listed.out)")
            }
            let login = try await scene.authc(
                ["login", "lunch", "--field", "email=ada@example.org", "--password-stdin"], input: "Correct-horse1")
            #expect(login.status == 0, "\(login.err)")
            let status = try await scene.agent.status("lunch")
            #expect(status.state == .active && status.user?.email == "ada@example.org")
            let found = try await scene.authc(["call", "search-restaurants", "-s", "lunch", "q="])
            #expect(found.status == 0 && found.out.contains("restaurants"), "\(found.err)")
            let near = try await scene.authc(["call", "create-collection", "-s", "lunch", "name=Near", "--queue"])
            #expect(near.status == 0 && near.out.contains("Near"), "\(near.err)")
            let renewed = try await scene.authc(["refresh", "-s", "lunch"])
            #expect(renewed.status == 0, "\(renewed.err)")
        }
    }

    @Test("a terminal asks for each value with its default; the file never replaces another")
    func asked() async throws {
        try await Scene.play(keyring: false) { scene in
            let terminal = try await scene.terminal("authc provider new -o \(scene.desktop.folder.path)/shop.toml")
            for (question, answer) in [
                ("Base URL of its API: ", "https://api.shop.example/v1"),
                ("Short name [shop]: ", ""),
                ("Name that users see [shop]: ", "The \"Shop\""),
                ("[/auth/login]: ", "/sessions"),
                ("[email password]: ", "card pin"),
                ("[/token]: ", "/data/access"),
                ("refresh token, if there is one: ", "/data/refresh"),
                ("(JWT): ", "/data/seconds"),
                ("[/user]: ", ""),
                ("(POST), if there is one: ", "/sessions/renew"),
            ] {
                await terminal.waits(for: question)
                terminal.type(answer + "\n")
            }
            await terminal.waits(for: "exit 0")
            await terminal.ends()
            let path = scene.desktop.folder.path + "/shop.toml"
            let text = try String(contentsOfFile: path, encoding: .utf8)
            for line in [
                "title = \"The \\\"Shop\\\"\"", "path = \"/sessions\"", "card = \"{card}\"", "kind = \"password\"",
                "refresh_token = \"/data/refresh\"", "expires_in = \"/data/seconds\"", "kind = \"refresh\"",
            ] { #expect(text.contains(line), "\(line)\n\(text)") }
            let checked = try await scene.authc(["provider", "check", path])
            #expect(checked.status == 0, "\(checked.out)\(checked.err)")
            let again = try await scene.authc(["provider", "new", "--url", "https://shop.example", "-o", path])
            #expect(again.status == 64 && again.err.contains("exists"), "\(again.err)")
            #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
        }
    }

    /// A few hundred bytes that stand for 10^9 values.
    private static let laughs =
        "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        + (1...8).map { level in
            "a\(level): &a\(level) [" + Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ") + "]\n"
        }.joined()

    @Test("FastAPI's sign-in works from its own description with one command, and a call with a form")
    func fastAPI() async throws {
        try await Scene.play { scene in
            try await Peer.running(.fastAPI, ["pass&word=1"], in: scene.desktop) { server in
                let folder = scene.desktop.folder.path + "/config/authd/providers"
                let made = try await scene.shell(
                    "curl --silent --noproxy '*' \(server.url)/openapi.json | \"$0\" provider new notes --openapi - "
                        + "--url \(server.url) --output \(folder)/notes.toml")
                #expect(made.status == 0, "\(made.err)")
                let text = try String(contentsOfFile: folder + "/notes.toml", encoding: .utf8)
                #expect(
                    text.contains(
                        #"form = { grant_type = "password", username = "{username}", password = "{password}" }"#))
                let checked = try await scene.authc(["provider", "check", folder + "/notes.toml"])
                #expect(checked.status == 0, "\(checked.out)\n\(text)")
                #expect(try await scene.ask("agent.reload", [:])["message"] != nil)
                let wrong = try await scene.authc(
                    ["login", "notes", "--field", "username=ada", "--password-stdin"], input: "wrong")
                #expect(wrong.status != 0 && wrong.err.contains("Incorrect username or password"), "\(wrong.err)")
                let login = try await scene.authc(
                    ["login", "notes", "--field", "username=ada", "--password-stdin"], input: "pass&word=1")
                #expect(login.status == 0, "\(login.err)")
                let me = try await scene.authc(["call", "read-me-users-me-get", "-s", "notes"])
                #expect(me.status == 0 && me.out.contains("ada@example.org"), "\(me.err)")
                let user = try await scene.authc(["whoami", "--fresh", "-s", "notes"])
                #expect(user.status == 0 && user.out.contains("ada"), "\(user.err)")
                let note = try await scene.authc([
                    "call", "write-note-notes-post", "-s", "notes", "text=a&b", #"tags=["x","y z"]"#,
                ])
                #expect(note.status == 0, "\(note.err)")
                #expect(try JSON(parsing: note.out) == ["by": "ada", "text": "a&b", "stars": 0, "tags": ["x", "y z"]])
                let broken = try await scene.authc(["request", "POST", "/notes", "-s", "notes"])
                #expect(broken.status != 0 && broken.err.contains("Field required"), "\(broken.err)")
            }
        }
    }

    @Test("Swagger 2 in YAML: address, password flow, forms, security, and what is left out")
    func swagger() async throws {
        try await Scene.play(keyring: false) { scene in
            let document = """
                swagger: "2.0"
                info: {title: Old API, version: 1}
                host: api.old.example
                basePath: /v1
                schemes: [http, https]
                securityDefinitions:
                  login: {type: oauth2, flow: password, tokenUrl: "https://api.old.example/v1/oauth/token"}
                  key: {type: apiKey, in: header, name: X-Key}
                security: [{login: []}]
                paths:
                  /oauth/token:
                    post: {responses: {200: {description: ok}}}
                  /notes:
                    post:
                      operationId: addNote
                      consumes: [application/x-www-form-urlencoded]
                      parameters:
                        - {name: text, in: formData, type: string, required: true}
                        - {name: tags, in: formData, type: array, items: {type: string}}
                        - {name: X-Trace, in: header, type: string}
                    head: {}
                  /files:
                    post:
                      operationId: sendFile
                      security: []
                      parameters: [{name: file, in: formData, type: file, required: true}]
                  /pets/{id}:
                    put:
                      operationId: change
                      parameters:
                        - {name: id, in: path, type: integer, required: true}
                        - {name: pet, in: body, schema: {$ref: "#/definitions/Pet"}}
                definitions:
                  Pet: {type: object, required: [name], properties: {name: &text {type: string}, nick: *text}}
                """
            let made = try await scene.agent.authc(["provider", "new", "old", "--openapi", "-"], input: document)
            #expect(made.status == 0, "\(made.err)")
            for line in [
                #"production = "https://api.old.example/v1""#, #"path = "/oauth/token""#,
                #"access_token = "/access_token""#,
                #"form = { "text" = "{text}", "tags" = "{tags}" }"#, #"args.tags = "list?""#, #"args.text = "text""#,
                #"multipart = [{ name = "file", file = "file""#, "bearer = false", #"args.id = "integer""#,
                #"body = { "name" = "{name}", "nick" = "{nick}" }"#, #"args.nick = "text?""#, #"kind = "sign-in""#,
            ] { #expect(made.out.contains(line), "\(line)\n\(made.out)") }
            for word in ["the key key", "HEAD /notes", "the parameter X-Trace of POST /notes"] {
                #expect(made.err.contains("left out: \(word)"), "\(word)\n\(made.err)")
            }
            let checked = try await scene.agent.authc(["provider", "check", "-"], input: made.out)
            #expect(checked.status == 0, "\(checked.out)\n\(made.out)")
        }
    }

    @Test(
        "a key, HTTP Basic and a token address elsewhere make a profile that can be used",
        arguments: [
            (
                #"{"type": "apiKey", "in": "header", "name": "X-Key"}"#,
                [#"authorization = { header = "X-Key" }"#, #"token = "{key}""#, #"path = "/things" }"#]
            ),
            (#"{"type": "apiKey", "in": "query", "name": "key"}"#, [#"authorization = { query = "key" }"#]),
            (#"{"type": "apiKey", "in": "cookie", "name": "sid"}"#, [#"authorization = { cookie = "sid" }"#]),
            (
                #"{"type": "http", "scheme": "basic"}"#,
                [#"authorization = "Basic {access_token:base64}""#, #"token = "{username}:{password}""#]
            ),
            (
                #"{"type": "oauth2", "flows": {"password": {"tokenUrl": "https://id.odd.example/oauth/token"}}}"#,
                [#"sign-in = "https://id.odd.example""#, #"host = "sign-in""#, #"path = "/oauth/token""#]
            ),
        ])
    func securitySchemes(scheme: String, lines: [String]) async throws {
        try await Scene.play(keyring: false) { scene in
            let document = """
                {"openapi": "3.1.0", "info": {"title": "Odd"}, "servers": [{"url": "https://odd.example/v1"}],
                 "paths": {"/things": {"get": {"operationId": "things"}}},
                 "components": {"securitySchemes": {"one": \(scheme)}}}
                """
            let made = try await scene.agent.authc(["provider", "new", "--openapi", "-"], input: document)
            #expect(made.status == 0 && !made.err.contains("left out"), "\(made.err)")
            for line in lines { #expect(made.out.contains(line), "\(line)\n\(made.out)") }
            let checked = try await scene.agent.authc(["provider", "check", "-"], input: made.out)
            #expect(checked.status == 0, "\(checked.out)\n\(made.out)")
            guard scheme.contains("oauth2") else { return }
            try await scene.addProfile(made.out, named: "odd")
            let shown = try await scene.agent.authc("provider", "show", "odd")
            #expect(shown.out.contains("host sign-in") && shown.out.contains("https://id.odd.example"), "\(shown.out)")
        }
    }

    @Test("a description with references, forms, odd names and two calls of one name makes a profile without problems")
    func descriptions() async throws {
        try await Scene.play(keyring: false) { scene in
            let path = scene.desktop.folder.path + "/api.json"
            let document: JSON = [
                "openapi": "3.1.0", "info": ["title": "Odd"], "servers": [["url": "https://odd.example/v1/"]],
                "paths": [
                    "/token": ["post": ["requestBody": ["$ref": "#/components/requestBodies/Login"]]],
                    "/things/{thing-id}": [
                        "parameters": [["name": "thing-id", "in": "path", "schema": ["type": "integer"]]],
                        "get": ["operationId": "getThing", "security": []],
                        "put": [
                            "operationId": "getThing", "summary": "Change \"one\".",
                            "requestBody": [
                                "content": ["application/json": ["schema": ["$ref": "#/components/schemas/Thing"]]]
                            ],
                        ],
                    ],
                    // Its parameter is described nowhere else.
                    "/owners/{owner-name}/pets": ["get": ["operationId": "pets"]],
                    "/files": [
                        "post": [
                            "requestBody": [
                                "content": [
                                    "multipart/form-data": [
                                        "schema": [
                                            "properties": [
                                                "file": ["type": "string", "format": "binary"],
                                                "note": ["type": "string"],
                                            ], "required": ["file"],
                                        ]
                                    ]
                                ]
                            ]
                        ], "delete": [:],
                    ],
                ],
                "components": [
                    "requestBodies": [
                        "Login": ["content": ["application/json": ["schema": ["$ref": "#/components/schemas/Login"]]]]
                    ],
                    "schemas": [
                        "Login": ["properties": ["user": ["type": "string"], "password": ["type": "string"]]],
                        "Loop": ["$ref": "#/components/schemas/Loop"],
                        "Ring": ["allOf": [["$ref": "#/components/schemas/Ring"], ["properties": ["x": [:]]]]],
                        "Thing": [
                            "allOf": [
                                [
                                    "properties": [
                                        "id": ["type": "string", "readOnly": true], "a b": ["type": "string"],
                                    ]
                                ],
                                [
                                    "properties": [
                                        "many": ["type": "array"], "loop": ["$ref": "#/components/schemas/Loop"],
                                        "ring": ["$ref": "#/components/schemas/Ring"],
                                        "count": ["type": ["null", "integer"]],
                                        "secret": ["type": "string", "format": "password"],
                                    ], "required": ["many"],
                                ],
                            ]
                        ],
                    ],
                ],
            ]
            try document.text().write(toFile: path, atomically: true, encoding: .utf8)
            let made = try await scene.authc(["provider", "new", "--openapi", path])
            #expect(made.status == 0, "\(made.err)")
            let checked = try await scene.agent.authc(["provider", "check", "-"], input: made.out)
            #expect(checked.status == 0, "\(checked.out)\n\(made.out)")
            for line in [
                "[endpoints.get-thing]", "[endpoints.get-thing-2]", "bearer = false", "path = \"/things/{thing_id}\"",
                "args.many = \"list\"", "args.ring = \"object?\"", "args.count = \"integer?\"",
                "args.secret = \"secret?\"", "\"a b\" = \"{a_b}\"",
                "{ name = \"file\", file = \"file\"", "title = \"Odd\"", "path = \"/token\"",
                "path = \"/owners/{owner_name}/pets\"", "args.owner_name = \"text\"",
                "about = \"Change \\\"one\\\".\"",
            ] { #expect(made.out.contains(line), "\(line)\n\(made.out)") }
            for (text, problem) in [
                ("openapi: 3.0.0\n", "not an OpenAPI document"), ("a: [1\nb: }", "neither JSON nor YAML: line"),
                ("a: *b\n", "no anchor"), ("a: &a [*a]\n", "no anchor"),
                ("a: &a {x: 1}\nb: {<<: *a}\n", "merge keys"), ("? [1]\n: 2\n", "a key is not a text"),
                ("", "it has no document"), (String(repeating: "[", count: 100), "more than 64 levels"),
                (Self.laughs, "values"),
            ] {
                let refused = try await scene.agent.authc(["provider", "new", "--openapi", "-"], input: text)
                #expect(refused.status == 64 && refused.err.contains(problem), "\(refused.err)")
            }
            let nobody = try await scene.authc(["provider", "new", "--no-input"])
            #expect(nobody.status == 64 && nobody.err.contains("--url"), "\(nobody.err)")
        }
    }
}
