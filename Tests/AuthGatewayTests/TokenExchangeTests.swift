import AuthModel
import AuthWire
import Testing

@testable import AuthGateway

@Suite("The exchange of a token at the Security Token Service")
struct TokenExchangeTests {
    private static let role = "arn:aws:iam::123456789012:role/reader"

    private func identity(_ service: String = EndpointClient.usualSTS, name: String = "reports") throws -> WebIdentity {
        try WebIdentity(session: SessionName("work"), role: Self.role, service: service, name: name)
    }

    private func response(_ text: String, status: Int = 200) -> HTTPResponse {
        HTTPResponse(status: status, headers: [], body: Array(text.utf8))
    }

    private func problem(_ text: String, status: Int) -> FrontProblem? {
        do throws(FrontProblem) {
            _ = try WebIdentity.credentials(response(text, status: status))
            return nil
        } catch {
            return error
        }
    }

    @Test("the token is in the body of one request, which is not repeated elsewhere")
    func request() throws {
        let request = try identity().request(with: Secret("a.b-c.d"))
        #expect(request.method == "POST" && request.url == "https://sts.amazonaws.com" && !request.followsRedirects)
        let form = try #require(Form.decode(request.body?.reveal() ?? ""))
        #expect(form["Action"] == "AssumeRoleWithWebIdentity" && form["Version"] == "2011-06-15")
        #expect(form["RoleArn"] == Self.role && form["RoleSessionName"] == "authd-reports")
        #expect(form["WebIdentityToken"] == "a.b-c.d")
        #expect(!request.url.contains("a.b-c.d"))
    }

    @Test("a long name is cut to AWS's limit, and stays different from one that begins as it does")
    func longNames() throws {
        let longest = String(repeating: "a", count: 58)
        #expect(try identity(name: longest).name == "authd-" + longest)
        let names = (0..<10).map { longest + "-\($0)" } + [longest + "a", longest + "aaaaaa"]
        let found = try names.map { try identity(name: $0).name }
        #expect(Set(found).count == names.count, "\(found)")
        for name in found {
            #expect(name.utf8.count == 64 && name.wholeMatch(of: /[A-Za-z0-9_+=,.@-]+/) != nil, "\(name)")
            #expect(name.hasPrefix("authd-aaaa"), "\(name)")
        }
        // The same at each request: AWS's logs show it.
        #expect(try identity(name: names[3]).name == found[3])
    }

    @Test("only a service with TLS, or on this machine, gets a token")
    func services() throws {
        #expect(try identity("http://127.0.0.1:5000").service == "http://127.0.0.1:5000")
        for service in ["http://sts.example.org", "sts.example.org", "https://a:b@sts.example.org", ""] {
            #expect(throws: AgentError.self, "\(service)") { try identity(service) }
        }
    }

    @Test("what an entry may name as its service, the exchange accepts, and nothing else is stored")
    func storedServices() throws {
        func entry(_ service: String) throws -> EndpointClient {
            EndpointClient(view: .aws, sessions: [try SessionName("work")], role: Self.role, sts: service)
        }
        for service in [
            EndpointClient.usualSTS, "https://sts.eu-west-1.amazonaws.com/", "HTTPS://Sts.Example.org:443/a/b?c=d%20",
            "http://127.0.0.1:5000", "http://localhost", "http://127.1.2.3/", "http://[::1]:80/x",
            "https://[2001:db8::1]",
        ] {
            #expect(throws: Never.self, "\(service)") { try entry(service).validate() }
            #expect(throws: Never.self, "\(service)") { try identity(service) }
        }
        for service in [
            "http://sts.example.org", "http://10.0.0.1", "http://127.0.0.1.example.org", "http://127.00.0.1",
            "http://127.0.0.1@example.org", "http://localhost.example.org", "http://[::2]", "sts.example.org", "",
            "https://", "https://a:b@sts.example.org", "https://a#b", "https://a b", "https://a:0", "https://a:65536",
            "https://a/../b", "https://a/%2e%2e/b", "ftp://a", "https://" + String(repeating: "a", count: 2000),
        ] {
            let error = #expect(throws: AgentError.self, "\(service)") { try entry(service).validate() }
            #expect(error?.message.contains("--sts") == true)
            #expect(throws: AgentError.self) { try EndpointClient.decode(stored: try entry(service).json) }
        }
    }

    @Test("the credentials are read from the response, in both formats")
    func credentials() throws {
        let text = """
            <AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
              <AssumeRoleWithWebIdentityResult><Credentials>
                <AccessKeyId>ASIAEXAMPLE</AccessKeyId><SecretAccessKey>a/b+c</SecretAccessKey>
                <SessionToken> d/e== </SessionToken><Expiration>2026-11-25T23:06:08Z</Expiration>
              </Credentials></AssumeRoleWithWebIdentityResult>
            </AssumeRoleWithWebIdentityResponse>
            """
        let found = try WebIdentity.credentials(response(text))
        #expect(
            found.containerJSON(role: Self.role) == [
                "RoleArn": .string(Self.role), "AccessKeyId": "ASIAEXAMPLE", "SecretAccessKey": "a/b+c",
                "Token": "d/e==", "Expiration": "2026-11-25T23:06:08Z",
            ])
        #expect(
            found.processJSON == [
                "Version": 1, "AccessKeyId": "ASIAEXAMPLE", "SecretAccessKey": "a/b+c", "SessionToken": "d/e==",
                "Expiration": "2026-11-25T23:06:08Z",
            ])
        #expect(!"\(found)".contains("a/b+c") && !"\(found)".contains("d/e=="))
    }

    @Test("what is not such a response is an error")
    func unreadable() {
        for text in [
            "", "<html>", "{}", "<Credentials></Credentials>",
            "<Credentials><AccessKeyId>A</AccessKeyId></Credentials>",
            "<Credentials><AccessKeyId>A B</AccessKeyId><SecretAccessKey>b</SecretAccessKey>"
                + "<SessionToken>c</SessionToken><Expiration>2026-11-25T23:06:08Z</Expiration></Credentials>",
            "<Credentials><AccessKeyId>A</AccessKeyId><SecretAccessKey>b</SecretAccessKey>"
                + "<SessionToken>c</SessionToken><Expiration>soon</Expiration></Credentials>",
        ] {
            #expect(problem(text, status: 200)?.kind == .badReply, "\(text)")
        }
    }

    @Test("a refusal has the service's word and reason; only a busy or failing service is a reason to try again")
    func refusals() {
        let text = """
            <ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code>
            <Message>Not authorized to perform &quot;sts:AssumeRole&quot; &amp;lt;</Message></Error></ErrorResponse>
            """
        let refused = problem(text, status: 403)
        #expect(refused?.status == 403 && refused?.serviceCode == "AccessDenied" && refused?.kind == .refused)
        #expect(refused?.detail.contains("\"sts:AssumeRole\" &lt;") == true)
        #expect(problem("<Code>ExpiredToken</Code>", status: 400)?.status == 403)
        #expect(problem("<Code>Throttling</Code>", status: 400)?.status == 503)
        #expect(problem("", status: 429)?.status == 503)
        #expect(problem("", status: 500)?.status == 502)
    }
}
