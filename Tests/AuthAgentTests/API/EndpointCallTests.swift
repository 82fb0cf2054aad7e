import AuthWire
import Testing

@testable import AuthModel

@Suite("An endpoint's arguments")
struct EndpointCallTests {
    private func record() throws -> SessionRecord {
        SessionRecord(
            session: try SessionName("example"), provider: "example", environment: "local", method: "password",
            tokens: TokenSet(accessToken: Secret("t"), issuedAt: WallTime(unixSeconds: 0)),
            user: UserSummary(id: "u 7"), rawUser: nil, signedInAt: WallTime(unixSeconds: 0))
    }

    private func endpoint() throws -> Endpoint {
        Endpoint(
            name: "update",
            request: RequestTemplate(
                method: "PUT", path: try Template(parsing: "/things/{id}"),
                query: [TemplateField(name: "dry", value: try Template(parsing: "{dry}"))],
                headers: [TemplateField(name: "X-User", value: try Template(parsing: "{user.id}"))], bearer: true,
                body: .json(
                    .object([
                        ("code", .text(try Template(parsing: "{code}"))),
                        ("count", .text(try Template(parsing: "{count}"))),
                        ("on", .text(try Template(parsing: "{on}"))), ("tags", .text(try Template(parsing: "{tags}"))),
                        ("who", .text(try Template(parsing: "{who}"))), ("kind", .literal("fixed")),
                        ("label", .text(try Template(parsing: "n{count}"))),
                    ]))),
            arguments: [
                EndpointArgument(name: "id"), EndpointArgument(name: "dry", type: .boolean, optional: true),
                EndpointArgument(name: "code"), EndpointArgument(name: "count", type: .integer),
                EndpointArgument(name: "on", type: .boolean, optional: true),
                EndpointArgument(name: "tags", type: .list, optional: true),
                EndpointArgument(name: "who", fallback: try Template(parsing: "{user.id}")),
            ])
    }

    private func build(_ args: JSONObject, body: JSON? = nil) throws -> HTTPRequest {
        let profile = try ExampleProvider.profile()
        let order = try PreparedCall(
            APICall(endpoint: "update", args: args, body: body), endpoint: try endpoint(), profile: profile,
            environment: profile.environments[0], boundary: "b")
        return try order.build(try record()).request
    }

    @Test("are placed as the profile says, each with its JSON type")
    func builds() throws {
        let request = try build(["id": "a b", "code": "007", "count": "3", "on": "false", "tags": ["x"], "dry": true])
        #expect(request.method == "PUT")
        #expect(request.url == "http://localhost:1/things/a%20b?dry=true")
        #expect(
            request.body?.reveal()
                == #"{"code":"007","count":3,"on":false,"tags":["x"],"who":"u 7","kind":"fixed","label":"n3"}"#)
        #expect(request.headers.first { $0.name == "X-User" }?.value.reveal() == "u 7")
        // The token is put in when it is sent, by who has it.
        #expect(!request.headers.contains { $0.name == "Authorization" })
    }

    @Test("have 65,536 JSON values at most in their strings, all of them together")
    func largeStrings() throws {
        func list(_ elements: Int) -> JSON {
            .string("[" + Array(repeating: "0", count: elements).joined(separator: ",") + "]")
        }
        var endpoint = try endpoint()
        endpoint.arguments.append(EndpointArgument(name: "more", type: .list, optional: true))
        endpoint.arguments.append(EndpointArgument(name: "rate", type: .number, optional: true))
        let check = ArgumentValidator(endpoint: endpoint, providerTitle: "Example")
        func checked(_ args: JSONObject) throws -> JSONObject {
            var all: JSONObject = ["id": "a", "code": "007", "count": 3]
            for (name, value) in args { all[name] = value }
            return try check.checked(all, hasBody: false)
        }
        let most = try checked(["tags": list(32_767), "more": list(32_767)])
        #expect(most["tags"]?.arrayValue?.count == 32_767 && most["more"]?.arrayValue?.count == 32_767)
        for args in [["tags": list(65_536)], ["tags": list(32_768), "more": list(32_767)]] as [JSONObject] {
            let error = #expect(throws: AgentError.self) { try checked(args) }
            #expect(error?.kind == .tooLarge && error?.cause == "arguments")
        }
        #expect(try checked(["rate": "2.5"])["rate"] == 2.5)
        let number = #expect(throws: AgentError.self) { try checked(["rate": list(100_000)]) }
        #expect(number?.details == ["rate should be a number"])
    }

