import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

struct OAuthServing: Shape {
    let state: OAuthState
    let signer: IDTokenSigner

    @concurrent func respond(
        _ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel
    ) async throws {
        let context = CallContext(
            source: .init(
                channel: channel, logger: Logger(label: "oauth", factory: { _ in SwiftLogNoOpLogHandler() })))
        let responder = Routes(basePath: "", shape: self).responder()
        var answer = try await Answer(collecting: responder.respond(to: request, context: context))
        answer.headers.append(("date", Dates.http(Dates.unixSeconds(state.now))))
        try await answer.send(writer)
    }

    func add(to routes: Routes) {
        routes.get("/.well-known/openid-configuration") { _ throws(Refusal) in try metadata() }
        routes.post("/device_authorization", deviceAuthorization)
        routes.post("/token", token)
        routes.get("/authorize", authorize)
        routes.get("/keys") { _ throws(Refusal) in
            state.note { $0.keyAnswers += 1 }
            return .json(await signer.keys(areStale: state.applies(.staleKeys)))
        }
        routes.post("/revoke", revoke)
        routes.post("/par", push)
        routes.post("/register", register)
        routes.get("/register/{id}", registration)
        routes.post("/authorize", consent)
        routes.get("/userinfo", userInfo)
        routes.get("/api/hello", hello)
        routes.post("/api/hello", hello)
    }

    func body(of refusal: Refusal) -> Answer {
        if state.applies(.emptyErrors) { return Answer(status: refusal.status) }
        var answer = Answer.json(
            ["error": .string(refusal.code ?? "invalid_request"), "error_description": .string(refusal.message)],
            status: state.applies(.errorsAsSuccess) ? 200 : refusal.status)
        answer.headers += headers(of: refusal)
        return answer
    }

    private func metadata() throws(Refusal) -> Answer {
        state.note { $0.discoveries += 1 }
        if state.applies(.noMetadata) { throw .notFound("Nothing here") }
        let issuer = state.issuer
        var members: [String: JSONValue] = [
            "issuer": .string(state.applies(.wrongIssuer) ? "https://somebody-else.example" : issuer),
            "authorization_endpoint": .string(issuer + "/authorize"), "jwks_uri": .string(issuer + "/keys"),
            "revocation_endpoint": .string(issuer + "/revoke"), "end_session_endpoint": .string(issuer + "/end"),
            "code_challenge_methods_supported": ["S256"], "authorization_response_iss_parameter_supported": true,
            "device_authorization_endpoint": .string(issuer + "/device_authorization"),
            "token_endpoint": .string(issuer + "/token"), "userinfo_endpoint": .string(issuer + "/userinfo"),
        ]
        if state.configuration.requiresPushedRequests || state.configuration.acceptsPushedRequests {
            members["pushed_authorization_request_endpoint"] = .string(issuer + "/par")
            members["require_pushed_authorization_requests"] = .bool(state.configuration.requiresPushedRequests)
        }
        if state.configuration.registersClients { members["registration_endpoint"] = .string(issuer + "/register") }
        if let grants = state.configuration.grantTypes {
            members["grant_types_supported"] = .array(grants.map(JSONValue.string))
        }
        if state.configuration.requiresProofs {
            members["dpop_signing_alg_values_supported"] = state.applies(.otherProofAlgorithms) ? ["EdDSA"] : ["ES256"]
        }
        return .json(.object(members))
    }

    // MARK: Grants

    private func deviceAuthorization(_ call: Call) throws(Refusal) -> Answer {
        _ = try client(call.form(), call)
        let (code, device) = state.newDevice()
        let page = state.issuer + "/device"
        return .json([
            "device_code": .string(code), "user_code": .string(device.userCode), "verification_uri": .string(page),
            "verification_uri_complete": .string(page + "?user_code=" + device.userCode),
            "expires_in": .number(state.configuration.deviceLifetime.inSeconds),
            "interval": .number(state.configuration.deviceInterval.inSeconds),
        ])
    }

