package import AuthModel
import AuthWire
import GLibRuntime

/// The agent's own keys, one item each.
extension SecretServiceStore: KeyStore {
    package func key(for purpose: KeyPurpose) async throws(StoreError) -> Secret? {
        let values = try await attempt { store, keyring, deadline throws(StoreError) in
            try await store.values(KeyItem.attributes(purpose), keyring, deadline)
        }
        guard let value = values.min(by: { $0.key < $1.key })?.value else { return nil }
        guard let bytes = Base64.decode(value.reveal()) else {
            throw .failed(reason: "the keyring's item '\(KeyItem.label(purpose))' is not a key")
        }
        return Secret(bytes: bytes)
    }

    package func save(_ key: Secret, for purpose: KeyPurpose) async throws(StoreError) {
        let value = Secret(Base64.encode(key.revealBytes()))
        try await inTurn { store, keyring, deadline throws(StoreError) in
            let collection = try await store.openCollection(deadline)
            let call = keyring.creating(
                in: collection, label: KeyItem.label(purpose), attributes: KeyItem.attributes(purpose), value: value)
            let path = try await store.write(call, deadline, lockedPath: collection) { _ in }
            if let path { try await store.prove(keyring, path, holds: value, deadline) }
        }
    }
}

/// The item of a key. Its value is base64, because keyrings show values as text.
private enum KeyItem {
    /// Distinguishes keys from sessions.
    static let schema = "authd.Key"

    static func attributes(_ purpose: KeyPurpose) -> [String: String] {
        ["application": "authd", "xdg:schema": schema, "key": purpose.name]
    }

    static func label(_ purpose: KeyPurpose) -> String { "authd: key of the \(purpose.name)" }
}