    @Test("stand in a form as text, and a list gives its name once for each element")
    func form() throws {
        var endpoint = try endpoint()
        endpoint.request.body = .form(
            try ["code", "count", "on", "tags", "who"].map {
                TemplateField(name: $0, value: try Template(parsing: "{\($0)}"))
            } + [TemplateField(name: "label", value: try Template(parsing: "n{count}"))])
        let profile = try ExampleProvider.profile()
        func sent(_ args: JSONObject) throws -> HTTPRequest {
            try PreparedCall(
                APICall(endpoint: "update", args: args), endpoint: endpoint, profile: profile,
                environment: profile.environments[0], boundary: "b"
            ).build(try record()).request
        }
        let full = try sent([
            "id": "1", "code": "0&0=7", "count": "3", "on": false, "tags": ["x&y", 2, true, ["z"]], "who": "me\n",
        ])
        #expect(
            full.body?.reveal()
                == "code=0%260%3D7&count=3&on=false&tags=x%26y&tags=2&tags=true&tags=%5B%22z%22%5D&who=me%0A&label=n3")
        #expect(full.headers.first { $0.name == "Content-Type" }?.value.reveal() == Form.mediaType)
        #expect(
            try sent(["id": "1", "code": "", "count": 3, "tags": []]).body?.reveal() == "count=3&who=u%207&label=n3")
        let whole = #expect(throws: AgentError.self) {
            try PreparedCall(
                APICall(endpoint: "update", args: ["id": "1"], body: ["own": 1]), endpoint: endpoint, profile: profile,
                environment: profile.environments[0], boundary: "b")
        }
        #expect(whole?.cause == "body")
    }

    @Test("a prepared request is sent as it was built, unless the session's values or the call have changed")
    func prepared() throws {
        let (profile, votes, other) = (
            try ExampleProvider.profile(), "http://localhost:1/votes", "http://localhost:1/other"
        )
        var call = try PreparedCall(
            APIRequest(method: "POST", path: "/votes"), profile: profile, environment: profile.environments[0],
            boundary: "b")
        var record = try record()
        try call.prepare(for: record)
        // No program does this: it shows whether the request is built again.
        call.url = other
        #expect(try call.build(record).request.url == votes)
        record.tokens.accessToken = Secret("renewed")
        #expect(try call.build(record).request.url == other)
        try call.prepare(for: record)
        call.url = votes
        #expect(try call.build(record).request.url == other)
        call.template.headers = []
        #expect(try call.build(record).request.url == votes)
    }

    @Test("an argument that is trimmed is sent without the space around it, and only space is none")
    func trims() throws {
        var endpoint = try endpoint()
        endpoint.arguments[6].trims = true
        let check = ArgumentValidator(endpoint: endpoint, providerTitle: "Example")
        let args: JSONObject = ["id": " a ", "code": "007", "count": 3, "who": " u 8\n"]
        let given = try check.checked(args, hasBody: false)
        #expect(given["who"] == "u 8" && given["id"] == " a ")
        var blank = args
        blank["who"] = " "
        #expect(try check.checked(blank, hasBody: false)["who"] == nil)
    }

    @Test("an omitted argument is not in the request")
    func leavesOut() throws {
        let request = try build(["id": "1", "code": "", "count": 3, "who": "me"])
        #expect(request.url == "http://localhost:1/things/1")
        #expect(request.body?.reveal() == #"{"code":"","count":3,"who":"me","kind":"fixed","label":"n3"}"#)
    }

    @Test("a body given whole takes the place of theirs, and the path's are still needed")
    func wholeBody() throws {
        #expect(try build(["id": "1"], body: ["own": [1]]).body?.reveal() == #"{"own":[1]}"#)
        #expect(throws: AgentError.self) { try build([:], body: ["own": 1]) }
    }

    @Test("are reported one by one if they are missing, unknown or of another type, before anything is sent")
    func problems() throws {
        let error = #expect(throws: AgentError.self) {
            try build(["code": 7, "count": "3.5", "on": "yes", "tags": "x", "idd": 1])
        }
        #expect(error?.kind == .validation && error?.cause == "arguments")
        #expect(
            error?.details == [
                "id is required: text", "code should be text", "count should be a whole number",
                "on should be true or false", "tags should be a list",
                "idd is unknown: did you mean id?",
            ])
        #expect(error?.message.contains("id, dry?, code, count, on?, tags?, who?") == true)
    }

    private static let leadingElsewhere = [
        "..", ".", "", "../admin", "..\\admin", "a/../../admin", "%2e%2e", "%2E%2E/admin", "%2e%2e%2fadmin",
        "..%2fadmin",
        "..%5cadmin", "..%252fadmin", "%252e%252e%252fadmin", "%25252e%25252e", "a/b", "a\\b", "a%2fb", "a%255cb",
        "..;a",
        "..%3ba", "\u{0}", "a%00", "a%2500", "%2525252525252e",
    ]

    @Test("never make a path lead elsewhere, however often it is decoded", arguments: leadingElsewhere)
    func path(id: String) {
        let error = #expect(throws: AgentError.self) { try build(["id": .string(id), "code": "1", "count": 1]) }
        #expect(error?.kind == .validation)
        // It may be a secret, or text that a terminal acts on.
        if id.count > 2 { #expect(error?.message.contains(id) == false) }
    }

    @Test(
        "may look strange and still be one segment", arguments: ["...", ".a", "a..b", "100%", "%zz", "a;b", "%25", "ü"])
    func oneSegment(id: String) throws {
        let url = try build(["id": .string(id), "code": "1", "count": 1]).url
        #expect(url == "http://localhost:1/things/" + PercentEncoding.encode(id))
    }

    private func file(_ path: String) throws -> HTTPRequest {
        let endpoint = Endpoint(
            name: "file",
            request: RequestTemplate(method: "GET", path: try Template(parsing: "/files/{path}"), bearer: true),
            arguments: [EndpointArgument(name: "path", type: .path)])
        let profile = try ExampleProvider.profile()
        let order = try PreparedCall(
            APICall(endpoint: "file", args: ["path": .string(path)]), endpoint: endpoint, profile: profile,
            environment: profile.environments[0], boundary: "b")
        return try order.build(try record()).request
    }

    @Test("of the type path may hold slashes, which are sent encoded")
    func slashes() throws {
        #expect(try file("Sources/main.swift").url == "http://localhost:1/files/Sources%2Fmain.swift")
    }

    @Test(
        "of the type path never climb either",
        arguments: ["..", "a/../b", "a/./b", "a\\..\\b", "..%2fa", "%252e%252e/a", "a/%2e%2e", "a/..;x/b", "a%00"])
    func climbing(path: String) {
        #expect(throws: AgentError.self) { try file(path) }
    }
}
