import AgentTestSupport
import AuthModel
import AuthWire
import Testing

@Suite("Hosts of a profile")
struct HostTests {
    private func profile(_ change: (inout ProviderProfile) throws -> Void = { _ in }) throws -> ProviderProfile {
        try Sample.profile {
            $0.hosts = [
                ProviderHost(name: "auth", addresses: [nil: "https://auth.sample.example"]),
                ProviderHost(name: "files", addresses: ["production": "https://files.sample.example/v2"]),
            ]
            $0.signIn[0].request?.host = "auth"
            $0.renewal.request?.host = "auth"
            $0.renewal.request?.authorization = .none
            $0.renewal.request?.body = .form([
                TemplateField(name: "refresh", value: try Template(parsing: "{refresh_token}"))
            ])
            try change(&$0)
        }
    }

    private func uses(_ profile: ProviderProfile, _ url: String) throws -> TokenOrigins.Uses? {
        try profile.origins(in: "production")?.uses[Origin(url)]
    }

    @Test("requests go to the host that they name, by environment")
    func addresses() throws {
        let profile = try profile { $0.validation?.host = "files" }
        let record = try Sample.record(refreshToken: "r-1")
        #expect(try profile.renewalRequest(record)?.url.hasPrefix("https://auth.sample.example/") == true)
        #expect(try profile.validationRequest(record)?.url.hasPrefix("https://files.sample.example/v2/") == true)
        #expect(try profile.userRequest(record)?.url.hasPrefix("https://api.sample.example/v1/") == true)
        let signIn = try profile.signInRequest(
            method: profile.signIn[0], environment: "local",
            fields: ["email": Secret("a@b.example"), "password": Secret("p")])
        #expect(signIn.url == "https://auth.sample.example/login" && signIn.carries == .credentials)
        let local = try profile.environment(named: "local")
        let error = #expect(throws: AgentError.self) { try profile.address(of: "files", in: local) }
        #expect(error?.cause == "unknown_host" && error?.message.contains("files") == true)
    }

    @Test("a host gets what the requests that name it contain, and one that none names gets nothing")
    func origins() throws {
        let two = try profile()
        #expect(try uses(two, "https://auth.sample.example") == [.credentials, .refreshToken])
        #expect(try uses(two, "https://api.sample.example") == .all)
        #expect(try uses(two, "https://files.sample.example") == nil)
        let open = try profile {
            $0.endpoints = [
                Endpoint(name: "f", request: RequestTemplate(method: "GET", path: try Template(parsing: "/f"))),
                Endpoint(
                    name: "g", request: RequestTemplate(method: "GET", path: try Template(parsing: "/g"), bearer: true)),
            ]
            $0.endpoints[0].request.host = "files"
        }
        #expect(try uses(open, "https://files.sample.example") == [])
        let token = try profile {
            $0.validation?.host = "files"
            $0.headers = [TemplateField(name: "X", value: try Template(parsing: "{access_token:base64}"))]
        }
        #expect(try uses(token, "https://files.sample.example") == .accessToken)
        // A sign-in has no token yet, but a renewal has.
        #expect(try uses(token, "https://auth.sample.example") == .all)
        let signInOnly = try profile { $0.renewal.request?.host = nil }
        #expect(try uses(signInOnly, "https://auth.sample.example") == .credentials)
    }

    @Test("a request is refused at a host that was recorded for less")
    func guarded() throws {
        var record = try Sample.record(refreshToken: "r-1")
        record.origins = try profile().origins(in: "production")
        let renewal = try #require(try profile().renewalRequest(record))
        #expect(renewal.carries == .refreshToken)
        #expect(throws: Never.self) { try OriginGuard(record).check(renewal.carries, at: renewal.url) }
        let changed = try profile { $0.validation?.host = "auth" }
        let validation = try #require(try changed.validationRequest(record))
        #expect(validation.carries == .accessToken)
        let error = #expect(throws: AgentError.self) {
            try OriginGuard(record).check(validation.carries, at: validation.url)
        }
        #expect(error?.isOriginChange == true)
        #expect(record.origins?.change(to: try #require(changed.origins(in: "production"))) != nil)
    }

    @Test("what is recorded is read again, with hosts that get nothing")
    func stored() throws {
        let origins = try #require(
            try profile {
                $0.validation?.host = "files"
                $0.validation?.authorization = .none
            }.origins(in: "production"))
        #expect(origins.uses.count == 3)
        #expect(TokenOrigins(stored: origins.json) == origins)
    }
}
