import AuthModel
import AuthSealedFile
import Crypto
import FoundationEssentials

/// The X25519 key of this host. Record keys are wrapped for it with HPKE (RFC 9180), authenticated by the key of the
/// host that wraps: etcd's operators know every public key, and must not be able to replace a record key with one of
/// theirs.
struct HostKey: Sendable {
    private static let suite = HPKE.Ciphersuite(kem: .Curve25519_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .AES_GCM_256)
    /// Separates these wrappings from any other use of the key.
    private static let purpose = Data("authd record key 1".utf8)
    /// Names the secret of an admission to HPKE.
    private static let admissionName = Data("authd admission 1".utf8)

    let id: String
    let publicKey: [UInt8]
    private let privateKey: Secret

    /// `nil` if it is not such a key.
    init?(_ privateKey: Secret) {
        guard let key = try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: privateKey.revealBytes()) else {
            return nil
        }
        publicKey = Array(key.publicKey.rawRepresentation)
        id = Self.id(of: publicKey)
        self.privateKey = privateKey
    }

    static func random() throws(ClusterFault) -> HostKey {
        var raw = Curve25519.KeyAgreement.PrivateKey().rawRepresentation
        defer { raw.resetBytes(in: raw.startIndex..<raw.endIndex) }
        guard let key = HostKey(Secret(bytes: raw)) else {
            throw .invalid(reason: "the host's key could not be created")
        }
        return key
    }

    /// The first 16 bytes of the key's SHA-256.
    static func id(of publicKey: [UInt8]) -> String {
        SealedBytes.hex(Array(SHA256.hash(data: publicKey).prefix(16)))
    }

    /// For the store of this host.
    var secret: Secret { privateKey }

    /// - Parameter code: of an admission; the other host checks with it that a host it knows of admits it.
    func wrap(
        _ key: SealingKey, for host: ClusterHost, of cluster: String, code: AdmissionCode? = nil
    ) throws(ClusterFault) -> WrappedKey {
        let keyID = SealedBytes.hex(key.id)
        do {
            let recipient = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: host.publicKey)
            var sender =
                if let code {
                    try HPKE.Sender(
                        recipientKey: recipient, ciphersuite: Self.suite, info: Self.purpose,
                        authenticatedBy: try agreementKey(), presharedKey: code.key,
                        presharedKeyIdentifier: Self.admissionName)
                } else {
                    try HPKE.Sender(
                        recipientKey: recipient, ciphersuite: Self.suite, info: Self.purpose,
                        authenticatedBy: try agreementKey())
                }
            let sealed = try sender.seal(
                key.secret.revealBytes(), authenticating: Self.bound(cluster: cluster, host: host.id, key: keyID))
            return WrappedKey(
                host: host.id, key: keyID, by: id, byPublicKey: publicKey, encapsulated: Array(sender.encapsulatedKey),
                sealed: Array(sealed), isAdmission: code != nil)
        } catch {
            throw .invalid(reason: "the record key could not be wrapped for host \(host.id)")
        }
    }

    /// - Parameter sender: the public key of the host that wrapped it, which this host trusts.
    /// - Returns: `nil` if that host has not wrapped it for this one.
    func unwrap(
        _ wrapped: WrappedKey, by sender: [UInt8], of cluster: String, code: AdmissionCode? = nil
    ) -> SealingKey? {
        do {
            let senderKey = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: sender)
            let encapsulated = Data(wrapped.encapsulated)
            var recipient =
                if let code {
                    try HPKE.Recipient(
                        privateKey: try agreementKey(), ciphersuite: Self.suite, info: Self.purpose,
                        encapsulatedKey: encapsulated, authenticatedBy: senderKey, presharedKey: code.key,
                        presharedKeyIdentifier: Self.admissionName)
                } else {
                    try HPKE.Recipient(
                        privateKey: try agreementKey(), ciphersuite: Self.suite, info: Self.purpose,
                        encapsulatedKey: encapsulated, authenticatedBy: senderKey)
                }
            var opened = try recipient.open(
                wrapped.sealed, authenticating: Self.bound(cluster: cluster, host: id, key: wrapped.key))
            defer { opened.resetBytes(in: opened.startIndex..<opened.endIndex) }
            guard let key = SealingKey(Secret(bytes: opened)), SealedBytes.hex(key.id) == wrapped.key else {
                return nil
            }
            return key
        } catch {
            return nil
        }
    }

    private func agreementKey() throws -> Curve25519.KeyAgreement.PrivateKey {
        try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: privateKey.revealBytes())
    }

    private static func bound(cluster: String, host: String, key: String) -> [UInt8] {
        Array("\(cluster) \(host) \(key)".utf8)
    }
}
