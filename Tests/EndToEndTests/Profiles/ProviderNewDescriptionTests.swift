import AuthWire
import TestSupport
import Testing

/// What descriptions of APIs have that a profile can, or cannot, express.
@Suite("Profiles from descriptions", .timeLimit(.minutes(2)))
struct ProviderNewDescriptionTests {
    private struct Made {
        let profile: String
        let notes: String
    }

    /// Makes a profile, which must have no problems.
    private static func made(
        from description: String, _ options: [String] = [], by scene: Scene,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Made {
        let made = try await scene.agent.authc(["provider", "new", "--openapi", "-"] + options, input: description)
        #expect(made.status == 0, "\(made.err)", sourceLocation: sourceLocation)
        let checked = try await scene.agent.authc(["provider", "check", "-"], input: made.out)
        #expect(checked.status == 0, "\(checked.out)\n\(made.out)", sourceLocation: sourceLocation)
        return Made(profile: made.out, notes: made.err)
    }

    private static func description(paths: String = "{}", _ rest: String) -> String {
        #"{"openapi": "3.1.0", "info": {"title": "Odd"}, "paths": "# + paths + ", " + rest + "}"
    }

    private static let server = #""servers": [{"url": "https://odd.example/v1"}]"#

    /// A POST with this schema as its body.
    private static func post(_ schema: String, as type: String = "application/json") -> String {
        #"{"post": {"requestBody": {"content": {"\#(type)": {"schema": \#(schema)}}}}}"#
    }

    // MARK: Schemas

    @Test("schemas that contain themselves, in any way, end: each is merged once")
    func recursion() async throws {
        // Each level refers to the next one twice.
        let levels = (0..<40).map { level in
            ##""W\##(level)": {"allOf": [{"$ref": "#/components/schemas/W\##(level + 1)"}, "##
                + ##"{"$ref": "#/components/schemas/W\##(level + 1)"}, {"properties": {"w\##(level)": {}}}]}"##
        }
        let chain = (0..<20_000).map { ##""C\##($0)": {"allOf": [{"$ref": "#/components/schemas/C\##($0 + 1)"}]}"## }
        let schemas =
            levels + chain + [
                ##""L": {"allOf": [{"$ref": "#/components/schemas/L"}, {"properties": {"own": {"type": "string"}}}]}"##,
                ##""A": {"allOf": [{"$ref": "#/components/schemas/B"}, {"properties": {"a": {}}}]}"##,
                ##""B": {"allOf": [{"$ref": "#/components/schemas/A"}], "properties": {"b": {}}}"##,
                ##""T": {"properties": {"name": {}, "left": {"$ref": "#/components/schemas/T"}, "##
                    + ##""right": {"$ref": "#/components/schemas/T"}, "all": {"items": {"$ref": "#/components/schemas/T"}}}}"##,
                ##""O": {"oneOf": [{"$ref": "#/components/schemas/O"}, {"properties": {"o": {}}}]}"##,
            ]
        let names = ["L", "A", "T", "O", "W0", "C0"]
        let paths = names.map { ##""/\##($0)": "## + Self.post(##"{"$ref": "#/components/schemas/\##($0)"}"##) }
        // A sign-in reads nested objects too.
        let login = ##""/login": "## + Self.post(##"{"$ref": "#/components/schemas/T"}"##)
        let description = Self.description(
            paths: "{\((paths + [login]).joined(separator: ", "))}",
            Self.server + #", "components": {"schemas": {\#(schemas.joined(separator: ", "))}}"#)
        try await Scene.play(keyring: false) { scene in
            let made = try await Self.made(from: description, by: scene)
            for line in [
                #"body = { "own" = "{own}" }"#, #"body = { "b" = "{b}", "a" = "{a}" }"#, #"body = { "o" = "{o}" }"#,
                #""left" = "{left}""#, #"args.left = "object?""#, #""w0" = "{w0}""#,
            ] { #expect(made.profile.contains(line), "\(line)\n\(made.profile)") }
            #expect(made.notes.contains("left out: all alternatives of the body of POST /O but one"), "\(made.notes)")
        }
    }

    @Test("values with the same name, of different types or with another meaning, get different arguments")
    func arguments() async throws {
        let paths = """
            {"/files/{file}": {"parameters": [{"name": "q", "in": "query"}, {"name": "file", "in": "path"}],
              "post": {"operationId": "send", "parameters": [{"name": "q", "in": "query", "required": true}],
                "requestBody": {"content": {"multipart/form-data": {"schema": {"properties": {
                  "file": {"contentMediaType": "application/octet-stream"}}}}}}}},
             "/renew": {"post": {"operationId": "renew", "requestBody": {"content": {"application/json": {"schema": {
               "properties": {"refresh_token": {}, "environment": {}}}}}}}},
             "/a b": {"get": {"operationId": "blank"}}, "x-more": {"get": {}}}
            """
        try await Scene.play(keyring: false) { scene in
            let made = try await Self.made(from: Self.description(paths: paths, Self.server), by: scene)
            for line in [
                #"path = "/files/{file}""#, #"query = { "q" = "{q}" }"#, #"args.q = "text""#,
                #"{ name = "file", file = "file_2""#, #"args.file = "text""#, #"args.file_2 = "file?""#,
                #""refresh_token" = "{a_refresh_token}", "environment" = "{a_environment}""#,
            ] { #expect(made.profile.contains(line), "\(line)\n\(made.profile)") }
            #expect(made.notes.contains("left out: GET /a b, which is not a valid path"), "\(made.notes)")
        }
    }

    @Test(
        "text with control characters, a key that is also a parameter, and names that cannot be used",
        arguments: [
            (#"{"type": "apiKey", "in": "query", "name": "q"}"#, nil),
            (#"{"type": "apiKey", "in": "header", "name": "X Key"}"#, "the key one"),
            (#"{"type": "oauth2", "flows": {"password": {"tokenUrl": "https://u@id.example/"}}}"#, "the flows of one"),
            (#"{"type": "oauth2", "flows": {"password": {"tokenUrl": "http://id.example/t"}}}"#, "the flows of one"),
        ] as [(String, String?)])
    func oddities(scheme: String, leftOut: String?) async throws {
        let paths = """
            {"/a/{x{y}": {"get": {}},
             "/b": {"get": {"summary": "\u{7F}\\n\\"", "parameters": [{"name": "q", "in": "query"}]}}}
            """
        let rest = #"\#(Self.server), "components": {"securitySchemes": {"one": \#(scheme)}}"#
        try await Scene.play(keyring: false) { scene in
            let made = try await Self.made(from: Self.description(paths: paths, rest), by: scene)
            #expect(made.notes.contains("left out: GET /a/{x{y}, which is not a valid path"), "\(made.notes)")
            if let leftOut { #expect(made.notes.contains("left out: \(leftOut)"), "\(made.notes)") }
        }
    }

    // MARK: Addresses

    struct Place: Sendable, CustomTestStringConvertible {
        var version = #""openapi": "3.0.3""#
        var server: String
        var tokenURL: String
        var options: [String] = []
        var lines: [String]
        var note: String?
        var testDescription: String { "\(server) \(tokenURL) \(options.joined(separator: " "))" }
    }

    @Test(
        "relative addresses are resolved against the server's URL, and a relative server against --url (RFC 3986)",
        arguments: [
            Place(
                server: #""servers": [{"url": "https://odd.example/v1"}]"#, tokenURL: "/v1/oauth/token",
                lines: [#"production = "https://odd.example/v1""#, #"path = "/oauth/token""#]),
            Place(
                version: #""swagger": "2.0""#, server: #""host": "odd.example", "basePath": "/v1""#,
                tokenURL: "/v1/oauth/token",
                lines: [#"production = "https://odd.example/v1""#, #"path = "/oauth/token""#]),
            Place(
                server: #""servers": [{"url": "https://odd.example/v1"}]"#, tokenURL: "./oauth/../token",
                lines: [#"path = "/token""#]),
            Place(
                server: #""servers": [{"url": "https://odd.example/v1"}]"#, tokenURL: "/oauth/token",
                lines: [#"sign-in = "https://odd.example""#, #"host = "sign-in""#, #"path = "/oauth/token""#],
                note: "The sign-in is at the API's host, but outside its base URL: https://odd.example/oauth/token"),
            Place(
                server: #""servers": [{"url": "https://odd.example/v1"}]"#, tokenURL: "//id.example/token",
                lines: [#"sign-in = "https://id.example""#, #"path = "/token""#],
                note: "The sign-in is at a different host than the API: https://id.example"),
            Place(
                server: #""servers": [{"url": "/api/v1"}]"#, tokenURL: "token",
                options: ["--url", "https://odd.example"],
                lines: [#"production = "https://odd.example/api/v1""#, #"path = "/token""#],
                note: "The base URL is https://odd.example/api/v1: the description has the server /api/v1"),
            Place(
                server: #""servers": [{"url": "/api/v1"}]"#, tokenURL: "token",
                options: ["--url", "https://odd.example/api/v1"],
                lines: [#"production = "https://odd.example/api/v1""#, #"path = "/token""#]),
            Place(
                version: #""swagger": "2.0""#, server: #""basePath": "/v2""#, tokenURL: "/v2/token",
                options: ["--url", "http://127.0.0.1:8000"],
                lines: [#"production = "http://127.0.0.1:8000/v2""#, #"path = "/token""#],
                note: "The base URL is http://127.0.0.1:8000/v2: the description has the server /v2"),
            Place(
                server: #""servers": [{"url": "/"}]"#, tokenURL: "https://ODD.example:443/id/token",
                options: ["--url", "https://odd.example/api"],
                lines: [#"production = "https://odd.example/api""#, #"path = "/id/token""#],
                note: "The sign-in is at the API's host, but outside its base URL: https://odd.example/id/token"),
            Place(
                server: #""servers": [{"url": "https://{region}.odd.example:{port}/v1", "variables": "#
                    + #"{"region": {"default": "eu", "enum": ["eu", "us"]}, "port": {"default": 8443}}}]"#,
                tokenURL: "token",
                lines: [#"production = "https://eu.odd.example:8443/v1""#, #"path = "/token""#],
                note: "left out: all values of the server variable region but eu"),
            Place(
                server: #""servers": [{"url": "https://{region}.odd.example"}]"#, tokenURL: "token",
                options: ["--url", "https://eu.odd.example"], lines: [#"production = "https://eu.odd.example""#],
                note: "left out: the server https://{region}.odd.example: it has a variable without a default"),
        ])
    func addresses(place: Place) async throws {
        let isSwagger = place.version.contains("swagger")
        let flow =
            isSwagger
            ? #""securityDefinitions": {"one": {"type": "oauth2", "flow": "password", "tokenUrl": "\#(place.tokenURL)"}}"#
            : #""components": {"securitySchemes": {"one": {"type": "oauth2", "flows": {"password": "#
                + #"{"tokenUrl": "\#(place.tokenURL)", "scopes": {}}}}}}"#
        let description = #"{\#(place.version), "info": {"title": "Odd"}, "paths": {}, \#(place.server), \#(flow)}"#
        try await Scene.play(keyring: false) { scene in
            let made = try await Self.made(from: description, place.options, by: scene)
            for line in place.lines { #expect(made.profile.contains(line), "\(line)\n\(made.profile)") }
            if !place.lines.contains(where: { $0.hasPrefix("sign-in") }), !made.notes.contains("outside") {
                #expect(!made.profile.contains("[hosts]"), "\(made.profile)")
            }
            if let note = place.note {
                #expect(made.notes.contains(note), "\(made.notes)")
            } else {
                #expect(made.notes.isEmpty, "\(made.notes)")
            }
        }
    }

    @Test("an address that is not encrypted makes no profile")
    func unencrypted() async throws {
        try await Scene.play(keyring: false) { scene in
            let description = #"{"swagger": "2.0", "host": "odd.example", "schemes": ["http"], "paths": {}}"#
            let refused = try await scene.agent.authc(["provider", "new", "--openapi", "-"], input: description)
            #expect(refused.status == 64 && refused.err.contains("plain http"), "\(refused.err)")
        }
    }

    @Test("a refreshUrl renews the session; scopes and the other flows are reported")
    func refreshURL() async throws {
        let flows = """
            "components": {"securitySchemes": {"one": {"type": "oauth2", "flows": {
              "password": {"tokenUrl": "/v1/token", "refreshUrl": "https://id.odd.example/renew",
                "scopes": {"read": "", "write": ""}},
              "authorizationCode": {"authorizationUrl": "/a", "tokenUrl": "/t", "scopes": {}}}}}}
            """
        try await Scene.play(keyring: false) { scene in
            let made = try await Self.made(from: Self.description("\(Self.server), \(flows)"), by: scene)
            for line in [
                #"renewal = "https://id.odd.example""#, #"refresh_token = "/refresh_token""#, #"kind = "refresh""#,
                #"final_codes = ["invalid_grant"]"#, "host = \"renewal\"\npath = \"/renew\"", #"code = "/error""#,
                #"form = { grant_type = "refresh_token", refresh_token = "{refresh_token}" }"#,
            ] { #expect(made.profile.contains(line), "\(line)\n\(made.profile)") }
            for note in [
                "left out: the scopes of one (read write)", "left out: the flow authorizationCode of one",
                "The renewal is at a different host than the API: https://id.odd.example",
            ] { #expect(made.notes.contains(note), "\(note)\n\(made.notes)") }
        }
    }

    // MARK: Sign-ins

    @Test(
        "a sign-in is recognized with nested objects, alternatives, other names and a part of the path",
        arguments: [
            (
                "/login",
                #"{"properties": {"credentials": {"properties": {"email": {}, "password": {}}}, "device": {}}}"#,
                [
                    #"body = { credentials = { email = "{email}", password = "{password}" }, device = "{device}" }"#,
                    #"{ name = "password", label = "Password", kind = "password" }"#,
                ]
            ),
            (
                "/login", #"{"oneOf": [{"properties": {"code": {}}}, {"properties": {"pin": {}, "card": {}}}]}"#,
                [#"body = { pin = "{pin}", card = "{card}" }"#]
            ),
            (
                "/login",
                #"{"required": ["user-name", "pass word"], "properties": {"user-name": {}, "pass word": "#
                    + #"{"format": "password"}, "a\"b": {}, "remember": {"type": "boolean"}}}"#,
                [
                    ##"body = { user-name = "{user_name}", "pass word" = "{pass_word}", "a\"b" = "{a_b}" }"##,
                    #"{ name = "user_name", label = "User name", kind = "text" }"#,
                    #"{ name = "pass_word", label = "Pass word", kind = "password" }"#,
                    #"{ name = "a_b", label = "A b", kind = "text", optional = true }"#,
                ]
            ),
            (
                "/tenants/{tenant-id}/sessions", #"{"properties": {"environment": {}, "password": {}}}"#,
                [
                    #"path = "/tenants/{tenant_id}/sessions""#, #"{ name = "tenant_id""#,
                    #"body = { environment = "{a_environment}", password = "{password}" }"#,
                ]
            ),
        ])
    func signIns(path: String, schema: String, lines: [String]) async throws {
        let description = Self.description(paths: #"{"\#(path)": \#(Self.post(schema))}"#, Self.server)
        try await Scene.play(keyring: false) { scene in
            let made = try await Self.made(from: description, by: scene)
            for line in lines { #expect(made.profile.contains(line), "\(line)\n\(made.profile)") }
            #expect(!made.notes.contains("placeholder"), "\(made.notes)")
            #expect(made.notes.contains("left out: the field remember of the sign-in") == schema.contains("remember"))
        }
    }

    @Test("without a sign-in that authc recognizes, the placeholder is named in the output and in the file")
    func noSignIn() async throws {
        try await Scene.play(keyring: false) { scene in
            let none = try await Self.made(
                from: Self.description(paths: #"{"/things": {"get": {}}}"#, Self.server), by: scene)
            let note = "This is a placeholder, to be replaced: POST /auth/login with email password as JSON"
            #expect(none.notes.contains(note) && none.profile.contains("# The description has no sign-in"))
            #expect(none.profile.contains(note), "\(none.profile)")

            let paths =
                #"{"/login": \#(Self.post(#"{"properties": {"user": {}, "password": {}}}"#, as: "multipart/form-data"))}"#
            let parts = try await Self.made(from: Self.description(paths: paths, Self.server), by: scene)
            let list = #"[{ name = "user", text = "{user}" }, { name = "password", text = "{password}" }]"#
            #expect(parts.profile.contains("multipart = " + list), "\(parts.profile)")
            #expect(parts.notes.isEmpty, "\(parts.notes)")

            for (type, member, line) in [
                ("application/json; charset=utf-8", "refreshToken", #"body = { refreshToken = "{refresh_token}" }"#),
                ("application/x-www-form-urlencoded", "refreshToken", #"form = { refreshToken = "{refresh_token}" }"#),
                (
                    "multipart/form-data", "refresh-token",
                    #"multipart = [{ name = "refresh-token", text = "{refresh_token}" }]"#
                ),
                ("application/json", "ticket", #"body = { refresh_token = "{refresh_token}" }"#),
            ] {
                let paths = #"{"/renew": \#(Self.post(#"{"properties": {"\#(member)": {}}}"#, as: type))}"#
                let options = ["--renew", "/renew", "--refresh-token", "/refresh_token"]
                let renewed = try await Self.made(from: Self.description(paths: paths, Self.server), options, by: scene)
                #expect(renewed.profile.contains(line), "\(renewed.profile)")
                #expect(renewed.notes.contains("no member for a refresh token") == (member == "ticket"))
            }

            let given = try await Self.made(
                from: Self.description(Self.server), ["--sign-in", "/enter/{door}", "--fields", "user-name word"],
                by: scene)
            #expect(given.notes.isEmpty, "\(given.notes)")
            #expect(
                given.profile.contains(#"body = { user-name = "{user_name}", word = "{word}" }"#), "\(given.profile)")
        }
    }

    @Test("a sign-in in parts or as a form sends texts only, and the rest is reported")
    func flatSignIn() async throws {
        let schema = """
            {"required": ["user", "password", "photo", "device", "tags"], "properties": {
               "user": {}, "password": {}, "photo": {"type": "string", "format": "binary"},
               "device": {"properties": {"id": {}}}, "tags": {"type": "array"}, "more": {"properties": {"x": {}}}}}
            """
        let fields = ["user", "password", "device", "tags"]
        let parts = fields.map { "{ name = \"\($0)\", text = \"{\($0)}\" }" }.joined(separator: ", ")
        let form = (fields.prefix(2) + ["photo"] + fields.suffix(2)).map { "\($0) = \"{\($0)}\"" }
        try await Scene.play(keyring: false) { scene in
            for (type, line) in [
                ("multipart/form-data", "multipart = [\(parts)]"),
                ("application/x-www-form-urlencoded", "form = { \(form.joined(separator: ", ")) }"),
            ] {
                let paths = #"{"/login": \#(Self.post(schema, as: type))}"#
                let made = try await Self.made(from: Self.description(paths: paths, Self.server), by: scene)
                #expect(made.profile.contains(line), "\(made.profile)")
                let notes = made.notes.split(separator: "\n").filter { $0.contains("left out") }
                let expected = [
                    "the type of the field device of the sign-in, object: it is sent as text",
                    "the type of the field tags of the sign-in, list: it is sent as text",
                    "the field more of the sign-in",
                ]
                let file = type.hasPrefix("multipart") ? ["the file photo of the sign-in"] : []
                #expect(notes.count == expected.count + file.count, "\(made.notes)")
                for words in expected + file {
                    #expect(notes.contains { $0.hasSuffix("left out: \(words)") }, "\(words)\n\(made.notes)")
                }
            }
        }
    }

    // MARK: What is left out

    @Test("what a profile cannot say is reported, a line for each")
    func leftOut() async throws {
        let paths = """
            {"/other": {"$ref": "paths.json#/other"}, "/here": {"$ref": "#/components/pathItems/Here"},
             "/list": {"get": {"callbacks": {"done": {}}, "servers": [], "parameters": [
               {"$ref": "common.yaml#/Page"}, {"name": "ids", "in": "query", "schema": {"type": "array"}},
               {"name": "filter", "in": "query", "style": "deepObject", "schema": {"type": "object"}}]}},
             "/body": {"post": {"requestBody": {"$ref": "bodies.json#/One"}}},
             "/schema": \(Self.post(#"{"$ref": "schemas.json#/One"}"#)),
             "/part": \(Self.post(#"{"properties": {"owner": {"$ref": "schemas.json#/Owner"}}}"#)),
             "/files": \(Self.post(#"""
                {"properties": {"files": {"type": "array", "items": {"type": "string", "format": "binary"}},
                 "picture": {"type": "string", "contentEncoding": "base64"}, "tags": {"type": "array"}}}
                """#, as: "multipart/form-data"))}
            """
        let rest = """
            \(Self.server), "webhooks": {"newPet": {"post": {}}},
            "components": {"pathItems": {"Here": {"get": {"operationId": "here"}}}}
            """
        try await Scene.play(keyring: false) { scene in
            let made = try await Self.made(from: Self.description(paths: paths, rest), by: scene)
            let lines = made.notes.split(separator: "\n").map(String.init)
            for words in [
                "the webhook newPet", "the path /other at paths.json#/other, which is not in this document",
                "a parameter of GET /list at common.yaml#/Page, which is not in this document",
                "the callbacks of GET /list", "the servers of GET /list",
                "the form of the parameter ids of GET /list, a list: it is sent as one text",
                "the form of the parameter filter of GET /list, an object (deepObject): it is sent as one text",
                "the body of POST /body at bodies.json#/One, which is not in this document",
                "the body of POST /schema at schemas.json#/One, which is not in this document",
                "the type of owner in the body of POST /part at schemas.json#/Owner, which is not in this document",
                "all files of files in the body of POST /files but one",
                "the encoding of picture in the body of POST /files: give the value as base64",
                "the form of tags in the body of POST /files: it is sent as one text",
            ] { #expect(lines.count { $0.contains("left out: \(words)") } == 1, "\(words)\n\(made.notes)") }
            for line in ["[endpoints.here]", #"{ name = "files", file = "files""#, #"args.files = "file?""#] {
                #expect(made.profile.contains(line), "\(line)\n\(made.profile)")
            }
            let many = (0..<50).map { #""/\#($0)": {"head": {}}"# }.joined(separator: ", ")
            let more = try await Self.made(from: Self.description(paths: "{\(many)}", Self.server), by: scene)
            #expect(more.notes.contains("left out: 10 more"), "\(more.notes)")
        }
    }
}
