import AgentTestSupport
import AuthWire
import Testing

@testable import AuthModel

@Suite("A protected resource")
struct ProtectedResourceTests {
    @Test(
        "a URL is read in one spelling",
        arguments: [
            ("https://mcp.example.com/mcp", "https://mcp.example.com/mcp", "mcp.example.com"),
            ("HTTPS://MCP.Example.com:443/mcp/", "https://mcp.example.com/mcp/", "mcp.example.com"),
            ("https://mcp.example.com/", "https://mcp.example.com", "mcp.example.com"),
            ("https://mcp.example.com:8443/a?b=c%20d", "https://mcp.example.com:8443/a", "mcp.example.com-8443"),
            ("http://127.0.0.1:80/a", "http://127.0.0.1/a", "127.0.0.1"),
            ("http://[::1]:9000/a", "http://[::1]:9000/a", "1-9000"),
            ("https://[2001:db8::1]:8443/a", "https://[2001:db8::1]:8443/a", "2001-db8--1-8443"),
            ("https://_a_.example", "https://_a_.example", "a_.example"),
        ])
    func spelling(text: String, spelled: String, session: String) throws {
        let url = try ResourceURL(text)
        #expect(url.text == spelled)
        #expect(try url.sessionName(1).text == session)
        #expect(try url.sessionName(2).text == session + "-2")
        #expect(url.query == (text.contains("?") ? "?b=c%20d" : ""))
    }

    @Test("the name of a long host has room for its number")
    func longName() throws {
        let url = try ResourceURL(
            "https://" + String(repeating: "a", count: 63) + "." + String(repeating: "b", count: 60))
        #expect(try url.sessionName(1).text.utf8.count == 64)
        #expect(try url.sessionName(12).text.hasSuffix("-12"))
        #expect(try url.sessionName(12).text.utf8.count == 64)
    }

    @Test(
        "a URL that must not be used is refused",
        arguments: [
            "http://mcp.example.com/mcp", "ftp://a.example", "https://", "https://a b", "https://user@a.example", "mcp",
            "https://a.example/#f", "https://a.example/?a#f", "https://a.example/a b", "https://a.example/../b",
            "https://a.example/?a b", "https://a.example/?ä", "javascript:alert(1)",
        ])
    func refused(text: String) {
        let error = #expect(throws: AgentError.self) { try ResourceURL(text) }
        #expect(error?.kind == .validation)
    }

    @Test(
        "a resource indicator covers whole path segments of its origin",
        arguments: [
            ("https://a.example/mcp", "https://a.example/mcp", true),
            ("https://a.example/mcp/", "https://a.example/mcp", true),
            ("https://a.example/mcp", "https://a.example/mcp/", true),
            ("https://a.example/mcp", "https://a.example", true),
            ("https://a.example/mcp", "https://a.example/", true),
            ("https://a.example/mcp", "https://A.example:443/", true),
            ("https://a.example/mcp/x", "https://a.example/mcp", true),
            ("https://a.example/mcpx", "https://a.example/mcp", false),
            ("https://a.example/mcp", "https://a.example/mcp/x", false),
            ("https://a.example/mcp", "https://a.example/other", false),
            ("https://a.example/mcp", "https://b.example/mcp", false),
            ("https://a.example/mcp", "http://a.example/mcp", false),
            ("https://a.example/mcp", "https://a.example:8443/mcp", false),
            ("https://a.example/mcp", "https://a.example/mcp?x=1", false),
            ("https://a.example/mcp?x=1", "https://a.example/mcp?x=1", true),
            ("https://a.example/mcp?x=1", "https://a.example/mcp", true),
            ("https://a.example/mcp", "https://a.example/mcp#f", false),
            ("https://a.example/mcp", "", false), ("https://a.example/mcp", "/mcp", false),
        ])
    func covers(url: String, identifier: String, isCovered: Bool) throws {
        #expect(try ResourceURL(url).isCovered(by: identifier) == isCovered)
    }

