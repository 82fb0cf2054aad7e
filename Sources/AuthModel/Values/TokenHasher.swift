internal import Crypto

/// Names tokens in the audit log without revealing them: the first 8 bytes of HMAC-SHA256 (RFC 2104), with a key of this run.
package struct TokenHasher: Sendable {
    private static let bytes = 8

    private let key = SymmetricKey(size: .bits256)

    package init() {}

    package func hash(of token: Secret) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: token.revealBytes(), using: key)
        return code.prefix(Self.bytes).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }
}
