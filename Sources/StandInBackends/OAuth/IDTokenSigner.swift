import Crypto
import Foundation
import JWTKit

/// Signs ID tokens (OpenID Connect Core 1.0 §2) by a key that can roll over, and tells its keys.
actor IDTokenSigner {
    private struct Claims: JWTPayload {
        var iss: String
        var sub: String
        var aud: String
        var iat: Int
        var exp: Int
        var nonce: String?
        var at_hash: String
        var name: String
        var email: String

        func verify(using algorithm: some JWTAlgorithm) {}
    }

    private var key = ES256PrivateKey()
    private var former = ES256PrivateKey()
    private var number = 1

    func roll() {
        former = key
        key = ES256PrivateKey()
        number += 1
    }

    /// RFC 7517 §5.
    func keys(areStale: Bool) -> JSONValue {
        let told = areStale ? former : key
        let point = told.publicKey.parameters
        return [
            "keys": [
                ["kty": "oct", "k": "AAAA", "kid": "symmetric"],
                [
                    "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": .string("k\(number)"),
                    "x": .string(Self.unpadded(point?.x ?? "")), "y": .string(Self.unpadded(point?.y ?? "")),
                ],
            ]
        ]
    }

    func token(
        for person: OAuthStandIn.Person, _ book: OAuthState, nonce: String?, accessToken: String
    ) async -> String {
        let hash = Data(SHA256.hash(data: Data((book.takes(.wrongTokenHash) ? "other" : accessToken).utf8)).prefix(16))
        let claims = Claims(
            iss: book.issuer, sub: person.subject,
            aud: book.takes(.wrongAudience) ? "somebody-else" : book.client?.id ?? "", iat: Int(book.now),
            exp: Int(book.now) + 300, nonce: book.takes(.wrongNonce) ? "other" : nonce,
            at_hash: Self.unpadded(hash.base64EncodedString()), name: person.name, email: person.email)
        let keys = JWTKeyCollection()
        let name = JWKIdentifier(string: "k\(number)")
        await keys.add(ecdsa: key, kid: name)
        guard let signed = try? await keys.sign(claims, kid: name) else { return "" }
        let payload = signed.split(separator: ".")[1]
        if book.takes(.unsigned) { return Self.header("none") + "." + payload + "." }
        guard book.takes(.signedByName) else { return signed }
        let text = Self.header("HS256") + "." + payload
        let secret = SymmetricKey(data: Data(book.configuration.clientID.utf8))
        let code = HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: secret)
        return text + "." + Self.unpadded(Data(code).base64EncodedString())
    }

    private static func header(_ algorithm: String) -> String {
        unpadded(Data(#"{"alg":"\#(algorithm)"}"#.utf8).base64EncodedString())
    }

    private static func unpadded(_ base64: String) -> String {
        base64.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
