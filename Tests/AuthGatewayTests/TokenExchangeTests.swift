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
        #expect(try identity(name: String(repeating: "a", count: 64)).name.utf8.count == 64)
    }

    @Test("only a service with TLS, or on this machine, gets a token")
    func services() throws {
        #expect(try identity("http://127.0.0.1:5000").service == "http://127.0.0.1:5000")
        for service in ["http://sts.example.org", "sts.example.org", "https://a:b@sts.example.org", ""] {
            #expect(throws: AgentError.self, "\(service)") { try identity(service) }
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
