/// What OAuth needs of cryptography; random bytes are the system's own.
package protocol Cryptography: Sendable {
    func sha256(_ bytes: [UInt8]) -> [UInt8]
}
