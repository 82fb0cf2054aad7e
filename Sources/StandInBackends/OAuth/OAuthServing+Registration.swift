/// Clients that nobody has registered by hand (RFC 7591, RFC 7592).
extension OAuthServing {
    func register(_ call: Call) async throws(Refusal) -> Answer {
        book.note { $0.registrationRequests += 1 }
        try? await book.holdsRegistrations.wait { !$0 }
        guard book.configuration.registersClients, call.header("content-type") == "application/json",
            let asked = try? JSONValue(parsing: call.body), asked["client_name"]?.string?.isEmpty == false,
            let redirects = asked["redirect_uris"]?.array?.compactMap(\.string), redirects.count == 1,
            // With the port that is listened on, as a server that compares exactly wants it.
            redirects[0].firstMatch(of: /^http:\/\/127\.0\.0\.1:[0-9]+\/callback$/) != nil,
            asked["response_types"] == ["code"], let grants = asked["grant_types"]?.array?.compactMap(\.string),
            grants.contains("authorization_code"),
            book.configuration.grantTypes.map({ taken in grants.allSatisfy(taken.contains) }) ?? true,
            asked["dpop_bound_access_tokens"]?.bool ?? false == book.configuration.demandsProofs,
            let method = asked["token_endpoint_auth_method"]?.string,
            ["none", "client_secret_basic", "client_secret_post"].contains(method)
        else { throw .oauth("invalid_client_metadata") }
        let client = book.register(withSecret: method != "none")
        var members: [String: JSONValue] = [
            "client_id": .string(client.id), "token_endpoint_auth_method": .string(method),
            "redirect_uris": .array(redirects.map(JSONValue.string)), "client_secret_expires_at": 0,
        ]
        if let secret = client.secret { members["client_secret"] = .string(secret) }
        if !book.takes(.tellsNoPlace) {
            members["registration_client_uri"] = .string(book.issuer + "/register/" + client.id)
            members["registration_access_token"] = .string(client.token)
        }
        return .json(.object(members), status: 201)
    }

    func registration(_ call: Call) throws(Refusal) -> Answer {
        guard let client = book.client, call.parameters["id"] == client.id, try call.bearer() == client.token else {
            throw .oauth("invalid_token", status: 401)
        }
        return .json(["client_id": .string(client.id)])
    }
}
