package import AuthModel
import Crypto
import FoundationEssentials

/// A key of AES-256, and an ID that identifies it without revealing it.
package struct SealingKey: Sendable {
    /// Bytes.
    static let size = 32
    /// Bytes of key material: less could be guessed.
    static let shortestMaterial = 32
    static let idLength = 8

    package let secret: Secret
    /// In the header of everything that it has sealed.
    package let id: [UInt8]

    /// `nil` unless it has ``size`` bytes.
    package init?(_ secret: Secret) {
        guard secret.count == Self.size else { return nil }
        self.secret = secret
        id = unsafe HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: secret.revealBytes()), info: Array("authd key id".utf8),
            outputByteCount: Self.idLength
        ).withUnsafeBytes { unsafe Array($0) }
    }

    /// From a configured key or credential; `nil` for fewer bytes than ``shortestMaterial``.
    init?(material: Secret) {
        guard material.count >= Self.shortestMaterial else { return nil }
        self.init(
            SymmetricKey(data: material.revealBytes()),
            info: "authd sealed sessions")
    }

    private init?(_ material: SymmetricKey, info: String) {
        let key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: material, info: Array(info.utf8), outputByteCount: Self.size)
        self.init(unsafe key.withUnsafeBytes { unsafe Secret(bytes: $0) })
    }

    /// From the kernel's random source.
    package static func random() throws(StoreError) -> SealingKey {
        let secret = unsafe SymmetricKey(size: .bits256).withUnsafeBytes { unsafe Secret(bytes: $0) }
        guard let key = SealingKey(secret) else { throw .failed(reason: "the key could not be created") }
        return key
    }

    var symmetric: SymmetricKey { SymmetricKey(data: secret.revealBytes()) }
}
