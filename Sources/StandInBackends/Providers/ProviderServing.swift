import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// Requests to a provider. Each deviation from the RFCs is one that the provider documents.
struct ProviderServing: Shape {
    let provider: ProviderStandIn.Provider
    let configuration: ProviderStandIn.Configuration
    let base: OAuthServing

    var state: OAuthState { base.state }

    @concurrent func respond(
        _ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel
    ) async throws {
        let context = CallContext(
            source: .init(
                channel: channel, logger: Logger(label: "provider", factory: { _ in SwiftLogNoOpLogHandler() })))
        let responder = Routes(basePath: "", shape: self).responder()
        var answer = try await Answer(collecting: responder.respond(to: request, context: context))
        answer.headers.append(("date", Dates.http(Dates.unixSeconds(state.now))))
        try await answer.send(writer)
    }

    func add(to routes: Routes) {
        if let path = authorizePath {
            routes.get(path) { call throws(Refusal) in try base.authorize(try checked(call, call.query)) }
            routes.post(path) { call throws(Refusal) in try base.consent(try checked(call, try call.form())) }
        }
        routes.post(tokenPath, token)
        switch provider {
        case .github:
            routes.post("/login/device/code", device)
            routes.get("/user", user)
        case .google:
            addOpenID(to: routes, at: "")
        case .microsoft:
            addOpenID(to: routes, at: "/\(ProviderStandIn.tenant)/v2.0")
            // The metadata of several tenants names none. The last two are not Microsoft's: another host, and a tenant.
            let template = state.issuer.replacing(ProviderStandIn.tenant, with: "{tenantid}")
            for (authority, issuer) in [
                ("common", template), ("organizations", template),
                ("elsewhere/common", "https://login.microsoftonline.com/{tenantid}/v2.0"),
                ("contoso.example", template),
            ] {
                routes.get("/\(authority)/v2.0/.well-known/openid-configuration") { _ throws(Refusal) in
                    metadata(issuer: issuer)
                }
            }
        case .slack:
            routes.post("/api/auth.test", user)
            routes.post("/api/auth.revoke") { call throws(Refusal) in
                let token = try call.bearer()
                _ = try state.user(of: token)
                state.revoke(token)
                return .json(["ok": true, "revoked": true])
            }
        case .discord: routes.get("/api/v10/users/@me", user)
        case .spotify: routes.get("/v1/me", user)
        case .atlassian:
            routes.get("/me", user)
            routes.get("/oauth/token/accessible-resources") { call throws(Refusal) in
                _ = try state.user(of: try call.bearer())
                return .json([["id": "11223344-a1b2-3b33-c444-def123456789", "url": "https://example.atlassian.net"]])
            }
        case .linear: routes.post("/graphql", user)
        case .notion: routes.get("/v1/users/me", user)
        }
    }

    private var authorizePath: String? {
        switch provider {
        case .github: nil
        case .google: "/o/oauth2/v2/auth"
        case .microsoft: "/authorize"
        case .slack: "/oauth/v2/authorize"
        case .discord: "/oauth2/authorize"
        case .spotify, .atlassian: "/authorize"
        case .linear: "/oauth/authorize"
        case .notion: "/v1/oauth/authorize"
        }
    }

    private var tokenPath: String {
        switch provider {
        case .github: "/login/oauth/access_token"
        case .google, .microsoft: "/token"
        case .slack: "/api/oauth.v2.access"
        case .discord: "/api/oauth2/token"
        case .spotify: "/api/token"
        case .atlassian, .linear: "/oauth/token"
        case .notion: "/v1/oauth/token"
        }
    }

    // MARK: OpenID

    private func addOpenID(to routes: Routes, at path: String) {
        routes.get(path + "/.well-known/openid-configuration") { _ throws(Refusal) in metadata(issuer: state.issuer) }
        routes.get("/keys") { _ throws(Refusal) in .json(await base.signer.keys(areStale: false)) }
        routes.get("/userinfo", user)
    }

    private func metadata(issuer: String) -> Answer {
        let origin = state.issuer.replacing("/\(ProviderStandIn.tenant)/v2.0", with: "")
        return .json([
            "issuer": .string(issuer), "authorization_endpoint": .string(origin + (authorizePath ?? "")),
            "token_endpoint": .string(origin + tokenPath), "jwks_uri": .string(origin + "/keys"),
            "userinfo_endpoint": .string(origin + "/userinfo"), "code_challenge_methods_supported": ["plain", "S256"],
        ])
    }

