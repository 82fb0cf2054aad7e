package import AuthCore
import NIOPosix

/// A file of its own, sealed as the store's are, by a passphrase (scrypt) instead of a key.
package struct PassphraseParcels: ParcelSealing {
    /// Bound to what is sealed: a session's file is no parcel, and the other way round.
    private static let name = "export"

    private let cost: PassphraseCost

    package init(cost: PassphraseCost = .usual) {
        self.cost = cost
    }

    package func close(_ content: Secret, with passphrase: Secret) async throws(SealRefusal) -> [UInt8] {
        guard passphrase.count >= SealRefusal.shortestPassphrase else { throw .tooShort }
        let cost = cost
        return try await Self.work { () throws(SealRefusal) in
            let wrapping = KeyWrapping.newPassphrase(cost)
            do throws(StoreError) {
                let key = try SealedShelf.outer(wrapping, passphrase)
                return try SealedBytes.seal(content, name: Self.name, label: wrapping.label, generation: 0, key: key)
            } catch {
                throw .store(error)
            }
        }
    }

    package func open(_ parcel: [UInt8], with passphrase: Secret) async throws(SealRefusal) -> Secret {
        try await Self.work { () throws(SealRefusal) in
            do throws(SealedBytes.Refusal) {
                let header = try SealedBytes.header(of: parcel)
                guard let wrapping = KeyWrapping(label: header.label), wrapping != .given else {
                    throw .damaged("no passphrase has sealed it")
                }
                let key = try Self.key(wrapping, passphrase)
                guard key.id == header.keyID else { throw .otherKey("") }
                return try SealedBytes.open(parcel, name: Self.name, keys: [key]).content
            } catch {
                switch error {
                case .otherKey: throw .wrongPassphrase
                case .damaged(let reason): throw .damaged(reason)
                }
            }
        }
    }

    private static func key(_ wrapping: KeyWrapping, _ passphrase: Secret) throws(SealedBytes.Refusal) -> SealingKey {
        do throws(StoreError) {
            return try SealedShelf.outer(wrapping, passphrase)
        } catch {
            throw .damaged("\(error)")
        }
    }

    /// Some tenths of a second of a thread that nobody else needs.
    private static func work<Value: Sendable>(
        _ body: @escaping @Sendable () throws(SealRefusal) -> Value
    ) async throws(SealRefusal) -> Value {
        let result: Result<Value, SealRefusal>
        do {
            result = try await NIOThreadPool.singleton.runIfActive { Result { () throws(SealRefusal) in try body() } }
        } catch {
            throw .store(.failed(reason: "\(error)"))
        }
        return try result.get()
    }
}
