import AuthModel
import AuthWire
import Crypto
import CryptoExtras

/// A private key of one of the two types that every server supports.
enum SigningKey {
    case ecdsa(P256.Signing.PrivateKey)
    /// From 2048 bits (the minimum of swift-crypto) to ``maxBits``.
    case rsa(_RSA.Signing.PrivateKey)

    /// A longer key only costs time.
    private static let maxBits = 8192

    /// - Parameter pem: RFC 7468 §10, or an older format (SEC 1, PKCS #1).
    init?(_ pem: Secret) {
        let text = pem.reveal()
        if let key = try? P256.Signing.PrivateKey(pemRepresentation: text) {
            self = .ecdsa(key)
        } else if let key = try? _RSA.Signing.PrivateKey(pemRepresentation: text), key.keySizeInBits <= Self.maxBits {
            self = .rsa(key)
        } else {
            return nil
        }
    }

    /// `nil` if an RSA key does not provide its numbers.
    var publicKey: PublicKey? {
        switch self {
        case .ecdsa(let key):
            // The two coordinates, of the same length (SEC 1 §2.3.3, without its first byte).
            let point = [UInt8](key.publicKey.rawRepresentation)
            let (x, y) = (Array(point.prefix(point.count / 2)), Array(point.suffix(point.count / 2)))
            return PublicKey(
                algorithm: "ES256",
                jwk: [
                    "kty": "EC", "crv": "P-256", "x": .string(Base64URL.encode(x)), "y": .string(Base64URL.encode(y)),
                ])
        case .rsa(let key):
            guard let numbers = try? key.publicKey.getKeyPrimitives() else { return nil }
            return PublicKey(
                algorithm: "RS256",
                jwk: [
                    "kty": "RSA", "n": .string(Base64URL.encode([UInt8](numbers.modulus))),
                    "e": .string(Base64URL.encode([UInt8](numbers.publicExponent))),
                ])
        }
    }

    func signature(of bytes: [UInt8]) -> [UInt8]? {
        switch self {
        case .ecdsa(let key): (try? key.signature(for: bytes)).map { [UInt8]($0.rawRepresentation) }
        case .rsa(let key):
            // The padding of RS256 (RFC 7518 §3.3); swift-crypto calls it insecure.
            (try? key.signature(for: bytes, padding: .insecurePKCS1v1_5)).map { [UInt8]($0.rawRepresentation) }
        }
    }
}
