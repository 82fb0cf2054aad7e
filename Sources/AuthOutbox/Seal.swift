import AuthModel
import Crypto
import FoundationEssentials

/// Seals data on disk (AES-256-GCM, NIST SP 800-38D), bound to its place.
struct Seal: Sendable {
    /// Bytes.
    static let keySize = 32

    private let key: SymmetricKey

    /// `nil` if the key is invalid.
    init?(_ key: Secret) {
        guard key.count == Self.keySize else { return nil }
        self.key = SymmetricKey(data: key.revealBytes())
    }

    static func newKey() -> Secret {
        unsafe SymmetricKey(size: .bits256).withUnsafeBytes { unsafe Secret(bytes: $0) }
    }

    /// - Parameter place: data that was moved to another place cannot be opened.
    func close(_ bytes: [UInt8], at place: String) throws(OutboxError) -> [UInt8] {
        guard let sealed = try? AES.GCM.seal(bytes, using: key, authenticating: Array(place.utf8)).combined else {
            throw .disk(reason: "an entry could not be sealed")
        }
        return Array(sealed)
    }

    /// `nil`: it was sealed with another key or for another place, or is damaged.
    func open(_ sealed: [UInt8], at place: String) -> [UInt8]? {
        guard let box = try? AES.GCM.SealedBox(combined: sealed),
            let bytes = try? AES.GCM.open(box, using: key, authenticating: Array(place.utf8))
        else { return nil }
        return Array(bytes)
    }
}
