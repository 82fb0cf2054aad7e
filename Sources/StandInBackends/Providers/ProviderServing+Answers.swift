/// The responses of each provider.
extension ProviderServing {
    /// - Parameter scope: requested at a renewal, as Microsoft documents it for another resource.
    func issued(_ family: Int, nonce: String?, isRenewal: Bool, scope: String? = nil, _ call: Call) async -> Answer {
        let hasRefreshToken =
            switch provider {
            case .google: !isRenewal && state.issuesRefreshTokens.value
            case .microsoft, .atlassian: state.issuesRefreshTokens.value
            case .github: configuration.tokensExpire
            // It returns one at some renewals.
            case .spotify: !isRenewal || state.counts.value.refreshes.isMultiple(of: 2)
            case .slack, .discord, .linear, .notion: true
            }
        let tokens = state.issue(family, withRefreshToken: hasRefreshToken)
        var members: [String: JSONValue] = ["access_token": .string(tokens.access)]
        if let refresh = tokens.refresh { members["refresh_token"] = .string(refresh) }
        switch provider {
        case .github:
            members["token_type"] = "bearer"
            members["scope"] = "read:user,user:email"
            if configuration.tokensExpire {
                members["expires_in"] = 28800
                members["refresh_token_expires_in"] = 15_897_600
            }
            // Without Accept the response is a form.
            guard call.header("accept")?.contains("application/json") == true else {
                let pairs = members.map { "\($0.key)=\(($0.value.string ?? "").addingFormEscapes)" }
                return Answer(
                    headers: [("content-type", "application/x-www-form-urlencoded; charset=utf-8")],
                    body: Array(pairs.joined(separator: "&").utf8))
            }
        case .google, .microsoft:
            members["token_type"] = "Bearer"
            members["expires_in"] = 3599
            if provider == .microsoft { members["ext_expires_in"] = 3599 }
            members["scope"] = .string(scope ?? "openid profile email")
            if let user = state.user(ofFamily: family) {
                members["id_token"] = .string(
                    await base.signer.token(for: user, state, nonce: nonce, accessToken: tokens.access))
            }
        case .slack:
            members["token_type"] = "user"
            members["scope"] = "users:read,chat:write"
            members["expires_in"] = 43200
            // At the sign-in nested; a renewal is for one token, which is at the top.
            if !isRenewal {
                members["id"] = "U1234"
                members = [
                    "ok": true, "app_id": "A1", "authed_user": .object(members), "team": ["id": "T1", "name": "Team"],
                ]
            } else {
                members["ok"] = true
                members["authed_user"] = ["id": "U1234"]
            }
        case .discord:
            members["token_type"] = "Bearer"
            members["expires_in"] = 604_800
            members["scope"] = "identify email"
        case .spotify:
            members["token_type"] = "Bearer"
            members["expires_in"] = 3600
            members["scope"] = "user-read-private user-read-email"
        case .atlassian:
            members["token_type"] = "Bearer"
            members["expires_in"] = 3600
            members["scope"] = "read:me read:jira-work offline_access"
        case .linear:
            members["token_type"] = "Bearer"
            members["expires_in"] = 86399
            members["scope"] = "read write"
        case .notion:
            members["token_type"] = "bearer"
            members["bot_id"] = "b1"
            members["workspace_id"] = "w1"
            members["workspace_name"] = "Jane's workspace"
            members["owner"] = ["type": "user", "user": ["object": "user", "id": "u1"]]
            members["duplicated_template_id"] = .null
        }
        return .json(.object(members))
    }

    /// The user of the access token.
    func user(_ call: Call) throws(Refusal) -> Answer {
        state.note { $0.userInfos += 1 }
        let user = try state.user(of: try call.bearer())
        let (id, name, email) = (
            JSONValue.string(user.subject), JSONValue.string(user.name), JSONValue.string(user.email)
        )
        switch provider {
        case .github: return .json(["id": 248_289_761, "login": "jane", "name": name, "email": email])
        case .google, .microsoft: return .json(["sub": id, "name": name, "email": email])
        case .slack: return .json(["ok": true, "team": "Team", "user": name, "team_id": "T1", "user_id": "U1234"])
        case .discord:
            return .json(["id": id, "username": "jane", "global_name": name, "email": email, "verified": true])
        case .spotify: return .json(["id": id, "display_name": name, "email": email])
        case .atlassian: return .json(["account_id": id, "name": name, "email": email])
        case .linear:
            guard try call.fields(["query"]).text("query").hasPrefix("{ viewer {") else {
                throw .badRequest("GraphQL validation failed")
            }
            return .json(["data": ["viewer": ["id": id, "name": name, "email": email]]])
        case .notion:
            guard call.header("notion-version") != nil else { throw .badRequest("Notion-Version is missing") }
            let owner: JSONValue = [
                "object": "user", "id": id, "name": name, "type": "person", "person": ["email": email],
            ]
            return .json([
                "object": "user", "id": "b1", "type": "bot", "name": "authd",
                "bot": ["owner": ["type": "user", "user": owner], "workspace_name": "Jane's workspace"],
            ])
        }
    }

    func body(of refusal: Refusal) -> Answer {
        let code = refusal.code ?? "invalid_request"
        let isAPI =
            code == "invalid_token" || refusal.status == 401 && code != "invalid_client" || code == "BAD_REQUEST"
        let message = JSONValue.string(refusal.message)
        switch provider {
        case .github:
            if isAPI { return .json(["message": "Bad credentials"], status: refusal.status) }
            let known = ["invalid_grant": "bad_refresh_token", "invalid_client": "incorrect_client_credentials"]
            return .json(["error": .string(known[code] ?? code), "error_description": message])
        case .slack:
            let known = ["invalid_token": "token_expired", "invalid_grant": "invalid_refresh_token"]
            return .json(["ok": false, "error": .string(known[code] ?? code)])
        case .microsoft where !isAPI:
            return .json(
                [
                    "error": .string(code),
                    "error_description":
                        "AADSTS700082: The refresh token has expired due to inactivity.\r\nTrace ID: 255d1aef\r\nTimestamp: now",
                    "error_codes": [700082], "timestamp": "2026-11-23 00:00:00Z", "trace_id": "255d1aef",
                    "correlation_id": "fb3d2015",
                ], status: refusal.status)
        case .atlassian where code == "invalid_grant":
            return .json(
                ["error": "invalid_grant", "error_description": "Unknown or invalid refresh token."], status: 403)
        case .notion where isAPI:
            return .json(
                [
                    "object": "error", "status": .integer(refusal.status), "code": "unauthorized",
                    "message": "API token is invalid.",
                ], status: refusal.status)
        case .spotify where isAPI:
            return .json(
                ["error": ["status": .integer(refusal.status), "message": "The access token expired"]],
                status: refusal.status)
        case .discord where isAPI:
            return .json(["message": "401: Unauthorized", "code": 0], status: refusal.status)
        default:
            return .json(["error": .string(code), "error_description": message], status: refusal.status)
        }
    }
}
