import AuthMachines
import AuthModel
import AuthWire

/// The provider's profile, with each way to sign in.
enum SimulatedSignIns {
    static func machine(_ way: SignInWay, number: Int, now: Moment) throws -> SignInMachine {
        let params = LoginStart(
            provider: "example", session: SignInSimulationRun.session,
            fields: way == .service ? ["client_secret": "x"] : [:])
        guard let signIn = SignInID("s\(number)"), let profile = profiles[way] else { throw AgentError.providerRefuses }
        return try SignInMachine(
            id: "l\(number)", params: params, profile: profile, catalog: ProfileCatalog([]), signIn: signIn,
            now: now)
    }

    private static let profiles = Dictionary(
        uniqueKeysWithValues: SignInWay.allCases.compactMap { way in (try? profile(way)).map { (way, $0) } })

    private static func profile(_ way: SignInWay) throws -> ProviderProfile {
        var profile = ProviderProfile(
            name: "example", title: "Example", source: "simulation",
            environments: [ProviderEnvironment(name: "production", baseURL: "https://api.example")],
            defaultEnvironment: "production", signIn: [try method(way)], renewal: Renewal(kind: .none))
        guard profile.signIn[0].flow != nil else { return profile }
        var oauth = OAuthProfile(issuer: server.issuer, clientID: "authd")
        oauth.registers = way == .registered
        oauth.clientAuthentication = way == .service ? .post : .none
        profile.oauth = oauth
        return profile
    }

    private static func method(_ way: SignInWay) throws -> SignInMethod {
        let request = RequestTemplate(method: "POST", path: try Template(parsing: "/login"))
        let password = StepField(name: "password", label: "Password", secret: true)
        switch way {
        case .password: return SignInMethod(name: "password", label: "Password", fields: [password], request: request)
        case .code:
            var method = SignInMethod(
                name: "code", label: "Code", fields: [StepField(name: "code", label: "Code")], request: request)
            method.challenge = Challenge(field: "code", request: request, lifetime: .seconds(600))
            return method
        case .browser, .registered: return SignInMethod(name: "browser", label: "Browser", fields: [], flow: .browser)
        case .paste: return SignInMethod(name: "paste", label: "Paste", fields: [], flow: .paste)
        case .device: return SignInMethod(name: "device", label: "Device", fields: [], flow: .device)
        case .service:
            let secret = StepField(name: OAuthField.clientSecret, label: "Secret", secret: true)
            return SignInMethod(name: "service", label: "Service", fields: [secret], flow: .service)
        }
    }

    static let server: OAuthServer = {
        var endpoints = OAuthEndpoints()
        endpoints.authorization = "https://id.example/authorize"
        endpoints.token = "https://id.example/token"
        endpoints.deviceAuthorization = "https://id.example/device"
        return OAuthServer(issuer: "https://id.example", endpoints: endpoints)
    }()

    static func attempt(of machine: SignInMachine) throws(AgentError) -> AuthorizationAttempt {
        guard let oauth = machine.authority.oauth else { throw .providerRefuses }
        return try AuthorizationAttempt(
            profile: machine.authority, oauth: oauth, server: server, redirectURI: oauth.redirect.uri,
            cryptography: NoCryptography())
    }

    static func device() throws(AgentError) -> DeviceAuthorization {
        let answer: JSON = [
            "device_code": "d", "user_code": "U", "verification_uri": "https://id.example/d", "expires_in": 600,
            "interval": 5,
        ]
        do throws(MetadataError) {
            return try DeviceAuthorization(answer)
        } catch {
            throw .providerRefuses
        }
    }

    static func client(_ number: Int) throws(AgentError) -> RegisteredClient {
        do throws(MetadataError) {
            return try RegisteredClient(
                ["client_id": .string("client-\(number)")], issuer: "https://id.example", mayBeInsecure: false)
        } catch {
            throw .providerRefuses
        }
    }
}

/// Nothing is signed or kept secret in the simulation.
private struct NoCryptography: Cryptography {
    func hash(_ bytes: [UInt8], by hash: SHA2) -> [UInt8] { bytes }
    func isSigned(_ token: Secret, by key: JSON) async -> Bool { false }
    func makeKey() -> Secret { Secret("key") }
    func publicKey(of key: Secret) -> PublicKey? { nil }
    func signature(of bytes: [UInt8], by key: Secret) -> [UInt8]? { nil }
    func makeTLSIdentity(for host: String, from start: WallTime, until end: WallTime) -> TLSIdentity? { nil }

    func tlsIdentity(
        certificates: String, key: Secret, for host: String, at now: WallTime
    ) throws(TLSIdentityError) -> TLSIdentity {
        throw TLSIdentityError("there are no certificates here")
    }
}