    private func token(_ call: Call) async throws(Refusal) -> Answer {
        if state.applies(.page) {
            return Answer(
                headers: [("content-type", "text/html")], body: Array("<html><body>Please pay</body></html>".utf8))
        }
        let form = try client(call.form(), call)
        let key = try proofKey(call)
        switch form["grant_type"] {
        case "urn:ietf:params:oauth:grant-type:device_code":
            state.note { $0.devicePolls += 1 }
            if state.applies(.slowDown) { throw .oauth("slow_down") }
            return await granted(try state.poll(form["device_code"] ?? ""), withRefreshToken: true, boundTo: key)
        case "authorization_code":
            state.note { $0.codes += 1 }
            let verifier = form["code_verifier"] ?? ""
            let code = try state.redeem(
                form["code"] ?? "", redirectURI: form["redirect_uri"] ?? "", verifier: verifier, thumbprint: key)
            return await granted(code.family, withRefreshToken: true, nonce: code.nonce, boundTo: key)
        case "refresh_token":
            state.note { $0.refreshes += 1 }
            if state.applies(.slowDown) { throw .oauth("slow_down") }
            if state.applies(.unknownTarget) { throw .oauth("invalid_target") }
            return try await renewed(form, boundTo: key, client: call.client)
        case "urn:ietf:params:oauth:grant-type:token-exchange":
            let family = try state.family(of: form["subject_token"] ?? "")
            return await granted(family, withRefreshToken: false, scope: target(form), boundTo: key)
        case "client_credentials":
            state.note { $0.services += 1 }
            guard state.configuration.clientSecret != nil || state.clientKey != nil else {
                throw .oauth("unauthorized_client")
            }
            return await granted(state.serviceFamily(), withRefreshToken: false, boundTo: key)
        default: throw .oauth("unsupported_grant_type")
        }
    }

    private func renewed(
        _ form: [String: String], boundTo key: String?, client: String?
    ) async throws(Refusal) -> Answer {
        let sent = form["refresh_token"] ?? ""
        let used: (family: Int, isRepeated: Bool)
        do throws(OAuthRenewal.Refusal) {
            used = try state.use(refreshToken: sent, thumbprint: key)
        } catch {
            state.record(OAuthRenewal(sent: sent, client: client, outcome: .refused(error)))
            throw .oauth("invalid_grant")
        }
        return await granted(
            used.family, withRefreshToken: !state.applies(.wrongTypes), scope: target(form), boundTo: key
        ) { access in
            state.record(
                OAuthRenewal(
                    sent: sent, client: client, outcome: .renewed(accessToken: access, isRepeated: used.isRepeated)))
        }
    }

    /// The requested scope, which is recorded together with the audience (RFC 6749 §6, RFC 8707).
    private func target(_ form: [String: String]) -> String? {
        let audience = form["resource"].map { "resource " + $0 } ?? form["audience"].map { "audience " + $0 }
        guard form["scope"] != nil || audience != nil else { return nil }
        state.note { $0.targets.append([form["scope"], audience].compactMap(\.self).joined(separator: ", ")) }
        if state.applies(.grantsMore) { return (form["scope"].map { $0 + " " } ?? "") + "admin" }
        return state.applies(.grantsLess) ? "openid" : form["scope"]
    }

