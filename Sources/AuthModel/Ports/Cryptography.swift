package import AuthWire

/// What OAuth needs of cryptography; random bytes are the system's own.
package protocol Cryptography: Sendable {
    func hash(_ bytes: [UInt8], by hash: SHA2) -> [UInt8]

    /// Whether this key (RFC 7517) has signed a JSON Web Token by the algorithm that its header names.
    func isSigned(_ token: Secret, by key: JSON) async -> Bool

    /// A private key of our own for ES256, in PEM (RFC 7468 §10).
    func makeKey() -> Secret

    /// What others may know of a private key in PEM; `nil` for what is no key, or one that signs by neither ES256 nor
    /// RS256.
    func publicKey(of key: Secret) -> PublicKey?

    /// A signature as JSON Web Signatures have it (RFC 7518 §3.3, §3.4), by the algorithm that goes with the key; `nil`
    /// where there is no ``publicKey(of:)``.
    func signature(of bytes: [UInt8], by key: Secret) -> [UInt8]?

    /// A certificate that vouches for itself, and for this machine alone, with a key that nobody else has.
    /// - Parameter host: `127.0.0.1`, `::1` or `localhost`.
    /// - Returns: `nil` where none can be made.
    func makeTLSIdentity(for host: String, from start: WallTime, until end: WallTime) -> TLSIdentity?

    /// A person's own, if the key is the certificate's, and that is good now and for that host.
    func tlsIdentity(
        certificates: String, key: Secret, for host: String, at now: WallTime
    ) throws(TLSIdentityError) -> TLSIdentity
}

/// The half of a key that is no secret.
package struct PublicKey: Sendable, Equatable {
    /// `ES256` or `RS256`.
    package let algorithm: String
    /// RFC 7517, with the members that it must have and no other.
    package let jwk: JSONObject

    package init(algorithm: String, jwk: JSONObject) {
        self.algorithm = algorithm
        self.jwk = jwk
    }

    /// Its name that nobody had to give it (RFC 7638 §3).
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
