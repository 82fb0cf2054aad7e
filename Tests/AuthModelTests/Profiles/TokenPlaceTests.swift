import AgentTestSupport
import AuthModel
import AuthWire
import Testing

@Suite("The place of the access token")
struct TokenPlaceTests {
    private func request(
        _ place: TokenPlace, token: String = "token-1", _ change: (inout RequestTemplate) throws -> Void = { _ in }
    ) throws -> HTTPRequest {
        let profile = try Sample.profile {
            $0.tokenPlace = place
            var validation = try #require($0.validation)
            try change(&validation)
            $0.validation = validation
        }
        var record = try Sample.record()
        record.tokens.accessToken = Secret(token)
        return try #require(try profile.validationRequest(record))
    }

    /// Where the token is: in the address, or in headers by name.
    private func places(of request: HTTPRequest, token: String = "token-1") -> [String] {
        let headers = request.headers.filter { $0.value.reveal().contains(token) }.map {
            "\($0.name): \($0.value.reveal())"
        }
        return (request.url.contains(token) ? [request.url] : []) + headers
    }

    private static let value = "{access_token}"

    @Test("is one, once")
    func once() throws {
        let value = try Template(parsing: Self.value)
        #expect(places(of: try request(.standard)) == ["Authorization: Bearer token-1"])
        let word = TokenPlace.header("Authorization", try Template(parsing: "Token {access_token}"))
        #expect(places(of: try request(word)) == ["Authorization: Token token-1"])
        #expect(places(of: try request(.header("X-API-Key", value))) == ["X-API-Key: token-1"])
        #expect(places(of: try request(.cookie("sid", value))) == ["Cookie: sid=token-1"])
        let base = "https://api.sample.example/v1/me"
        #expect(places(of: try request(.query("api_key", value))) == [base + "?api_key=token-1"])
        let further = try request(.query("api key", value)) {
            $0.query = [TemplateField(name: "a", value: Template(literal: "1"))]
        }
        #expect(places(of: further) == [base + "?a=1&api%20key=token-1"])
    }

    @Test("provider.show names the header of a profile that carries the token, and keeps any other to itself")
    func shown() throws {
        func place(_ header: String) throws -> TokenPlaceInfo? {
            let value = try Template(parsing: header)
            return try Sample.profile { $0.headers = [TemplateField(name: "authorization", value: value)] }
                .detail.tokenPlace
        }
        #expect(
            try place("Token {access_token}")
                == TokenPlaceInfo(kind: "header", name: "authorization", value: "Token {access_token}"))
        #expect(try place("Basic YTpi") == nil)
    }

    @Test("keeps the token's bytes apart from what is around it")
    func encoding() throws {
        let value = try Template(parsing: Self.value)
        let sly = "a&b=c;d,e\"f\\g"
        #expect(try request(.query("k", value), token: sly).url.hasSuffix("?k=a%26b%3Dc%3Bd%2Ce%22f%5Cg"))
        #expect(throws: AgentError.self) { try request(.cookie("k", value), token: sly) }
        for place in [TokenPlace.header("X-K", value), .cookie("k", value), .standard] {
            let error = #expect(throws: AgentError.self) { try request(place, token: "a\r\nX-Admin: 1") }
            #expect(error?.kind == .validation)
        }
    }

    @Test("a cookie joins the others in one field")
    func cookies() throws {
        let sent = try request(.cookie("sid", try Template(parsing: Self.value))) {
            $0.headers = [TemplateField(name: "cookie", value: Template(literal: "theme=dark; lang=de"))]
        }
        let fields = sent.headers.filter { $0.name.lowercased() == "cookie" }.map { $0.value.reveal() }
        #expect(fields == ["theme=dark; lang=de; sid=token-1"])
    }

    @Test("that is taken is an error, however the name is written")
    func taken() throws {
        let value = try Template(parsing: Self.value)
        let other = Template(literal: "mine")
        let header = #expect(throws: AgentError.self) {
            try request(.header("X-API-Key", value)) { $0.headers = [TemplateField(name: "x-api-KEY", value: other)] }
        }
        #expect(header?.message.contains("X-API-Key") == true)
        #expect(throws: AgentError.self) {
            try request(.query("api_key", value)) { $0.query = [TemplateField(name: "api_key", value: other)] }
        }
        // With a mark beside them, a semicolon and an equals sign are other characters, but a server sees them.
        for cookies in ["a=1; sid=mine", "a=1\u{600}; sid=mine", "a=\u{D4E}; sid=mine", "sid=\u{301}mine"] {
            #expect(throws: AgentError.self, "\(cookies)") {
                try request(.cookie("sid", value)) {
                    $0.headers = [TemplateField(name: "Cookie", value: Template(literal: cookies))]
                }
            }
        }
    }

    @Test("a request with Basic authentication has no token, and its name no colon")
    func basic() throws {
        func sent(_ user: String, _ password: String) throws -> String? {
            try request(.standard) {
                $0.authorization = .basic(user: Template(literal: user), password: try Template(parsing: password))
            }.header("Authorization")
        }
        #expect(try sent("Aladdin", "open sesame") == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        #expect(try sent("test", "123£") == "Basic dGVzdDoxMjPCow==")
        #expect(try sent("key", "{user.name}") == "Basic a2V5Og==")
        #expect(try sent("a", "b:c") == "Basic YTpiOmM=")
        let colon = #expect(throws: AgentError.self) { try sent("a:b", "c") }
        #expect(colon?.cause == "basic")
        #expect(throws: AgentError.self) { try sent("a", "b\nc") }
    }
}
