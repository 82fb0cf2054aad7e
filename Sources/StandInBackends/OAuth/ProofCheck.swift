import Crypto
import Foundation

/// Checks the DPoP proof of one request (RFC 9449 §4.3).
struct ProofCheck {
    /// The thumbprint of its key (RFC 7638).
    let thumbprint: String
    let id: String
    let nonce: String?

    /// In seconds.
    private static let tolerance = 60.0

    /// - Parameter accessToken: the request's token; `nil` at the token endpoint.
    init(_ call: Call, url: String, accessToken: String?, now: Double) throws(Refusal) {
        let status = accessToken == nil ? 400 : 401
        func refused(_ reason: String) -> Refusal { .oauth("invalid_dpop_proof", status: status, reason) }
        let fields = call.headers.filter { $0.name == "dpop" }
        guard fields.count == 1, let proof = SignedClaims(fields[0].value) else { throw refused("no proof") }
        guard proof.header["typ"]?.string == "dpop+jwt" else { throw refused("another kind of token") }
        guard let jwk = proof.header["jwk"], jwk["d"] == nil, jwk["kty"]?.string == "EC", jwk["crv"]?.string == "P-256",
            let x = jwk["x"]?.string, let y = jwk["y"]?.string,
            let point = SignedClaims.data(x).flatMap({ first in SignedClaims.data(y).map { first + $0 } }),
            let key = try? P256.Signing.PublicKey(rawRepresentation: point), proof.isSigned(by: key)
        else { throw refused("not signed by the key in it") }
        let claims = proof.claims
        guard claims["htm"]?.string == call.method else { throw refused("for another method") }
        guard claims["htu"]?.string == url else { throw refused("for another address") }
        guard let issued = claims["iat"]?.integer, abs(Double(issued) - now) < Self.tolerance else {
            throw refused("of another time")
        }
        guard let id = claims["jti"]?.string, id.count >= 16 else { throw refused("without an identifier") }
        let hash = accessToken.map { SignedClaims.text(Data(SHA256.hash(data: Data($0.utf8)))) }
        guard claims["ath"]?.string == hash else { throw refused("for another token") }
        self.id = id
        nonce = claims["nonce"]?.string
        let members = #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#
        thumbprint = SignedClaims.text(Data(SHA256.hash(data: Data(members.utf8))))
    }
}
