import Crypto
import CryptoExtras
import Foundation

/// A parsed JSON Web Token (RFC 7515 §3.1). It uses only Foundation and swift-crypto, so that the stand-ins share no parser
/// with what they test.
struct SignedClaims {
    let header: JSONValue
    let claims: JSONValue
    private let signed: Data
    private let signature: Data

    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let header = Self.json(parts[0]), let claims = Self.json(parts[1]),
            let signature = Self.data(parts[2])
        else { return nil }
        self.header = header
        self.claims = claims
        self.signature = signature
        signed = Data((parts[0] + "." + parts[1]).utf8)
    }

    /// Checks ES256 (RFC 7518 §3.4).
    func isSigned(by key: P256.Signing.PublicKey) -> Bool {
        guard header["alg"]?.string == "ES256",
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
        else { return false }
        return key.isValidSignature(signature, for: signed)
    }

    /// Checks ES256 or RS256 (RFC 7518 §3.3) with a public key in PEM.
    func isSigned(byPEM pem: String) -> Bool {
        if let key = try? P256.Signing.PublicKey(pemRepresentation: pem) { return isSigned(by: key) }
        guard header["alg"]?.string == "RS256", let key = try? _RSA.Signing.PublicKey(pemRepresentation: pem) else {
            return false
        }
        let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
        return key.isValidSignature(signature, for: signed, padding: .insecurePKCS1v1_5)
    }

    private static func json(_ part: String) -> JSONValue? {
        data(part).flatMap { try? JSONValue(parsing: [UInt8]($0)) }
    }

    static func data(_ text: String) -> Data? {
        let padded = text.replacing("-", with: "+").replacing("_", with: "/")
        return Data(base64Encoded: padded + String(repeating: "=", count: (4 - padded.count % 4) % 4))
    }

    static func text(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