    private func granted(
        _ family: Int, withRefreshToken: Bool, nonce: String? = nil, scope: String? = nil, boundTo key: String?,
        whenIssued: (_ accessToken: String) -> Void = { _ in }
    ) async -> Answer {
        let isBound = key != nil && !state.applies(.unboundTokens)
        state.bind(family, to: isBound ? key : nil)
        let issued = state.issue(family, withRefreshToken: withRefreshToken)
        whenIssued(issued.access)
        let hasWrongTypes = state.applies(.wrongTypes)
        let type = state.applies(.unknownTokenType) ? "mac" : isBound ? "DPoP" : hasWrongTypes ? "bearer" : "Bearer"
        if state.applies(.formAnswers) {
            let refresh = issued.refresh.map { "&refresh_token=\($0)" } ?? ""
            let text = "access_token=\(issued.access)&scope=a%2Cb&token_type=bearer&expires_in=900" + refresh
            return Answer(
                headers: [("content-type", "application/x-www-form-urlencoded; charset=utf-8")],
                body: Array(text.utf8))
        }
        var members: [String: JSONValue] = [
            "access_token": .string(issued.access), "token_type": .string(type),
            "expires_in": hasWrongTypes ? .string(String(Int(issued.lifetime))) : .integer(Int(issued.lifetime)),
        ]
        if let refresh = issued.refresh { members["refresh_token"] = .string(refresh) }
        if let life = state.refreshLifetime { members["refresh_expires_in"] = .integer(Int(life)) }
        if let scope { members["scope"] = .string(scope) }
        if let user = state.user(ofFamily: family), !state.applies(.noIDToken) {
            members["id_token"] = .string(
                await signer.token(for: user, state, nonce: nonce, accessToken: issued.access))
        }
        var answer = Answer.json(.object(members))
        answer.headers.append(("cache-control", "no-store"))
        return answer
    }

    private func userInfo(_ call: Call) throws(Refusal) -> Answer {
        state.note { $0.userInfos += 1 }
        let user = try state.user(of: try accessToken(call))
        let subject = state.applies(.otherUserInfo) ? "somebody-else" : user.subject
        return .json([
            "sub": .string(subject), "name": .string(user.name), "email": .string(user.email),
            "email_verified": true,
        ])
    }

    /// RFC 7009 §2.2: an unknown token is not an error.
    private func revoke(_ call: Call) throws(Refusal) -> Answer {
        let form = try client(call.form(), call)
        if state.applies(.revokesNothing) { throw Refusal.oauth("server_error") }
        state.note { $0.revocations += 1 }
        state.revoke(form["token"] ?? "")
        return Answer(status: 200)
    }

    /// RFC 9126 §2.
    private func push(_ call: Call) throws(Refusal) -> Answer {
        let form = try client(call.form(), call)
        if state.applies(.refusesPushes) { throw .oauth("invalid_request", "not today") }
        let fields = try checked(form)
        return .json(["request_uri": .string(state.push(fields)), "expires_in": 60], status: 201)
    }

    private func hello(_ call: Call) throws(Refusal) -> Answer {
        .json(["hello": .string(try state.user(of: try accessToken(call)).name)])
    }

    /// Authenticates the client (RFC 6749 §2.3.1). A missing secret is an error, and so is one of a public client.
    private func client(_ form: [String: String], _ call: Call) throws(Refusal) -> [String: String] {
        if let key = state.clientKey {
            guard call.header("authorization") == nil, form["client_id"] == state.client?.id,
                isAssertion(form, signedByPEM: key)
            else { throw .oauth("invalid_client", status: 401) }
            return form
        }
        let presented: (id: String?, secret: String?)
        if let header = call.header("authorization") {
            guard form["client_id"] == nil, form["client_secret"] == nil else {
                throw .oauth("invalid_request", "two kinds of client authentication")
            }
            presented = Self.basic(header)
        } else {
            presented = (form["client_id"], form["client_secret"])
        }
        guard let client = state.client, presented.id == client.id, presented.secret == client.secret else {
            throw .oauth("invalid_client", status: 401)
        }
        return form
    }

    private static func basic(_ header: String) -> (id: String?, secret: String?) {
        guard header.hasPrefix("Basic "), let pair = Base64Text.decode(String(header.dropFirst(6))) else {
            return (nil, nil)
        }
        let halves = pair.split(separator: ":", maxSplits: 1).map { String($0).removingFormEscapes }
        return halves.count == 2 ? (halves[0], halves[1]) : (nil, nil)
    }
}
