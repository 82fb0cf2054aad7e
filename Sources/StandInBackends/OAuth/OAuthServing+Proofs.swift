import Foundation

/// Proofs for the authorization server and its API.
extension OAuthServing {
    /// The key of a token request's proof (RFC 9449 §5); `nil` if this server requires none.
    func proofKey(_ call: Call) throws(Refusal) -> String? {
        guard state.configuration.requiresProofs else { return nil }
        return try checked(call, accessToken: nil)
    }

    /// The access token of an API call, with the right scheme.
    func accessToken(_ call: Call) throws(Refusal) -> String {
        guard state.configuration.requiresProofs else { return try call.bearer() }
        let token = try call.bearer(kind: "dpop")
        guard state.thumbprint(ofAccessToken: token) == (try checked(call, accessToken: token)) else {
            throw .oauth("invalid_token", status: 401, "bound to another key")
        }
        return token
    }

    private func checked(_ call: Call, accessToken: String?) throws(Refusal) -> String {
        do throws(Refusal) {
            let proof = try ProofCheck(call, url: state.issuer + call.path, accessToken: accessToken, now: state.now)
            if state.configuration.requiresNonces, proof.nonce != state.nonce(forAPI: accessToken != nil) {
                state.note { $0.nonceChallenges += 1 }
                throw .oauth("use_dpop_nonce", status: accessToken == nil ? 400 : 401)
            }
            guard state.isNew(proof.id) else {
                throw .oauth("invalid_dpop_proof", status: accessToken == nil ? 400 : 401, "used before")
            }
            state.note { $0.proofs += 1 }
            return proof.thumbprint
        } catch {
            if error.code == "invalid_dpop_proof" { state.note { $0.proofRefusals.append(error.message) } }
            throw error
        }
    }

    /// The headers of a refusal (RFC 9449 §8, §9).
    func headers(of refusal: Refusal) -> [(name: String, value: String)] {
        guard state.configuration.requiresProofs, let code = refusal.code else { return [] }
        let isOfAPI = refusal.status == 401
        return (isOfAPI ? [("www-authenticate", "DPoP error=\"\(code)\", algs=\"ES256\"")] : [])
            + (code == "use_dpop_nonce" ? [("dpop-nonce", state.nonce(forAPI: isOfAPI))] : [])
    }

    /// Whether the form has a valid client assertion (RFC 7523 §3).
    func isAssertion(_ form: [String: String], signedByPEM pem: String) -> Bool {
        guard form["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
            form["client_secret"] == nil, let assertion = form["client_assertion"].flatMap(SignedClaims.init),
            assertion.isSigned(byPEM: pem)
        else { return false }
        let claims = assertion.claims
        let audience = state.configuration.assertionAudience == .issuer ? state.issuer : state.issuer + "/token"
        guard claims["iss"]?.string == state.client?.id, claims["sub"]?.string == claims["iss"]?.string,
            claims["aud"]?.string == audience, let end = claims["exp"]?.integer, Double(end) > state.now,
            Double(end) < state.now + 300, let id = claims["jti"]?.string, id.count >= 16, state.isNew(id)
        else { return false }
        state.note { $0.assertions += 1 }
        return true
    }
}
