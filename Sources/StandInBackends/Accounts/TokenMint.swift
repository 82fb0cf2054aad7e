import Foundation
import JWTKit

/// Signs a backend's tokens (ES256, RFC 7518 §3.4) with a key that is created at its start.
struct TokenMint: Sendable {
    struct Claims: JWTPayload {
        var iss: String
        var sub: String
        var iat: Int
        var exp: Int
        var jti: String

        /// ``Accounts`` checks the expiry with its own clock.
        func verify(using algorithm: some JWTAlgorithm) {}
    }

    private let keys: JWTKeyCollection
    private let issuer: String

    init(issuer: String) async {
        self.issuer = issuer
        keys = JWTKeyCollection()
        await keys.add(ecdsa: ES256PrivateKey())
    }

    func sign(subject: String, id: String, issued: Int, expires: Int) async throws -> String {
        try await keys.sign(Claims(iss: issuer, sub: subject, iat: issued, exp: expires, jti: id))
    }

    /// The claims of a token of this backend; `nil` for any other token.
    func read(_ token: String) async -> Claims? {
        guard let claims = try? await keys.verify(token, as: Claims.self), claims.iss == issuer else { return nil }
        return claims
    }
}
