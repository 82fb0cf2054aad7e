import AuthModel
import Synchronization

/// What a request is about, for the audit log, if that is known only after its params were read.
final class LateDescription: Sendable {
    private let inside = Mutex<AuditedRequest?>(nil)

    /// `nil`: it is not known yet.
    var request: AuditedRequest? { inside.withLock { $0 } }

    func set(_ request: AuditedRequest) { inside.withLock { $0 = request } }
}
