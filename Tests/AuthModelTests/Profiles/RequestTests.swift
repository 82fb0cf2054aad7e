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
        method.request?.body = .object([("admin", .text(try Template(parsing: "{admin}")))])
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
        #expect(try signIn.renewalRequest(Sample.record(remembered: ["email": "ada@example.org"])) == nil)
        let local = try Sample.profile { $0.signOut = nil }
        #expect(try local.signOutRequest(Sample.record()) == nil)
    }

    @Test("a remembered sign-in is repeated in the session's own environment")
    func signInAgain() throws {
        let profile = try Sample.profile { $0.renewal = Renewal(kind: .signIn) }
        let record = try Sample.record(remembered: ["email": "ada@example.org", "password": "pw"])
        let request = try #require(try profile.renewalRequest(record))
        #expect(request.url == "https://api.sample.example/v1/login")
        #expect(request.json?["password"] == "pw")
        #expect(request.header("Authorization") == nil)
    }

    @Test("a renewal that needs a refresh token is not tried without one")
    func refreshToken() throws {
        let profile = try Sample.profile {
            $0.renewal.request?.body = .object([("refreshToken", .text(try Template(parsing: "{refresh_token}")))])
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
