package import AuthModel
package import AuthWire
import Crypto
import JWTKit

/// The cryptography of OAuth, using swift-crypto and jwt-kit.
package struct SystemCryptography: Cryptography {
    package init() {}

    package func hash(_ bytes: [UInt8], by hash: SHA2) -> [UInt8] {
        switch hash {
        case .sha256: Array(SHA256.hash(data: bytes))
        case .sha384: Array(SHA384.hash(data: bytes))
        case .sha512: Array(SHA512.hash(data: bytes))
        }
    }

    package func isSigned(_ token: Secret, by key: JSON) async -> Bool {
        guard var members = key.objectValue else { return false }
        // A set with one key needs no key ID, but jwt-kit requires one.
        members["kid"] = members["kid"] ?? "the only one"
        let keys = JWTKeyCollection()
        do {
            try await keys.add(jwk: JWK(json: JSON.object(members).text()))
            _ = try await keys.verify(token.revealBytes(), as: AnyClaims.self)
            return true
        } catch {
            return false
        }
    }

    package func makeKey() -> Secret {
        Secret(P256.Signing.PrivateKey().pemRepresentation)
    }

    package func publicKey(of key: Secret) -> PublicKey? { SigningKey(key)?.publicKey }

    package func signature(of bytes: [UInt8], by key: Secret) -> [UInt8]? { SigningKey(key)?.signature(of: bytes) }
}

/// Only the signature is checked here; `IDToken` checks the claims.
private struct AnyClaims: JWTPayload {
    func verify(using algorithm: some JWTAlgorithm) {}
}
