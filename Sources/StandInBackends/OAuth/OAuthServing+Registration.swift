/// Dynamic client registration (RFC 7591, RFC 7592).
extension OAuthServing {
    func register(_ call: Call) async throws(Refusal) -> Answer {
        state.note { $0.registrationRequests += 1 }
        try? await state.holdsRegistrations.wait { !$0 }
        guard state.configuration.registersClients, call.header("content-type") == "application/json",
            let request = try? JSONValue(parsing: call.body), request["client_name"]?.string?.isEmpty == false,
            let redirects = request["redirect_uris"]?.array?.compactMap(\.string), redirects.count == 1,
            // With the port, as a server requires that compares exactly.
            redirects[0].firstMatch(of: /^http:\/\/127\.0\.0\.1:[0-9]+\/callback$/) != nil,
            request["response_types"] == ["code"], let grants = request["grant_types"]?.array?.compactMap(\.string),
            grants.contains("authorization_code"),
            state.configuration.grantTypes.map({ supported in grants.allSatisfy(supported.contains) }) ?? true,
            request["dpop_bound_access_tokens"]?.bool ?? false == state.configuration.requiresProofs,
            let method = request["token_endpoint_auth_method"]?.string,
            ["none", "client_secret_basic", "client_secret_post"].contains(method)
        else { throw .oauth("invalid_client_metadata") }
        let client = state.register(withSecret: method != "none")
        var members: [String: JSONValue] = [
            "client_id": .string(client.id), "token_endpoint_auth_method": .string(method),
            "redirect_uris": .array(redirects.map(JSONValue.string)), "client_secret_expires_at": 0,
        ]
        if let secret = client.secret { members["client_secret"] = .string(secret) }
        if !state.applies(.omitsRegistrationURI) {
            members["registration_client_uri"] = .string(state.issuer + "/register/" + client.id)
            members["registration_access_token"] = .string(client.token)
        }
        return .json(.object(members), status: 201)
    }

    func registration(_ call: Call) throws(Refusal) -> Answer {
        guard let client = state.client, call.parameters["id"] == client.id, try call.bearer() == client.token else {
            throw .oauth("invalid_token", status: 401)
        }
        return .json(["client_id": .string(client.id)])
    }
}
