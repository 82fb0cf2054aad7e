import AuthWire

/// A public key as in a file `KEY.pub` (sshd(8), AUTHORIZED_KEYS FILE FORMAT).
struct SSHPublicKey {
    /// The type and the key, without the comment.
    let line: String
    fileprivate let type: String
    /// What follows the type in the key's bytes.
    fileprivate let fields: ArraySlice<UInt8>

    /// `nil` for another text, and for a certificate.
    init?(_ text: String) {
        guard let (type, fields) = SSHFields.key(text), !type.contains(SSHCertificate.typeMark), !fields.rest.isEmpty
        else { return nil }
        self.type = type
        self.fields = fields.rest
        line = text.split(whereSeparator: \.isWhitespace).prefix(2).joined(separator: " ")
    }
}

/// A user certificate of OpenSSH (PROTOCOL.certkeys), as far as a client has to check it: sshd verifies the signature.
struct SSHCertificate {
    enum Mistake: Error {
        case noCertificate
        case forHosts
        case forOtherKey
    }

    fileprivate static let typeMark = "-cert-v01@openssh.com"
    /// SSH2_CERT_TYPE_USER
    private static let userType: UInt64 = 1
    /// How far the authority's clock may be ahead, in seconds: the default of Kerberos (krb5.conf(5), clockskew).
    private static let allowedSkew = 300.0

    /// The type and the certificate, without a comment.
    let line: String
    /// Unix seconds: from the first up to, but not including, the second.
    let validity: Range<UInt64>

    /// - Parameter text: the line of a file `KEY-cert.pub`.
    init(_ text: String, for key: SSHPublicKey) throws(Mistake) {
        guard let (type, found) = SSHFields.key(text), type.hasSuffix(Self.typeMark) else { throw .noCertificate }
        var fields = found
        // The nonce.
        guard fields.string() != nil else { throw .noCertificate }
        let base = String(type.dropLast(Self.typeMark.count))
        // sk-ssh-ed25519@openssh.com has sk-ssh-ed25519-cert-v01@openssh.com.
        guard key.type == base || key.type == base + "@openssh.com", fields.rest.starts(with: key.fields) else {
            throw .forOtherKey
        }
        fields.rest = fields.rest.dropFirst(key.fields.count)
        // The serial number and the type; the key ID and the principals; the validity; the critical options, the extensions, a
        // reserved field, the authority's key and its signature.
        guard fields.integer(8) != nil, let kind = fields.integer(4), fields.string() != nil, fields.string() != nil,
            let start = fields.integer(8), let end = fields.integer(8), start < end,
            (0..<5).allSatisfy({ _ in fields.string() != nil }), fields.rest.isEmpty
        else { throw .noCertificate }
        guard kind == Self.userType else { throw .forHosts }
        line = text.split(whereSeparator: \.isWhitespace).prefix(2).joined(separator: " ")
        validity = start..<end
    }

    /// Whether the certificate is valid at that time and for a while after it. It may begin a little later, because clocks
    /// differ.
    /// - Parameter now: Unix seconds.
    func isValid(at now: Double, for rest: Duration = .zero) -> Bool {
        let last = now + Double(rest.components.seconds)
        return Double(validity.lowerBound) <= now + Self.allowedSkew && last < Double(validity.upperBound)
    }

    /// Unix seconds; `nil` if it has no end.
    var end: Int64? { Int64(exactly: validity.upperBound) }
}

/// The fields of a key (RFC 4251 §5).
private struct SSHFields {
    var rest: ArraySlice<UInt8>

    /// The type of a key or certificate, and the fields after it.
    static func key(_ text: String) -> (String, SSHFields)? {
        let words = text.split(maxSplits: 2, whereSeparator: \.isWhitespace)
        guard words.count >= 2, let bytes = Base64.decode(String(words[1])) else { return nil }
        var fields = SSHFields(rest: bytes[...])
        guard let type = fields.string(), type.elementsEqual(words[0].utf8) else { return nil }
        return (String(words[0]), fields)
    }

    mutating func integer(_ count: Int) -> UInt64? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }

    mutating func string() -> ArraySlice<UInt8>? {
        guard let length = integer(4).map({ Int($0) }), rest.count >= length else { return nil }
        defer { rest = rest.dropFirst(length) }
        return rest.prefix(length)
    }
}
