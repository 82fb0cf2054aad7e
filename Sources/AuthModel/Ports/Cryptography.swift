package import AuthWire

/// The cryptography that OAuth requires.
package protocol Cryptography: Sendable {
    func hash(_ bytes: [UInt8], by hash: SHA2) -> [UInt8]

    /// Whether this key (RFC 7517) signed a JSON Web Token with the algorithm in its header.
    func isSigned(_ token: Secret, by key: JSON) async -> Bool

    /// A new private key for ES256, in PEM (RFC 7468 §10).
    func makeKey() -> Secret

    /// The public part of a private key in PEM; `nil` if it is not a key for ES256 or RS256.
    func publicKey(of key: Secret) -> PublicKey?

    /// A signature for JSON Web Signatures (RFC 7518 §3.3, §3.4) with the key's algorithm; `nil` if there is no
    /// ``publicKey(of:)``.
    func signature(of bytes: [UInt8], by key: Secret) -> [UInt8]?

    /// A self-signed certificate for this machine, with a new key.
    /// - Parameter host: `127.0.0.1`, `::1` or `localhost`.
    /// - Returns: `nil` if it cannot be made.
    func makeTLSIdentity(for host: String, from start: WallTime, until end: WallTime) -> TLSIdentity?

    /// The user's own certificate, if the key belongs to it and it is valid now and for that host.
    func tlsIdentity(
        certificates: String, key: Secret, for host: String, at now: WallTime
    ) throws(TLSIdentityError) -> TLSIdentity
}

package struct PublicKey: Sendable, Equatable {
    /// `ES256` or `RS256`.
    package let algorithm: String
    /// RFC 7517, with the required members only.
    package let jwk: JSONObject

    package init(algorithm: String, jwk: JSONObject) {
        self.algorithm = algorithm
        self.jwk = jwk
    }

    /// RFC 7638 §3.
    package func thumbprint(_ cryptography: any Cryptography) -> String {
        var members = JSONObject()
        for name in jwk.keys.sorted() { members[name] = jwk[name] }
        return Base64URL.encode(cryptography.hash(JSON.object(members).serialized(), by: .sha256))
    }
}

/// FIPS 180-4.
package enum SHA2: Sendable {
    case sha256
    case sha384
    case sha512
}
