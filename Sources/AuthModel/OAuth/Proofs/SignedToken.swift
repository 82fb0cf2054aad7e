package import AuthWire

/// A JSON Web Token of our own (RFC 7515 §3.1, RFC 7519): for one recipient, with a short lifetime.
package enum SignedToken {
    /// - Parameters:
    ///   - type: the type of the token, so that it is not mistaken for another (RFC 8725 §3.11); `nil` for none.
    ///   - keyID: the recipient's name for the key, if it has one.
    ///   - showsKey: the header contains the public key, for a recipient that does not know it.
    /// - Throws: `validation` if the key is not usable.
    package static func make(
        _ claims: JSONObject, type: String? = nil, keyID: String? = nil, showsKey: Bool = false, by key: Secret,
        _ cryptography: any Cryptography
    ) throws(AgentError) -> Secret {
        guard let known = cryptography.publicKey(of: key) else { throw .unusableKey }
        var header: JSONObject = [:]
        header["typ"] = type.map(JSON.string)
        header["alg"] = .string(known.algorithm)
        header["kid"] = keyID.map(JSON.string)
        if showsKey { header["jwk"] = .object(known.jwk) }
        let text = [header, claims].map { Base64URL.encode(JSON.object($0).serialized()) }.joined(separator: ".")
        guard let signature = cryptography.signature(of: Array(text.utf8), by: key) else { throw .unusableKey }
        return Secret(text + "." + Base64URL.encode(signature))
    }

    /// Whole Unix seconds: some recipients reject fractions, which RFC 7519 §2 allows.
    static func date(_ time: WallTime) -> JSON { .integer(Int64(time.unixSeconds.rounded(.down))) }
}

extension AgentError {
    package static let unusableKey = AgentError(
        .validation,
        "The key is not usable: it must be a private key in PEM, P-256 or RSA with 2048 bits or "
            + "more, without a passphrase.", cause: "key")
}
