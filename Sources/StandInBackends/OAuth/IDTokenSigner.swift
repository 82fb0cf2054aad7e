import Crypto
import Foundation
import JWTKit

/// Signs ID tokens (OpenID Connect Core 1.0 §2) with a key that can be rolled over, and publishes its keys.
actor IDTokenSigner {
    private struct Claims: JWTPayload {
        var iss: String
        var sub: String
        var aud: String
        var iat: Int
        var exp: Int
        var nonce: String?
        var tid: String?
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
        let published = areStale ? former : key
        let point = published.publicKey.parameters
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
        for user: OAuthStandIn.User, _ state: OAuthState, nonce: String?, accessToken: String
    ) async -> String {
        let hash = Data(
            SHA256.hash(data: Data((state.applies(.wrongTokenHash) ? "other" : accessToken).utf8)).prefix(16))
        let claims = Claims(
            iss: state.issuer, sub: user.subject,
            aud: state.applies(.wrongAudience) ? "somebody-else" : state.client?.id ?? "", iat: Int(state.now),
            exp: Int(state.now) + 300, nonce: state.applies(.wrongNonce) ? "other" : nonce,
            tid: state.applies(.wrongTenant) ? "9188040d-6c67-4c5b-b112-36a304b66dad" : state.configuration.tenant,
            at_hash: Self.unpadded(hash.base64EncodedString()), name: user.name, email: user.email)
        let keys = JWTKeyCollection()
        let name = JWKIdentifier(string: "k\(number)")
        await keys.add(ecdsa: key, kid: name)
        guard let signed = try? await keys.sign(claims, kid: name) else { return "" }
        let payload = signed.split(separator: ".")[1]
        if state.applies(.unsigned) { return Self.header("none") + "." + payload + "." }
        guard state.applies(.signedWithName) else { return signed }
        let text = Self.header("HS256") + "." + payload
        let secret = SymmetricKey(data: Data(state.configuration.clientID.utf8))
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
