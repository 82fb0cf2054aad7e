import AuthModel
import CryptoExtras
import FoundationEssentials

/// How the keys of the sessions are sealed: the label of their file.
enum KeyWrapping: Sendable, Equatable {
    /// With a configured key.
    case given
    case passphrase(PassphraseCost, salt: [UInt8])

    init?(label: String) {
        let words = label.split(separator: " ", omittingEmptySubsequences: false)
        switch words.first {
        case "given" where words.count == 1: self = .given
        case "scrypt" where words.count == 3:
            guard let logarithm = Int(words[1]), PassphraseCost.taken.contains(logarithm),
                let salt = Self.bytes(hex: words[2]), salt.count == Self.saltLength
            else { return nil }
            self = .passphrase(PassphraseCost(logarithm: logarithm), salt: salt)
        default: return nil
        }
    }

    var label: String {
        switch self {
        case .given: "given"
        case .passphrase(let cost, let salt): "scrypt \(cost.logarithm) \(SealedBytes.hex(salt))"
        }
    }

    private static let saltLength = 16

    static func newPassphrase(_ cost: PassphraseCost) -> KeyWrapping { .passphrase(cost, salt: newSalt()) }

    static func newSalt() -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<saltLength).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }

    static func bytes(hex: Substring) -> [UInt8]? {
        let digits = hex.compactMap(\.hexDigitValue)
        guard digits.count == hex.count, digits.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}

/// The cost of one guess at a passphrase: scrypt (RFC 7914) with N = 2 to the `logarithm`, r = 8, p = 1.
package struct PassphraseCost: Sendable, Equatable {
    /// 128 MiB and some tenths of a second for each guess, and once at each start of the agent.
    package static let usual = PassphraseCost(logarithm: 17)
    /// Accepted for a store: higher ones would need gigabytes.
    static let taken = 10...20
    /// Accepted for an export bundle, whose header anybody may have written: 256 MiB.
    static let maxForBundles = PassphraseCost(logarithm: 18)

    let logarithm: Int

    package init(logarithm: Int) {
        self.logarithm = logarithm
    }

    /// The memory for one guess: 128 × N × r bytes (RFC 7914 §2).
    var mebibytes: Int { (1 << logarithm) >> 10 }

    func key(from passphrase: Secret, salt: [UInt8]) throws(StoreError) -> SealingKey {
        do {
            let derived = try KDF.Scrypt.deriveKey(
                from: passphrase.revealBytes(), salt: salt, outputByteCount: SealingKey.size, rounds: 1 << logarithm,
                blockSize: 8, parallelism: 1)
            if let key = SealingKey(unsafe derived.withUnsafeBytes({ unsafe Secret(bytes: $0) })) { return key }
        } catch {
            // The error below is more helpful than BoringSSL's.
        }
        throw .failed(reason: "there is not enough memory for the passphrase (it takes \(mebibytes) MiB)")
    }
}