    // MARK: Authorization

    /// The parameters that the provider requires in addition to those of RFC 6749.
    private func checked(_ call: Call, _ fields: [String: String]) throws(Refusal) -> Call {
        let required: [String: String] =
            switch provider {
            case .atlassian: ["audience": "api.atlassian.com", "prompt": "consent"]
            case .notion: ["owner": "user"]
            default: [:]
            }
        for (name, value) in required where fields[name] != value {
            throw .oauth("invalid_request", "\(name) is missing")
        }
        switch provider {
        case .slack:
            guard fields["scope"] == nil, fields["user_scope"] == "users:read,chat:write" else {
                throw .oauth("invalid_scope", "user scopes, separated by commas")
            }
        case .linear:
            guard fields["scope"] == "read,write" else { throw .oauth("invalid_scope", "separated by commas") }
        case .spotify:
            guard fields["redirect_uri"]?.hasPrefix("http://127.0.0.1:") == true else {
                throw .oauth("invalid_request", "INVALID_CLIENT: Insecure redirect URI")
            }
        case .google:
            state.issuesRefreshTokens.update {
                $0 = fields["access_type"] == "offline" && fields["prompt"] == "consent"
            }
        case .microsoft:
            let scopes = fields["scope"]?.split(separator: " ") ?? []
            state.issuesRefreshTokens.update { $0 = scopes.contains("offline_access") }
        case .atlassian:
            let scopes = fields["scope"]?.split(separator: " ") ?? []
            state.issuesRefreshTokens.update { $0 = scopes.contains("offline_access") }
        case .github, .discord, .notion: break
        }
        return call
    }

    private func device(_ call: Call) throws(Refusal) -> Answer {
        guard try call.form()["client_id"] == state.client?.id else { throw .oauth("incorrect_client_credentials") }
        let (code, device) = state.newDevice()
        return .json([
            "device_code": .string(code), "user_code": .string(device.userCode),
            "verification_uri": "https://github.com/login/device", "expires_in": 900, "interval": 1,
        ])
    }

    // MARK: Tokens

    private func token(_ call: Call) async throws(Refusal) -> Answer {
        let fields = try authenticated(call)
        switch fields["grant_type"] {
        case "urn:ietf:params:oauth:grant-type:device_code" where provider == .github:
            state.note { $0.devicePolls += 1 }
            return await issued(try state.poll(fields["device_code"] ?? ""), nonce: nil, isRenewal: false, call)
        case "authorization_code" where provider != .github:
            state.note { $0.codes += 1 }
            let code = try state.redeem(
                fields["code"] ?? "", redirectURI: fields["redirect_uri"] ?? "",
                verifier: fields["code_verifier"] ?? "",
                thumbprint: nil)
            return await issued(code.family, nonce: code.nonce, isRenewal: false, call)
        case "refresh_token":
            state.note { $0.refreshes += 1 }
            return await issued(
                try state.family(ofRefreshToken: fields["refresh_token"] ?? ""), nonce: nil, isRenewal: true,
                scope: fields["scope"], call)
        default: throw .oauth("unsupported_grant_type")
        }
    }

    /// The fields of the request, in the form and with the authentication that the provider requires.
    private func authenticated(_ call: Call) throws(Refusal) -> [String: String] {
        var fields: [String: String] = [:]
        if provider == .notion || provider == .atlassian {
            let json = try? JSONValue(parsing: call.body)
            guard call.header("content-type") == "application/json", case .object(let members)? = json else {
                throw .oauth("invalid_request", "body must be JSON")
            }
            for (name, value) in members { fields[name] = value.string }
        } else {
            fields = try call.form()
        }
        let secret: String? =
            switch provider {
            case .google, .atlassian, .notion: ProviderStandIn.clientSecret
            case .github, .microsoft, .slack, .discord, .spotify, .linear: nil
            }
        let basic = call.header("authorization").flatMap { Base64Text.decode(String($0.dropFirst("Basic ".count))) }
        let isKnown =
            provider == .notion
            ? basic == "\(configuration.clientID):\(secret ?? "")" && fields["client_secret"] == nil
            : basic == nil && fields["client_id"] == configuration.clientID && fields["client_secret"] == secret
        guard isKnown else { throw .oauth("invalid_client", status: 401) }
        return fields
    }
}
