package import AuthWire

/// What OAuth needs of cryptography; random bytes are the system's own.
package protocol Cryptography: Sendable {
    func hash(_ bytes: [UInt8], by hash: SHA2) -> [UInt8]

    /// Whether this key (RFC 7517) has signed a JSON Web Token by the algorithm that its header names.
    func isSigned(_ token: Secret, by key: JSON) async -> Bool
}

/// FIPS 180-4.
package enum SHA2: Sendable {
    case sha256
    case sha384
    case sha512
}
