import AuthModel
import Crypto
import FoundationEssentials

/// A random code that a user carries from a host that wants to join to one that is a member. It proves each host to the
/// other, and etcd never sees it.
///
/// Anyone with the request (``Admission``) can try codes, and each try is one HMAC. The lease of the request ends after
/// ten minutes, but etcd's operators can keep it: the 60 bits are what protects the admission until then.
struct AdmissionCode: Sendable, Equatable {
    /// Without letters and digits that look alike (Crockford's base 32).
    private static let letters = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".unicodeScalars)
    private static let length = 12
    private static let groupLength = 4

    let secret: Secret

    static func random() -> AdmissionCode {
        var random = SystemRandomNumberGenerator()
        var text = String.UnicodeScalarView()
        for _ in 0..<length { text.append(letters[Int.random(in: 0..<letters.count, using: &random)]) }
        return AdmissionCode(secret: Secret(String(text)))
    }

    /// As a user types it: in any case, with any separators. `nil` if it is not a code.
    init?(_ typed: String) {
        let scalars = typed.uppercased().unicodeScalars.filter { $0 != "-" && $0 != " " }
        guard scalars.count == Self.length, scalars.allSatisfy(Self.letters.contains) else { return nil }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        secret = Secret(String(text))
    }

    private init(secret: Secret) {
        self.secret = secret
    }

    /// For the user, in groups.
    var shown: String {
        let text = Array(secret.reveal())
        return stride(from: 0, to: text.count, by: Self.groupLength).map { start in
            String(text[start..<min(start + Self.groupLength, text.count)])
        }.joined(separator: "-")
    }

    /// For HPKE, which requires 32 bytes.
    var key: SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: secret.revealBytes()), info: Data("authd admission key".utf8),
            outputByteCount: 32)
    }

    /// What only a host that knows the code can write about itself.
    func proof(of host: ClusterHost, in cluster: String) -> [UInt8] {
        let text = Array("authd admission \(cluster) \(host.name)\n".utf8) + host.publicKey
        return Array(HMAC<SHA256>.authenticationCode(for: text, using: key))
    }

    func isProof(_ proof: [UInt8], of host: ClusterHost, in cluster: String) -> Bool {
        let text = Array("authd admission \(cluster) \(host.name)\n".utf8) + host.publicKey
        return HMAC<SHA256>.isValidAuthenticationCode(proof, authenticating: text, using: key)
    }
}
