import AuthWire
internal import Crypto

/// What `{name:filter}` makes of a value.
package enum TemplateFilter: String, Sendable, CaseIterable {
    /// RFC 4648 §4, of its UTF-8.
    case base64
    /// Percent-encoded, except unreserved characters (RFC 3986 §2.3).
    case url
    case lower
    /// SHA-256 (FIPS 180-4) in lower-case hexadecimal digits.
    case sha256hex

    func apply(_ text: String) -> String {
        switch self {
        case .base64: Base64.encode(Array(text.utf8))
        case .url: PercentEncoding.encode(text)
        case .lower: text.lowercased()
        case .sha256hex: Self.hexDigits(Self.sha256(text))
        }
    }

    private static func sha256(_ text: String) -> SHA256.Digest {
        var hash = SHA256()
        let bytes = Array(text.utf8)
        unsafe bytes.withUnsafeBytes { unsafe hash.update(bufferPointer: $0) }
        return hash.finalize()
    }

    private static func hexDigits(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
