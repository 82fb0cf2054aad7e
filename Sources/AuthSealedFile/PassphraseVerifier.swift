import AuthModel

/// Checks a passphrase without containing it: salt and result of scrypt (RFC 7914).
struct PassphraseVerifier: Sendable {
    private static let head = "authd-lock-passphrase 1"

    private let cost: PassphraseCost
    private let salt: [UInt8]
    private let derived: [UInt8]

    init(of passphrase: Secret, cost: PassphraseCost) throws(StoreError) {
        (self.cost, salt) = (cost, KeyWrapping.newSalt())
        derived = try cost.key(from: passphrase, salt: salt).secret.revealBytes()
    }

    /// `nil` if authd has not written these bytes.
    init?(_ bytes: [UInt8]) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 4, lines[0] == Self.head, lines[3].isEmpty,
            case .passphrase(let cost, let salt)? = KeyWrapping(label: String(lines[1])),
            let derived = KeyWrapping.bytes(hex: lines[2]), derived.count == SealingKey.size
        else { return nil }
        (self.cost, self.salt, self.derived) = (cost, salt, derived)
    }

    var encoded: [UInt8] {
        let label = KeyWrapping.passphrase(cost, salt: salt).label
        return Array("\(Self.head)\n\(label)\n\(SealedBytes.hex(derived))\n".utf8)
    }

    func matches(_ passphrase: Secret) throws(StoreError) -> Bool {
        let given = try cost.key(from: passphrase, salt: salt).secret.revealBytes()
        guard given.count == derived.count else { return false }
        // The comparison takes the same time for each wrong passphrase.
        return zip(given, derived).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
