package import AuthModel
package import AuthWire

/// Hashes and signs nothing: for tests of what is decided.
package struct PlainCryptography: Cryptography {
    package init() {}

    package func hash(_ bytes: [UInt8], by hash: SHA2) -> [UInt8] { bytes }
    package func isSigned(_ token: Secret, by key: JSON) async -> Bool { false }
    package func makeKey() -> Secret { Secret("key") }
    package func publicKey(of key: Secret) -> PublicKey? { nil }
    package func signature(of bytes: [UInt8], by key: Secret) -> [UInt8]? { nil }
    package func makeTLSIdentity(for host: String, from start: WallTime, until end: WallTime) -> TLSIdentity? { nil }

    package func tlsIdentity(
        certificates: String, key: Secret, for host: String, at now: WallTime
    ) throws(TLSIdentityError) -> TLSIdentity {
        throw TLSIdentityError("there are no certificates here")
    }
}
