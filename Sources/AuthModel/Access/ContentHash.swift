internal import Crypto

/// SHA-256 of a file, in parts.
package struct ContentHash {
    private var hasher = SHA256()

    package init() {}

    package mutating func update(_ bytes: some Sequence<UInt8>) { hasher.update(data: Array(bytes)) }

    /// In hexadecimal digits.
    package func text() -> String {
        hasher.finalize().map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }
}
