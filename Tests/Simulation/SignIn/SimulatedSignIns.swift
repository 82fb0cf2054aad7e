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
        case .steps, .link: return try stepped(way)
        case .key:
            var method = SignInMethod(
                name: "key", label: "Key", fields: [StepField(name: "key", label: "Key", secret: true)])
            method.key = SignInKey(token: try Template(parsing: "{key}"), check: request)
            return method
        case .browser, .registered: return SignInMethod(name: "browser", label: "Browser", fields: [], flow: .browser)
        case .paste: return SignInMethod(name: "paste", label: "Paste", fields: [], flow: .paste)
        case .device: return SignInMethod(name: "device", label: "Device", fields: [], flow: .device)
        case .service:
            let secret = StepField(name: OAuthField.clientSecret, label: "Secret", secret: true)
            return SignInMethod(name: "service", label: "Service", fields: [secret], flow: .service)
        }
    }

    static let pollInterval = Duration.seconds(3)
    /// What a provider demands that is down.
    static let retryAfter = Duration.seconds(10)

    /// Whose responses ask for more. The rules are not used here: the simulated provider says which step is meant.
    private static func stepped(_ way: SignInWay) throws -> SignInMethod {
        func request(_ path: String, needs name: String) throws -> RequestTemplate {
            RequestTemplate(
                method: "POST", path: try Template(parsing: path),
                headers: [TemplateField(name: "X-Value", value: try Template(parsing: "{\(name)}"))])
        }
        func capture(_ name: String) throws -> Capture {
            Capture(name: name, place: .pointer(try JSONPointer("/" + name)))
        }
        let field = StepField(name: "password", label: "Password", secret: true)
        var method = SignInMethod(
            name: "steps", label: "Steps", fields: [field], request: try request("/login", needs: "csrf"))
        var first = RequestTemplate(method: "GET", path: try Template(parsing: "/csrf"))
        first.captures = [try capture("csrf")]
        method.before = [first]
        method.request?.captures = [try capture("flow")]
        let next = try request("/next", needs: "flow")
        guard way == .steps else {
            method.next = [
                SignInStep(
                    rule: ResponseRule(statuses: [202]), request: next,
                    poll: StepPoll(interval: pollInterval, lifetime: .seconds(600)))
            ]
            return method
        }
        method.next = [fields(0), fields(1), []].map {
            SignInStep(rule: ResponseRule(statuses: [401]), fields: $0, request: next)
        }
        return method
    }

    static func requested(_ index: Int) -> RequestedStep {
        let values = index == 1 ? ["tenant": ["1", "2"].map { IssuedValue(Secret($0)) }] : [:]
        return RequestedStep(index: index, fields: fields(index), choices: values, message: "Step \(index)")
    }

    private static func fields(_ index: Int) -> [StepField] {
        switch index {
        case 0: [StepField(name: "code", label: "Code")]
        case 1:
            [
                StepField(
                    name: "tenant", label: "Tenant",
                    choices: ["1", "2"].map { FieldChoice(value: $0, label: "Tenant \($0)") })
            ]
        default: []
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
