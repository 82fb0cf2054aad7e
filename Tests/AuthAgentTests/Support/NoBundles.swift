import AuthModel
import AuthWire

/// Nothing is sealed here.
struct NoBundles: BundleSealing {
    func close(_ content: Secret, with passphrase: Secret) async throws(SealRefusal) -> [UInt8] { throw .tooShort }
    func open(_ bundle: [UInt8], with passphrase: Secret) async throws(SealRefusal) -> Secret { throw .tooShort }
}
