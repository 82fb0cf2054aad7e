import AgentTestSupport
import AuthMachines
import AuthModel
import AuthWire
import Testing

@testable import AuthAgent

@Suite("What sessions of one profile share")
struct SharedProfileTests {
    private static func client(_ profile: ProviderProfile) -> ProviderClient {
        ProviderClient(
            profiles: ProfileCatalog([profile]), transport: ExampleProvider.numbering(),
            signer: ProofSigner(cryptography: nil, clock: ManualClock(), skew: { _ in .zero }))
    }

    private static func record(environment: String = "local", method: String = "password") throws -> SessionRecord {
        let now = ManualClock().now().wall
        return SessionRecord(
            session: try SessionName("work"), provider: "example", environment: environment, method: method,
            tokens: TokenSet(accessToken: Secret("token-1"), issuedAt: now), user: nil, rawUser: nil, signedInAt: now)
    }

    @Test("is that of the profiles in use, also after others were loaded")
    func reload() throws {
        var profile = try ExampleProvider.profile()
        let (client, record) = (Self.client(profile), try Self.record())
        for _ in 0..<2 {
            #expect(client.probe(record)?.origin.text == "http://localhost:1")
            #expect(client.namedOrigins(of: record)?.uses.keys.map(\.text) == ["http://localhost:1"])
            #expect(client.means(of: record) == .liveToken)
            #expect(!client.validates(record))
        }
        profile.environments = [ProviderEnvironment(name: "local", baseURL: "http://localhost:2")]
        profile.renewal = Renewal(kind: .validate)
        client.profiles = ProfileCatalog([profile])
        #expect(client.probe(record)?.origin.text == "http://localhost:2")
        #expect(client.namedOrigins(of: record)?.uses.keys.map(\.text) == ["http://localhost:2"])
        #expect(client.means(of: record) == .none)
        #expect(client.validates(record))
        client.profiles = ProfileCatalog()
        #expect(client.probe(record) == nil && client.namedOrigins(of: record) == nil)
        #expect(client.means(of: record) == .lasting)
        #expect(!client.validates(record))
    }

    @Test("belongs to one environment and one sign-in method")
    func differences() throws {
        var profile = try ExampleProvider.profile()
        profile.environments.append(ProviderEnvironment(name: "remote", baseURL: "https://api.example.org"))
        let field = StepField(name: "key", label: "Key", secret: true)
        var method = SignInMethod(name: "key", label: "Key", fields: [field])
        method.key = SignInKey(token: try Template(parsing: "{key}"))
        profile.signIn.append(method)
        let client = Self.client(profile)
        #expect(client.probe(try Self.record())?.origin.text == "http://localhost:1")
        #expect(client.probe(try Self.record(environment: "remote"))?.origin.text == "https://api.example.org")
        #expect(client.probe(try Self.record(environment: "gone")) == nil)
        #expect(client.means(of: try Self.record()) == .liveToken)
        #expect(client.means(of: try Self.record(method: "key")) == .none)
    }

    @Test("leaves out what belongs to one session: a remembered sign-in")
    func remembered() throws {
        let client = Self.client(try ExampleProvider.profile())
        var record = try Self.record()
        #expect(client.means(of: record) == .liveToken)
        record.remembered = ["email": Secret("ada@example.org"), "password": Secret("secret")]
        #expect(client.means(of: record) == .lasting)
    }

    @Test(
        "includes what renews them: a request, even one that cannot be made now, or a remembered sign-in",
        arguments: Renewal.Kind.allCases, [nil, "/refresh", "/refresh/{refresh_token}", "/refresh/{user.id}"])
    func means(_ kind: Renewal.Kind, _ path: String?) throws {
        var profile = try ExampleProvider.profile()
        let request = try path.map {
            RequestTemplate(method: "POST", path: try Template(parsing: $0), bearer: true)
        }
        profile.renewal = Renewal(kind: kind, request: request)
        let client = Self.client(profile)
        let password = Secret("secret")
        let signIns: [[String: Secret]?] = [
            nil, [:], ["email": Secret("ada@example.org"), "password": password],
            ["email": Secret("nobody"), "password": password],
        ]
        let tokens: [Secret?] = [nil, Secret(""), Secret("refresh-1")]
        for environment in ["local", "gone"] {
            var record = try Self.record(environment: environment)
            for token in tokens {
                for remembered in signIns {
                    (record.tokens.refreshToken, record.remembered) = (token, remembered)
                    #expect(client.means(of: record) == Self.means(of: record, at: profile))
                }
            }
        }
    }

    @Test("includes whether a refresh token renews them, as a cookie or by OAuth, or another session's sign-in does")
    func otherMeans() throws {
        var profile = try ExampleProvider.profile()
        var (without, with) = (try Self.record(), try Self.record())
        with.tokens.refreshToken = Secret("refresh-1")
        profile.keepsCookies = true
        profile.reply.refreshToken = .cookie("refresh")
        var client = Self.client(profile)
        #expect(client.means(of: without) == .none && client.means(of: with) == .lasting)
        profile.oauth = OAuthProfile(issuer: nil, clientID: "authd")
        client = Self.client(profile)
        #expect(client.means(of: without) == .none && client.means(of: with) == .lasting)
        without.resource = ProtectedResource(
            url: "http://localhost:2/mcp", identifier: "http://localhost:2/mcp", issuer: "http://localhost:2")
        #expect(client.means(of: without) == .none)
        without.resource?.sharedSession = try SessionName("other")
        #expect(client.means(of: without) == .lasting)
    }

    /// By the requests that are made in the end.
    private static func means(of record: SessionRecord, at profile: ProviderProfile) -> RenewalMeans {
        let isRepeated = (try? profile.repeatedSignIn(record)) != nil
        do {
            guard try profile.renewalRequest(record) != nil || isRepeated else { return .none }
        } catch {
            // The profile may be fixed.
        }
        return profile.renewsByToken && !isRepeated ? .liveToken : .lasting
    }

    @Test("does not change the origins of any record")
    func origins() throws {
        func signedIn(at urls: [String], environment: String = "local") throws -> SessionRecord {
            var record = try Self.record(environment: environment)
            var origins = TokenOrigins()
            for url in urls { origins.allow(.all, at: url) }
            record.origins = origins
            return record
        }
        let (one, two) = ("https://one.example.org", "https://two.example.org")
        let records = try [
            signedIn(at: [one]), signedIn(at: [one]), signedIn(at: [two]), signedIn(at: [two, one]),
            signedIn(at: [one], environment: "remote"), Self.record(),
        ]
        let common = CommonOrigins()
        for record in records + records {
            var shared = record
            common.share(with: &shared)
            #expect(shared == record)
        }
    }
}