    @Test(
        "a token that another resource's sign-in got is accepted for this resource alone, or for a URL of the same tenant",
        arguments: [
            ("https://b.example/mcp", #"{"aud":"https://b.example/mcp"}"#, true),
            ("https://b.example/mcp", #"{"aud":["https://b.example/mcp","userinfo"]}"#, true),
            ("https://b.example/mcp", #"{"aud":["https://b.example/mcp","https://a.example/one"]}"#, false),
            ("https://b.example/mcp", #"{"aud":"https://a.example/one"}"#, false),
            ("https://b.example/mcp", "{}", false),
            ("https://a.example/two", #"{"aud":"https://a.example/two"}"#, true),
            ("https://a.example/two", "{}", false), ("https://a.example/onetwo", "{}", false),
            ("https://a.example/one/two", "{}", true), ("https://a.example", "{}", true),
            ("https://a.example/one/", "{}", true), ("http://a.example/one", "{}", false),
        ])
    func audience(url: String, claims: String, isAccepted: Bool) {
        let source = ProtectedResource(url: "https://a.example/one", identifier: "https://a.example/one", issuer: "i")
        let resource = ProtectedResource(url: url, identifier: url, issuer: "i")
        #expect(resource.accepts(Secret(Sample.jwt(claims)), from: source) == isAccepted)
    }

    @Test("two tenants of one host that name the same resource do not get each other's tokens")
    func sameIdentifier() {
        let host = "https://a.example"
        let source = ProtectedResource(url: host + "/one", identifier: host, issuer: "i")
        let resource = ProtectedResource(url: host + "/two", identifier: host, issuer: "i")
        #expect(!resource.accepts(Secret(Sample.jwt(#"{"aud":"https://a.example"}"#)), from: source))
    }

    @Test("the metadata's addresses have the path inserted, and are at the root")
    func places() throws {
        #expect(
            try ResourceURL("https://a.example/x/y/?q").metadataPlaces == [
                "https://a.example/.well-known/oauth-protected-resource/x/y",
                "https://a.example/.well-known/oauth-protected-resource",
            ])
        #expect(
            try ResourceURL("https://a.example/").metadataPlaces == [
                "https://a.example/.well-known/oauth-protected-resource"
            ])
    }

    // MARK: Metadata

    private func read(_ json: JSON) throws(MetadataError) -> ResourceMetadata {
        guard let url = try? ResourceURL("https://a.example/mcp") else { throw MetadataError(reason: "url") }
        return try ResourceMetadata(json, of: url)
    }

    @Test("metadata is read as far as it is usable")
    func metadata() throws {
        let found = try read([
            "resource": "https://a.example/mcp",
            "authorization_servers": ["http://as.example", "https://as.example", 7],
            "scopes_supported": ["read", "bad scope", "", 3, "write"], "bearer_methods_supported": ["body", "header"],
        ])
        #expect(found.servers == ["https://as.example"])
        #expect(found.scopes == ["read", "write"])
        #expect(
            try read(["resource": "https://a.example", "authorization_servers": ["https://as.example/"]]).scopes == nil)
    }

    @Test(
        "metadata that cannot be used is refused with the reason",
        arguments: [
            ([:], "names no resource"),
            (
                ["resource": "https://b.example/mcp", "authorization_servers": ["https://as.example"]],
                "not https://a.example/mcp"
            ),
            (["resource": "https://a.example/mcp"], "no authorization server"),
            (["resource": "https://a.example/mcp", "authorization_servers": []], "no authorization server"),
            (
                ["resource": "https://a.example/mcp", "authorization_servers": ["http://127.0.0.1:80"]],
                "http://127.0.0.1:80"
            ),
            (["resource": "https://a.example/mcp", "authorization_servers": ["https://as.example?a"]], "as.example"),
            (
                [
                    "resource": "https://a.example/mcp", "authorization_servers": ["https://as.example"],
                    "bearer_methods_supported": ["query"],
                ], "Authorization header: its bearer_methods_supported has query"
            ),
            (
                [
                    "resource": "https://a.example/mcp", "authorization_servers": ["https://as.example"],
                    "bearer_methods_supported": [],
                ], "Authorization header: its bearer_methods_supported has none"
            ),
        ] as [(JSON, String)])
    func badMetadata(json: JSON, reason: String) {
        let error = #expect(throws: MetadataError.self) { try read(json) }
        #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
    }

    // MARK: The client

    private func selected(
        methods: [String]? = nil, registers: Bool = true, accepts: Bool = false, document: String? = nil,
        names: Bool = false
    ) -> ProtectedResource {
        var server = OAuthServer(issuer: "https://as.example", endpoints: OAuthEndpoints())
        if registers { server.endpoints.registration = "https://as.example/register" }
        server.authenticationMethods = methods
        server.acceptsClientDocuments = accepts
        var resource = ProtectedResource(url: "https://a.example", identifier: "https://a.example", issuer: "i")
        resource.selectClient(at: server, document: document, namesClient: names)
        return resource
    }

    @Test("the client is the user's own, else the document's, else registered, else asked for")
    func client() {
        let document = "https://me.example/authd.json"
        #expect(selected(accepts: true, document: document, names: true).clientSource == .user)
        #expect(selected(accepts: true, document: document).clientID == document)
        #expect(selected(accepts: false, document: document).clientSource == .registration)
        #expect(selected(accepts: true).clientSource == .registration)
        #expect(selected(registers: false).clientSource == .user)
        #expect(
            ProviderProfile(selected(registers: false)).signIn[0].fields.map(\.name) == ["client_id", "client_secret"])
        #expect(ProviderProfile(selected()).signIn[0].fields.isEmpty)
    }

    @Test("a registered client is public if the server allows that, and has a secret otherwise")
    func authentication() {
        #expect(selected().clientAuthentication == .none)
        #expect(selected(methods: ["none", "client_secret_basic"]).clientAuthentication == .none)
        #expect(selected(methods: ["client_secret_post"]).clientAuthentication == .post)
        #expect(selected(methods: ["client_secret_basic", "client_secret_post"]).clientAuthentication == .basic)
        #expect(selected(methods: ["private_key_jwt"]).clientAuthentication == .none)
    }

    @Test("the user's client has the authentication that its secret needs")
    func ownClient() {
        let profile = ProviderProfile(selected(methods: ["client_secret_post"], names: true))
        let withSecret = profile.withClient(Secret("c"), hasSecret: true)
        #expect(withSecret.oauth?.clientAuthentication == .post && withSecret.resource?.clientID == "c")
        let isPublic = profile.withClient(Secret("c"), hasSecret: false)
        #expect(isPublic.oauth?.clientAuthentication == ClientAuthentication.none && isPublic.oauth?.clientID == "c")
        #expect(profile.withClient(nil, hasSecret: false) == profile)
    }

    // MARK: Stored

    private static let stored =
        #"{"url":"https://a.example/mcp","identifier":"https://a.example","issuer":"https://as.example","#
        + #""scopes":["read"],"client_source":"user","client_id":"c","client_authentication":"basic"}"#

    @Test("it is stored with the session, in a format that an older authd does not read")
    func storedBytes() throws {
        let resource = ProtectedResource(
            url: "https://a.example/mcp", identifier: "https://a.example", issuer: "https://as.example",
            scopes: ["read"], clientSource: .user, clientID: "c", clientAuthentication: .basic)
        #expect(resource.json.text() == Self.stored)
        #expect(try ProtectedResource.decode(stored: JSON(parsing: Self.stored)) == resource)
        var record = SessionRecord(
            session: try SessionName("work"), provider: "https://a.example/mcp", environment: "default",
            method: "browser", tokens: TokenSet(accessToken: Secret("a"), issuedAt: WallTime(unixSeconds: 0)),
            user: nil, rawUser: nil, signedInAt: WallTime(unixSeconds: 0))
        #expect(try JSON(parsing: record.encoded().revealBytes())["format"] == 1)
        record.resource = resource
        #expect(try JSON(parsing: record.encoded().revealBytes())["format"] == 3)
        #expect(try SessionRecord(decoding: record.encoded()) == record)
    }

    @Test("the generated profile sends the token to the URL alone, and names the resource")
    func profile() throws {
        let profile = ProviderProfile(
            ProtectedResource(
                url: "https://a.example:8443/mcp", identifier: "https://a.example:8443", issuer: "https://as.example"))
        #expect(profile.name == "https://a.example:8443/mcp" && profile.title == "a.example:8443")
        #expect(profile.oauth?.resource == "https://a.example:8443")
        let origins = try #require(profile.origins(in: ProviderProfile.generatedEnvironment))
        #expect(origins.allows(.accessToken, at: try Origin("https://a.example:8443")))
        #expect(!origins.allows(.accessToken, at: try Origin("https://a.example")))
        #expect(!origins.isComplete && origins.issuer == "https://as.example")
    }

    @Test("the key of a URL's registration is a file name")
    func keyName() {
        let name = KeyPurpose.client(provider: "https://a.example/mcp").name
        #expect(name.wholeMatch(of: /client-url-[0-9a-f]+/) != nil)
        #expect(name != KeyPurpose.client(provider: "https://a.example/mcq").name)
        #expect(KeyPurpose.client(provider: "github").name == "client-github")
    }
}
