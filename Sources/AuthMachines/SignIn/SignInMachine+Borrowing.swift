import AuthModel
import AuthWire

/// The browser of another machine's agent (Docs/decisions/remote-sign-in.md). The client carries the request there, and the
/// answer back.
extension SignInMachine {
    /// - Throws: `unsupported` if no browser is needed, or if the two agents cannot have the same client.
    func checkBorrowing() throws(AgentError) {
        let flow = form.proof == nil ? form.method.flow : .browser
        guard let flow, [.browser, .paste, .device].contains(flow), let oauth = plainAuthority.oauth else {
            throw AgentError(
                .unsupported,
                "\(form.method.label) at \(form.profile.title) needs no browser: sign in without another machine.",
                cause: "borrow")
        }
        guard !oauth.registers, !oauth.asksForClient, plainAuthority.resource == nil else {
            throw AgentError(
                .unsupported,
                "Each machine has a different client at \(plainAuthority.title), so one cannot sign in for another. "
                    + "Sign in with --device or --paste, or write a profile with the same client_id on both machines.",
                cause: AgentError.otherClient)
        }
    }

    /// Asks the other machine for a device code, or first makes the request that its browser opens.
    /// - Throws: `unsupported` if nothing names the server to the other machine.
    mutating func borrow(
        for flow: OAuthFlow, _ server: OAuthServer, _ turn: inout SignInTurn
    ) throws(AgentError) {
        let (hasDevices, hasPage) = (server.endpoints.deviceAuthorization != nil, server.endpoints.authorization != nil)
        guard flow == .device || (!hasPage && hasDevices) else {
            return turn.act(.prepareBrowser(server, listens: false))
        }
        guard server.issuer != nil || hasPage else {
            throw AgentError(
                .unsupported,
                "The profile of \(authority.title) has neither an issuer nor an authorization_endpoint, so another "
                    + "machine cannot find the server: add one of them to the profiles of both machines.",
                cause: "borrow")
        }
        let oauth = authority.oauth
        var call = LoginLend(
            issuer: server.issuer, authorizationEndpoint: server.issuer == nil ? server.endpoints.authorization : nil,
            clientID: oauth?.clientID ?? "", scopes: oauth?.scopes ?? [])
        call.device = true
        askToLend(call, &turn)
    }

    mutating func askToLend(_ call: LoginLend, _ turn: inout SignInTurn) {
        ask(SignInQuestion(fields: [], lend: call), &turn)
    }

    /// Continues with the answer of the other agent. The browser has come back there, or the user enters a code.
    mutating func continueWith(_ lent: LoginLent?, _ turn: inout SignInTurn) throws(AgentError) {
        guard let lent else { throw .invalidParams("params.lent: expected the result of \(LoginLend.name).") }
        do throws(AgentError) {
            try accept(lent, &turn)
        } catch {
            failed(error, &turn)
        }
    }

    private mutating func accept(_ lent: LoginLent, _ turn: inout SignInTurn) throws(AgentError) {
        guard let oauth = authority.oauth, oauth.clientID.utf8.elementsEqual(lent.clientID.utf8) else {
            throw AgentError(
                .conflict,
                "The two machines sign in to \(authority.title) as different clients: use the same client_id in both "
                    + "profiles.", cause: AgentError.otherClient)
        }
        let scopes = try Self.scopes(oauth.scopes, in: lent, at: authority)
        let missing = oauth.scopes.filter { !scopes.contains($0) }
        if !missing.isEmpty {
            note = [note, "The other machine does not allow these scopes: \(missing.joined(separator: " "))."]
                .compactMap(\.self).joined(separator: "\n")
        }
        lentScopes = scopes
        guard attempt != nil else { return try waitForCode(lent.device, &turn) }
        guard let redirect = lent.redirectURI, let query = lent.query else { throw .notLent(authority) }
        attempt?.returned(to: redirect)
        guard let attempt, accept(attempt.read(query), &turn) else { throw .notLent(authority) }
    }

    /// The scopes that count as requested: never more than this agent wanted, because it checks the response against
    /// them and stores them.
    private static func scopes(
        _ wanted: [String], in lent: LoginLent, at authority: ProviderProfile
    ) throws(AgentError) -> [String] {
        guard !wanted.isEmpty else { return OAuthScope.limited(lent.scopes) }
        let scopes = wanted.filter(lent.scopes.contains)
        // Without an ID token, nothing that the provider has signed would say whose session it is.
        if wanted.contains("openid"), !scopes.contains("openid") {
            throw AgentError(
                .denied,
                "The other machine does not allow the scope openid, with which \(authority.title) says who has signed in: add "
                    + "it to sign_in_scopes there.", cause: "sign_in_scopes")
        }
        guard !scopes.isEmpty else { throw .notLent(authority) }
        return scopes
    }

    private mutating func waitForCode(_ response: JSON?, _ turn: inout SignInTurn) throws(AgentError) {
        guard let response else { throw .notLent(authority) }
        let device: DeviceAuthorization
        do throws(MetadataError) {
            device = try DeviceAuthorization(response)
        } catch {
            throw .notLent(authority)
        }
        stage = .atDevice(device, DevicePoll(device, from: turn.now.boot), isAsking: false)
        replyAway(&turn)
    }
}

extension AgentError {
    fileprivate static func notLent(_ authority: ProviderProfile) -> AgentError {
        AgentError(
            .badReply, "The answer of the other machine does not belong to this sign-in to \(authority.title).",
            cause: "lent", retryable: false)
    }
}
