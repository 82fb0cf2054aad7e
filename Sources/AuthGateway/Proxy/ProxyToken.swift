package import AuthModel
import AuthWire

/// A token for one request, and where the request carries it.
package struct ProxyToken: Sendable {
    package let secret: Secret
    /// It needs a proof with each request (RFC 9449).
    package let isBound: Bool
    package let proof: Secret?
    package let place: TokenPlace
    /// Whether the agent could get another one.
    package let isRenewable: Bool

    package init(
        _ secret: Secret, isBound: Bool = false, proof: Secret? = nil, place: TokenPlace = .standard,
        isRenewable: Bool = true
    ) {
        self.secret = secret
        self.isBound = isBound
        self.proof = proof
        self.place = place
        self.isRenewable = isRenewable
    }

    /// Adds the token to a request that has nothing in its place.
    /// - Throws: if the profile's template needs more than the token, or makes a value that the place cannot have.
    func add(
        to fields: inout [(name: String, value: String)], url: inout String
    ) throws(AgentError) {
        if case .standard = place {
            guard HeaderRules.isValue(secret.reveal()) else {
                throw AgentError(
                    .badReply, "The session's token contains a line break or control character. Nothing was sent.")
            }
            fields.append(("Authorization", (isBound ? "DPoP " : "Bearer ") + secret.reveal()))
        } else {
            let cookies = fields.filter { $0.name.lowercased() == "cookie" }
            fields.removeAll { $0.name.lowercased() == "cookie" }
            var request = HTTPRequest(
                method: "GET", url: url, headers: cookies.map { HTTPField($0.name, $0.value) })
            try place.add(TemplateValues(accessToken: secret), to: &request, for: "this session")
            url = request.url
            for field in request.headers { fields.append((field.name, field.value.reveal())) }
        }
        if let proof { fields.append(("DPoP", proof.reveal())) }
    }
}
