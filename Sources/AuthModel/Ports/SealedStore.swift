/// A store with an external key: it opens with that key, or when a client sends a passphrase.
package protocol SealedStore: Sendable {
    /// Opens the store; succeeds if it is open.
    func unlock(with passphrase: Secret?) async throws(SealRefusal)

    /// Throws what ``rekey(_:current:)`` would throw without comparing a passphrase: nothing is opened or changed.
    func checkRekey(_ change: KeyChange, hasCurrent: Bool) async throws(SealRefusal)

    /// Seals all content with a new key. After an error nothing is lost, and the rest is done later.
    /// - Parameter current: the present passphrase. A store that has one requires it before something else opens it, and
    ///   changes nothing if it is wrong.
    func rekey(_ change: KeyChange, current: Secret?) async throws(SealRefusal)
}

/// Where the key of a sealed store comes from.
package enum SealingSource: Sendable {
    /// - Parameters:
    ///   - name: a description for users, such as a file's path.
    ///   - read: reads the key, at each opening.
    case given(name: String, read: @Sendable () throws(StoreError) -> Secret)
    case passphrase

    /// Whether a user opens the store after each start.
    package var needsUser: Bool { if case .passphrase = self { true } else { false } }
}

package enum KeyChange: Sendable {
    /// The external key or passphrase stays.
    case sameOutside
    case passphrase(Secret)
    /// The source of the new key.
    case given(Secret)
}

package enum SealRefusal: Error, Sendable, Equatable {
    /// - Parameter isNew: nothing is sealed yet; the user chooses the passphrase.
    case needsPassphrase(isNew: Bool)
    case wrongPassphrase
    case tooShort
    /// It was not sealed like this, or is incomplete.
    case damaged(String)
    /// Another key is being derived from a passphrase.
    case busy
    case store(StoreError)
    /// The change of what opens the store is done. Sealing everything again has failed.
    case changed(StoreError)
    /// The change has begun and was not reported within the limit: it may be done later.
    case mayChange(StoreError)
}

/// Seals bundles that leave the machine with a passphrase.
package protocol BundleSealing: Sendable {
    func close(_ content: Secret, with passphrase: Secret) async throws(SealRefusal) -> [UInt8]
    func open(_ bundle: [UInt8], with passphrase: Secret) async throws(SealRefusal) -> Secret
}
