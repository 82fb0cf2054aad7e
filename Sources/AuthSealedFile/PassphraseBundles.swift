import AuthConcurrency
package import AuthModel
import AuthWire
import Synchronization

/// An export bundle: a separate file, sealed like the store's files, but with a passphrase (scrypt).
///
/// The header of a bundle is untrusted, and it determines how much memory the passphrase needs. That is limited, and keys are
/// derived one at a time.
package struct PassphraseBundles: BundleSealing {
    /// Bound to the content: a session's file is not a bundle, and vice versa.
    private static let name = "export"

    private let cost: PassphraseCost
    private let turn: DerivationPermit

    /// - Parameter turn: shared by all who derive keys in this process.
    package init(cost: PassphraseCost = .usual, turn: DerivationPermit = DerivationPermit()) {
        self.cost = cost
        self.turn = turn
    }

    package func close(_ content: Secret, with passphrase: Secret) async throws(SealRefusal) -> [UInt8] {
        // Checked for every caller: no bundle leaves this machine with a shorter one.
        guard passphrase.reveal().count >= SessionExport.shortestPassphrase else { throw .tooShort }
        let cost = cost
        return try await work { () throws(SealRefusal) in
            let wrapping = KeyWrapping.newPassphrase(cost)
            do throws(StoreError) {
                let key = try SealedDirectory.outer(wrapping, passphrase)
                return try SealedBytes.seal(content, name: Self.name, label: wrapping.label, generation: 0, key: key)
            } catch {
                throw .store(error)
            }
        }
    }

    package func open(_ bundle: [UInt8], with passphrase: Secret) async throws(SealRefusal) -> Secret {
        try await work { () throws(SealRefusal) in
            do throws(SealedBytes.Refusal) {
                let header = try SealedBytes.header(of: bundle)
                guard let wrapping = KeyWrapping(label: header.label), case .passphrase(let cost, _) = wrapping else {
                    throw .damaged("it is not sealed with a passphrase")
                }
                guard cost.logarithm <= PassphraseCost.maxForBundles.logarithm else {
                    throw .damaged(
                        "checking its passphrase takes \(cost.mebibytes) MiB, and at most "
                            + "\(PassphraseCost.maxForBundles.mebibytes) MiB is allowed")
                }
                let key = try Self.key(wrapping, passphrase)
                guard key.id == header.keyID else { throw .otherKey("") }
                return try SealedBytes.open(bundle, name: Self.name, keys: [key]).content
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
            return try SealedDirectory.outer(wrapping, passphrase)
        } catch {
            throw .damaged("\(error)")
        }
    }

    /// Takes some tenths of a second, on a separate thread.
    private func work<Value: Sendable>(
        _ body: @escaping @Sendable () throws(SealRefusal) -> Value
    ) async throws(SealRefusal) -> Value {
        guard turn.tryAcquire() else { throw .busy }
        defer { turn.release() }
        return try await BlockingThread().complete { Result { () throws(SealRefusal) in try body() } }.get()
    }
}

/// One derivation at a time: each takes up to 256 MiB. Further callers are refused.
package final class DerivationPermit: Sendable {
    private let isTaken = Mutex(false)

    package init() {}

    /// - Returns: whether the caller has it, and must release it.
    package func tryAcquire() -> Bool {
        isTaken.withLock { isTaken in
            defer { isTaken = true }
            return !isTaken
        }
    }

    package func release() { isTaken.withLock { $0 = false } }
}
