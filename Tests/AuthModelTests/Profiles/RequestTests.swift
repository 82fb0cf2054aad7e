import AgentTestSupport
import AuthModel
import AuthWire
import Testing

@Suite("Requests of a profile")
struct RequestTests {
    private let answers = ["email": Secret("ada@example.org"), "password": Secret(#"p"\{password}"#)]

    @Test("a sign-in is a JSON body whose values are strings, whatever they contain")
    func signIn() throws {
        let request = try Sample.profile().signInRequest(
            method: Sample.password(), environment: "production", fields: answers)
        #expect(request.method == "POST")
        #expect(request.url == "https://api.sample.example/v1/login")
        #expect(request.json == ["email": "ada@example.org", "password": #"p"\{password}"#, "remember": true])
        #expect(request.header("Content-Type") == "application/json")
        #expect(request.header("Accept") == "application/json")
        #expect(request.header("Authorization") == nil)
    }

    /// As it is sent, and as a server reads it.
    private func form(_ fields: [TemplateField], _ answers: [String: String]) throws -> (
        text: String, read: [FormField]?
    ) {
        var method = try Sample.password()
        method.fields = answers.keys.map { StepField(name: $0, label: $0, optional: true) }
        method.rules = [:]
        method.request?.body = .form(fields)
        let request = try Sample.profile().signInRequest(
            method: method, environment: "local", fields: answers.mapValues { Secret($0) })
        #expect(request.header("Content-Type") == "application/x-www-form-urlencoded")
        let text = try #require(request.body).reveal()
        return (text, Form.decode(text))
    }

    @Test(
        "a value of a form stays one value, whatever it contains",
        arguments: [
            "a&admin=1", "a=b", "a\nb", "a\r\nb", "a+b c", "50%", "%26x=1", "\u{0}", "Zoë ❤", "\"'<>", ";x=1",
        ])
    func formValues(_ value: String) throws {
        let fields = [
            TemplateField(name: "user", value: try Template(parsing: "{a}")),
            TemplateField(name: "grant_type", value: Template(literal: "pass&word")),
            TemplateField(name: "x=1&y", value: try Template(parsing: "<{a}>")),
        ]
        let sent = try form(fields, ["a": value])
        #expect(
            sent.read == [
                FormField("user", value), FormField("grant_type", "pass&word"), FormField("x=1&y", "<\(value)>"),
            ])
        #expect(!sent.text.contains(where: { "\r\n+; \"'<>\u{0}".contains($0) }))
    }

    @Test("a field of a form without a value is left out, and so is one with an empty answer")
    func formHoles() throws {
        let fields = [
            TemplateField(name: "a", value: try Template(parsing: "{a}")),
            TemplateField(name: "b", value: try Template(parsing: "x{b}")),
            TemplateField(name: "c", value: Template(literal: "")),
        ]
        #expect(try form(fields, ["a": "", "b": ""]).text == "c=")
        #expect(try form([], [:]).text.isEmpty)
    }

    @Test("a profile may set the Content-Type of a form itself")
    func formType() throws {
        var method = try Sample.password()
        method.request?.body = .form([])
        method.request?.headers = [
            TemplateField(
                name: "content-type", value: Template(literal: "application/x-www-form-urlencoded; charset=utf-8"))
        ]
        let request = try Sample.profile().signInRequest(method: method, environment: "local", fields: answers)
        let types = request.headers.filter { $0.name.lowercased() == "content-type" }.map { $0.value.reveal() }
        #expect(types == ["application/x-www-form-urlencoded; charset=utf-8"])
    }

    @Test("a user's changes are added to a form, and replace its fields of the same name")
    func formMembers() throws {
        let profile = try Sample.profile {
            $0.userUpdate = UserUpdateRequest(
                request: RequestTemplate(
                    method: "POST", path: try Template(parsing: "/me"), bearer: true,
                    body: .form([
                        TemplateField(name: "who", value: try Template(parsing: "{user.id}")),
                        TemplateField(name: "name", value: Template(literal: "old")),
                    ])), fields: ["name", "tags", "age", "bio"], user: [])
        }
        let request = try #require(
            try profile.userUpdateRequest(
                Sample.record(), changes: ["name": "A&B", "tags": ["x", "y z"], "age": 7, "bio": nil]))
        #expect(request.body?.reveal() == "who=42&name=A%26B&tags=x&tags=y%20z&age=7&bio=")
        let refused = #expect(throws: AgentError.self) {
            try profile.userUpdateRequest(Sample.record(), changes: ["nmae": "A"])
        }
        #expect(refused?.message.hasSuffix(": nmae. Nothing was sent. Did you mean name?") == true, "\(refused as Any)")
    }

    /// A multipart body with these parts, each with its own header fields and content.
    private func multipart(_ parts: [String], of request: HTTPRequest) throws -> String {
        let type = try #require(request.header("Content-Type"))
        let start = "multipart/form-data; boundary="
        #expect(type.hasPrefix(start))
        let line = "--" + type.dropFirst(start.count)
        return parts.map { "\(line)\r\nContent-Disposition: form-data; \($0)\r\n" }.joined() + line + "--\r\n"
    }

    @Test("a value of a multipart body stays in its part, and a part without a value is left out")
    func parts() throws {
        var method = try Sample.password()
        method.fields = ["a", "b"].map { StepField(name: $0, label: $0, optional: true) }
        method.rules = [:]
        method.request?.body = .parts([
            PartTemplate(name: "user", content: .text(try Template(parsing: "{a}"))),
            PartTemplate(name: "gone", content: .text(try Template(parsing: "x{b}"))),
            PartTemplate(
                name: "x\"y", content: .text(Template(literal: "{}")), fileName: Template(literal: "z.json"),
                type: "application/json"),
        ])
        let sly = "ada\r\n--authd-x\r\nContent-Disposition: form-data; name=\"admin\"\r\n\r\n1"
        let request = try Sample.profile().signInRequest(
            method: method, environment: "local", fields: ["a": Secret(sly)])
        let expected = try multipart(
            [
                "name=\"user\"\r\n\r\n\(sly)",
                "name=\"x%22y\"; filename=\"z.json\"\r\nContent-Type: application/json\r\n\r\n{}",
            ], of: request)
        #expect(request.body?.reveal() == expected)
    }

    @Test("a user's changes are added to a multipart body, and replace its parts of the same name")
    func partMembers() throws {
        let profile = try Sample.profile {
            $0.userUpdate = UserUpdateRequest(
                request: RequestTemplate(
                    method: "POST", path: try Template(parsing: "/me"), bearer: true,
                    body: .parts([
                        PartTemplate(name: "who", content: .text(try Template(parsing: "{user.id}"))),
                        PartTemplate(name: "name", content: .text(Template(literal: "old"))),
                    ])), fields: ["name", "tags"], user: [])
        }
        let request = try #require(
            try profile.userUpdateRequest(Sample.record(), changes: ["name": "A&B", "tags": ["x", "y"]]))
        let parts = [("who", "42"), ("name", "A&B"), ("tags", "x"), ("tags", "y")]
        let expected = try multipart(parts.map { "name=\"\($0)\"\r\n\r\n\($1)" }, of: request)
        #expect(request.body?.reveal() == expected)
    }

    @Test("a code keeps its leading zero")
    func code() throws {
        var fields = answers
        fields["device"] = Secret("007123")
        let request = try Sample.profile().signInRequest(
            method: Sample.password(), environment: "local", fields: fields)
        #expect(request.json?["device"] == "007123")
        #expect(request.url == "http://localhost:8080/login")
    }

    @Test("unknown fields never reach the provider")
    func unknownFields() throws {
        var method = try Sample.password()
        method.request?.body = .json(.object([("admin", .text(try Template(parsing: "{admin}")))]))
        var fields = answers
        fields["admin"] = Secret("true")
        let request = try Sample.profile().signInRequest(method: method, environment: "local", fields: fields)
        #expect(request.json == [:])
    }

    @Test("missing fields are named by label, and broken rules too; nothing is sent")
    func refusedBeforeSending() throws {
        let profile = try Sample.profile()
        let method = try Sample.password()
        let missing = #expect(throws: AgentError.self) {
            try profile.signInRequest(method: method, environment: "local", fields: ["email": Secret("ada@x")])
        }
        #expect(missing?.kind == .validation)
        #expect(missing?.message.contains("Password") == true)
        let broken = #expect(throws: AgentError.self) {
            try profile.signInRequest(
                method: method, environment: "local", fields: ["email": Secret("ada"), "password": Secret("hunter2")])
        }
        #expect(broken?.details == ["E-mail: an e-mail address, such as ada@example.org"])
        #expect(broken.map { "\($0)".contains("hunter2") } == false)
    }

    @Test("an optional field's default replaces a missing answer")
    func defaults() throws {
        var method = try Sample.password()
        method.fields[2].value = "laptop"
        let profile = try Sample.profile()
        #expect(profile.missing(fields: answers, method: method).isEmpty)
        let request = try profile.signInRequest(method: method, environment: "local", fields: answers)
        #expect(request.json?["device"] == "laptop")
    }

    @Test("an unknown environment or method is reported with the known ones")
    func unknown() throws {
        let profile = try Sample.profile()
        let environment = #expect(throws: AgentError.self) { try profile.environment(named: "staging") }
        #expect(environment?.message.contains("production, local") == true)
        let method = #expect(throws: AgentError.self) { try profile.method(named: "code") }
        #expect(method?.message.contains("password") == true)
        #expect(try profile.environment(named: nil).name == "production")
    }

    @Test("a session's requests carry its token, and a value in a path stays in one segment")
    func sessionRequests() throws {
        let profile = try Sample.profile()
        let user = try #require(try profile.userRequest(Sample.record(userID: "a/b?c=d#e 100%ü")))
        #expect(user.url == "https://api.sample.example/v1/users/a%2Fb%3Fc%3Dd%23e%20100%25%C3%BC")
        #expect(user.header("Authorization") == "Bearer token-1")
        #expect(user.body == nil)
        #expect(user.header("Content-Type") == nil)
    }

    @Test("a value that would lead to another path is refused", arguments: ["..", ".", "../../admin", "%2e%2e"])
    func climbing(_ id: String) throws {
        let profile = try Sample.profile()
        let error = #expect(throws: AgentError.self) { try profile.userRequest(Sample.record(userID: id)) }
        #expect(error?.kind == .validation)
    }

    @Test("a path with a missing value is not sent")
    func hole() throws {
        let error = #expect(throws: AgentError.self) { try Sample.profile().userRequest(Sample.record(userID: nil)) }
        #expect(error?.message.contains("user.id") == true)
    }

    @Test("a line break in a header's value is refused", arguments: ["1\r\nX-Admin: 1", "1\n", "\u{0}", "1\u{7F}"])
    func headerInjection(_ id: String) throws {
        let profile = try Sample.profile {
            $0.headers = [TemplateField(name: "X-User-ID", value: try Template(parsing: "{user.id}"))]
        }
        let error = #expect(throws: AgentError.self) { try profile.validationRequest(Sample.record(userID: id)) }
        #expect(error?.kind == .validation)
        #expect(error?.message.contains("X-User-ID") == true)
        #expect(try profile.validationRequest(Sample.record())?.header("X-User-ID") == "42")
        #expect(try profile.validationRequest(Sample.record(userID: nil))?.header("X-User-ID") == nil)
    }

    @Test("a request's header precedes the profile's header of that name, in any case")
    func headerOrder() throws {
        let profile = try Sample.profile {
            $0.headers = [TemplateField(name: "Accept", value: Template(literal: "application/json"))]
            $0.validation?.headers = [TemplateField(name: "ACCEPT", value: Template(literal: "text/plain"))]
        }
        let request = try #require(try profile.validationRequest(Sample.record()))
        #expect(request.headers.filter { $0.name.lowercased() == "accept" }.map { $0.value.reveal() } == ["text/plain"])
    }

    @Test("a query is encoded, and a parameter without a value is left out")
    func query() throws {
        let profile = try Sample.profile {
            $0.validation?.query = [
                TemplateField(name: "user id", value: try Template(parsing: "{user.id}")),
                TemplateField(name: "name", value: try Template(parsing: "{user.name}")),
                TemplateField(name: "q", value: Template(literal: "a&b=c+d")),
            ]
        }
        let request = try #require(try profile.validationRequest(Sample.record()))
        #expect(request.url == "https://api.sample.example/v1/me?user%20id=42&q=a%26b%3Dc%2Bd")
    }

    @Test("a session that cannot be renewed has no renewal request")
    func noRenewal() throws {
        let none = try Sample.profile { $0.renewal = Renewal(kind: .none) }
        #expect(try none.renewalRequest(Sample.record()) == nil)
        let signIn = try Sample.profile { $0.renewal = Renewal(kind: .signIn) }
        #expect(try signIn.renewalRequest(Sample.record()) == nil)
        #expect(try signIn.repeatedSignIn(Sample.record()) == nil)
        #expect(try signIn.repeatedSignIn(Sample.record(remembered: ["email": "ada@example.org"])) == nil)
        let local = try Sample.profile { $0.signOut = nil }
        #expect(try local.signOutRequest(Sample.record()) == nil)
    }

    @Test("a remembered sign-in is repeated in the session's own environment")
    func signInAgain() throws {
        let profile = try Sample.profile { $0.renewal = Renewal(kind: .signIn) }
        let record = try Sample.record(remembered: ["email": "ada@example.org", "password": "pw"])
        let repeated = try #require(try profile.repeatedSignIn(record))
        let request = try profile.request(.own, of: repeated.method, repeated.values)
        #expect(request.url == "https://api.sample.example/v1/login")
        #expect(request.json?["password"] == "pw")
        #expect(request.header("Authorization") == nil)
    }

    @Test("a renewal that needs a refresh token is not tried without one")
    func refreshToken() throws {
        let profile = try Sample.profile {
            $0.renewal.request?.body = .json(
                .object([("refreshToken", .text(try Template(parsing: "{refresh_token}")))]))
        }
        #expect(try profile.renewalRequest(Sample.record()) == nil)
        let request = try #require(try profile.renewalRequest(Sample.record(refreshToken: "r-1")))
        #expect(request.json == ["refreshToken": "r-1"])
    }

    @Test("an unknown method or environment is unsupported, and the known ones are named")
    func unknownNames() throws {
        let profile = try Sample.profile()
        let method = #expect(throws: AgentError.self) { try profile.method(named: "magic") }
        #expect(method?.kind == .unsupported && method?.cause == "unknown_method")
        #expect(method?.message.contains("password") == true)
        let environment = #expect(throws: AgentError.self) { try profile.environment(named: "moon") }
        #expect(environment?.kind == .unsupported && environment?.cause == "unknown_environment")
        #expect(environment?.message.contains("production, local") == true)
    }
}
