import AuthCore
import Crypto

/// The cryptography of OAuth, by swift-crypto and jwt-kit.
package struct SystemCryptography: Cryptography {
    package init() {}

    package func sha256(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }
}
