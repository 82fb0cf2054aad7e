/// A store whose key comes from outside: it opens by that key alone, or when a client brings a passphrase.
package protocol SealedStore: Sendable {
    /// Opens it, where it is closed; that it is open is success.
    func unlock(with passphrase: Secret?) async throws(SealRefusal)

    /// Seals all that is in it with a new key. After an error nothing is lost, and what is left is done later.
    func rekey(_ change: KeyChange) async throws(SealRefusal)
}

/// Where the key of a sealed store comes from.
package enum SealingSource: Sendable {
    /// - Parameters:
    ///   - name: for people, such as a file's path.
    ///   - read: reads it, at each opening.
    case given(name: String, read: @Sendable () throws(StoreError) -> Secret)
    case passphrase
}

package enum KeyChange: Sendable {
    /// The key or passphrase from outside stays.
    case sameOutside
    case passphrase(Secret)
    /// What the new key is made of.
    case given(Secret)
}

package enum SealRefusal: Error, Sendable, Equatable {
    /// In bytes. Each guess costs tenths of a second, and somebody with the disk has all the time.
    package static let shortestPassphrase = 8

    /// - Parameter isNew: nothing is sealed yet; it is theirs to choose.
    case needsPassphrase(isNew: Bool)
    case wrongPassphrase
    case tooShort
    /// It is nothing that was sealed like that, or not whole.
    case damaged(String)
    /// Another key is being derived from a passphrase.
    case busy
    case store(StoreError)
}

/// Seals what leaves the machine by a passphrase.
package protocol BundleSealing: Sendable {
    func close(_ content: Secret, with passphrase: Secret) async throws(SealRefusal) -> [UInt8]
    func open(_ bundle: [UInt8], with passphrase: Secret) async throws(SealRefusal) -> Secret
}
